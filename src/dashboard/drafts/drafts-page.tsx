import { useLocation } from 'preact-iso';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { type Column, DataTable, type ListedPage } from '../tables/data-table.tsx';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf } from '../tables/page-sizes.ts';
import { formatShortMoment } from '../text/dates.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { formatMoney } from '../text/money.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DRAFTS, type ListedDraft } from './documents.ts';
import { customerOf, type DraftContent } from './draft-content.ts';

/** `…/drafts`: a page of the drafts, newest first. The address contains the page. */
export function DraftsPage() {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { query } = useLocation();
  const rows = pageSizeOf(query);
  const { data, problem, reload } = useRead(DRAFTS, pageArguments(query, rows));
  const { title, lead } = DRAFT_TEXTS[language];
  useTitle(title);
  const found = data?.drafts;
  const to = (set: Readonly<Record<string, string | null>>) => listAddress(`${address}/drafts`, set);
  return (
    <section aria-busy={!found && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      <DraftRows list={{ page: found ?? null, problem, reload, size: rows, to: to }} />
    </section>
  );
}

function DraftRows({ list }: { readonly list: ListedPage<ListedDraft> }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { nameless, ready, incomplete, none, failed } = DRAFT_TEXTS[language];
  const { columns: names } = useLanguage().texts.invoices;
  const { state, by, changed, total } = TABLE_TEXTS[language];
  const columns: readonly Column<ListedDraft>[] = [
    {
      id: 'customer',
      name: names.customer,
      kind: 'wide',
      cell: ({ content }) => <bdi>{customerOf(content as DraftContent).trim() || nameless}</bdi>,
    },
    {
      id: 'state',
      name: state,
      cell: ({ validation }) => <span class="badge">{validation.valid ? ready : incomplete}</span>,
    },
    { id: 'by', name: by, cell: ({ updatedBy }) => <bdi>{updatedBy.name}</bdi> },
    {
      id: 'changed',
      name: changed,
      cell: ({ updatedAt }) => <time dateTime={updatedAt}>{formatShortMoment(updatedAt, language)}</time>,
    },
    {
      id: 'total',
      name: total,
      kind: 'sum',
      cell: ({ validation: { totals } }) => totals && <bdi>{formatMoney(totals.total, language)}</bdi>,
    },
  ];
  return (
    <DataTable
      name="drafts"
      list={list}
      columns={columns}
      hrefOf={({ id }) => `${address}/drafts/${id}`}
      empty={none}
      failed={failed}
    />
  );
}
