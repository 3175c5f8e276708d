import { useLanguage } from '../interface/language.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { type Column, DataTable, type ListedPage } from '../tables/data-table.tsx';
import { formatShortMoment } from '../text/dates.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { Delivery, ListedDelivery } from './documents.ts';
import { eventName } from './event-names.ts';

/** Shows a page of deliveries, each with its document and its endpoint. */
export function DeliveryRows({ list, empty }: { list: ListedPage<ListedDelivery>; empty: string }) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { event, invoice, endpoint, state, answer, attempts, at, next } = TABLE_TEXTS[language];
  const moment = (instant: string | null) =>
    instant && <time dateTime={instant}>{formatShortMoment(instant, language)}</time>;
  const columns: readonly Column<ListedDelivery>[] = [
    { id: 'event', name: event, cell: (row) => <code dir="ltr">{eventName(row.eventType)}</code> },
    { id: 'document', name: invoice, cell: (row) => <DocumentName delivery={row} /> },
    { id: 'endpoint', name: endpoint, kind: 'wide', cell: (row) => <EndpointName endpoint={row.endpoint} /> },
    {
      id: 'state',
      name: state,
      cell: (row) => (
        <span class="badge" data-state={row.state}>
          {texts.invoices.deliveryStates[row.state]}
        </span>
      ),
    },
    { id: 'answer', name: answer, cell: (row) => <LastAnswer delivery={row} /> },
    { id: 'attempts', name: attempts, isExtra: true, cell: (row) => <bdi>{row.attempts.length}</bdi> },
    { id: 'next', name: next, isExtra: true, cell: (row) => moment(row.nextAttemptAt) },
    { id: 'at', name: at, kind: 'sum', cell: (row) => moment(row.createdAt) },
  ];
  return (
    <DataTable
      name="deliveries"
      list={list}
      columns={columns}
      hrefOf={({ id }) => `${address}/deliveries/${id}`}
      empty={empty}
    />
  );
}

type Named = Pick<Delivery, 'invoiceId' | 'invoice'>;

/** Shows the number of a delivery's document, or its kind if it has no number yet. */
export function DocumentName({ delivery: { invoiceId, invoice } }: { delivery: Named }) {
  const { texts } = useDocumentTexts(invoiceId);
  return <bdi>{invoice?.number ?? texts.invoice}</bdi>;
}

/** Shows the tenant's name for an endpoint, or its address without the protocol. */
export function EndpointName({ endpoint }: Pick<Delivery, 'endpoint'>) {
  const { language } = useLanguage();
  if (!endpoint) return TABLE_TEXTS[language].deleted;
  const name = endpoint.description || endpoint.url.replace(/^https?:\/\//, '');
  return <bdi title={endpoint.url}>{name}</bdi>;
}

function LastAnswer({ delivery: { attempts } }: { delivery: ListedDelivery }) {
  const last = attempts.at(-1);
  return last ? <bdi dir="ltr">{last.status ?? last.errorMessage}</bdi> : null;
}
