import { useLocation } from 'preact-iso';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { type Column, DataTable } from '../tables/data-table.tsx';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf } from '../tables/page-sizes.ts';
import { formatShortMoment } from '../text/dates.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { formatNumber } from '../text/money.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { IMPORTS, type ListedImport } from './documents.ts';
import { Templates } from './templates.tsx';
import { UploadCard } from './upload-card.tsx';

/** `…/imports`: takes a file of invoices, and lists the earlier ones, newest first. */
export function ImportsPage() {
  const { language } = useLanguage();
  const { address, tenant, environment } = useWorkspace();
  const { query } = useLocation();
  const size = pageSizeOf(query);
  const { data, problem, reload } = useRead(IMPORTS, pageArguments(query, size));
  const { title, lead, none, failed, columns: names, statuses } = IMPORT_TEXTS[language];
  useTitle(title);
  const columns: readonly Column<ListedImport>[] = [
    { id: 'file', name: names.file, kind: 'wide', cell: ({ fileName }) => <bdi>{fileName}</bdi> },
    {
      id: 'status',
      name: names.status,
      cell: ({ status }) => (
        <span class="badge" data-state={BADGES[status]}>
          {statuses[status]}
        </span>
      ),
    },
    {
      id: 'invoices',
      name: names.invoices,
      kind: 'sum',
      cell: ({ counts }) => <bdi>{formatNumber(counts.invoices, language)}</bdi>,
    },
    { id: 'by', name: names.by, cell: ({ createdBy }) => <bdi>{createdBy.name}</bdi> },
    {
      id: 'at',
      name: names.at,
      cell: ({ createdAt }) => <time dateTime={createdAt}>{formatShortMoment(createdAt, language)}</time>,
    },
  ];
  const page = data?.imports ?? null;
  const to = (set: Readonly<Record<string, string | null>>) => listAddress(`${address}/imports`, set);
  return (
    <section class="imports" aria-busy={!page && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {hasScope(tenant.role, 'draft', environment) && <UploadCard />}
      <Templates />
      <DataTable
        name="imports"
        list={{ page, problem, reload, size, to }}
        columns={columns}
        hrefOf={({ id }) => `${address}/imports/${id}`}
        empty={none}
        failed={failed}
      />
    </section>
  );
}

/** The looks of badges of statuses. */
const BADGES: Readonly<Partial<Record<ListedImport['status'], string>>> = { unreadable: 'failed', done: 'delivered' };
