import { useLanguage } from '../interface/language.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { type Column, DataTable, type ListedPage } from '../tables/data-table.tsx';
import { formatShortMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { ApiRequest } from './documents.ts';

/** Shows a page of requests. */
export function RequestRows({ list, empty }: { list: ListedPage<ApiRequest>; empty: string }) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { request, invoice, status, duration, at } = TABLE_TEXTS[language];
  const { error, requestId, key } = texts.requests;
  const columns: readonly Column<ApiRequest>[] = [
    {
      id: 'request',
      name: request,
      kind: 'wide',
      cell: ({ method, route, operation }) => (
        <code dir="ltr">
          {method} {route} {operation}
        </code>
      ),
    },
    { id: 'document', name: invoice, cell: (row) => <DocumentLink request={row} /> },
    { id: 'status', name: status, cell: (row) => <StatusBadge request={row} /> },
    { id: 'error', name: error, cell: ({ code }) => code && <code dir="ltr">{code}</code> },
    { id: 'key', name: key, isExtra: true, cell: ({ apiKeyId }) => <code dir="ltr">{apiKeyId}</code> },
    { id: 'id', name: requestId, isExtra: true, cell: ({ id }) => <code dir="ltr">{id}</code> },
    {
      id: 'duration',
      name: duration,
      kind: 'sum',
      cell: ({ milliseconds }) => <bdi dir="ltr">{formatNumber(milliseconds, language)} ms</bdi>,
    },
    {
      id: 'at',
      name: at,
      kind: 'sum',
      cell: (row) => <time dateTime={row.at}>{formatShortMoment(row.at, language)}</time>,
    },
  ];
  return (
    <DataTable
      name="requests"
      list={list}
      columns={columns}
      hrefOf={({ id }) => `${address}/requests/${id}`}
      empty={empty}
    />
  );
}

/** Links the document of a request, by its number if it has one. */
export function DocumentLink({
  request: { documentId, invoice },
}: {
  request: Pick<ApiRequest, 'documentId' | 'invoice'>;
}) {
  const { address } = useWorkspace();
  const { texts } = useDocumentTexts(documentId ?? '');
  if (documentId === null) return null;
  return (
    <a class="in-row" href={`${address}/invoices/${documentId}`}>
      <bdi>{invoice?.number ?? texts.invoice}</bdi>
    </a>
  );
}

/** Shows the HTTP status of a request, in the colour of its outcome. */
export function StatusBadge({ request: { status, code } }: { request: Pick<ApiRequest, 'status' | 'code'> }) {
  return (
    <span class="badge" data-status={code === null ? 'accepted' : 'rejected'}>
      {status}
    </span>
  );
}
