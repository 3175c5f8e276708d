import { useLocation } from 'preact-iso';
import { KIND_NAMES } from '../../domain/invoice/kinds.ts';
import { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { pageSizeOf } from '../tables/page-sizes.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { PALETTE_TEXTS } from '../text/palette.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DocumentRows } from './document-rows.tsx';
import { DOCUMENTS } from './documents.ts';
import { ExportButton } from './export-button.tsx';
import { type Filter, filterOf, isFiltered, searchOf, variablesOf } from './invoice-filter.ts';
import { ListTotals } from './list-totals.tsx';
import { SearchForm } from './search-form.tsx';

/**
 * `…/invoices`: a page of the invoices and credit notes, newest first. The address contains the filter and the page.
 */
export function InvoicesPage() {
  const { texts, language } = useLanguage();
  const { address, environment, tenant } = useWorkspace();
  const { query, route } = useLocation();
  const filter = filterOf(query);
  const { data, problem, reload } = useRead(DOCUMENTS, variablesOf(filter));
  const { title, none, noneYet } = texts.invoices;
  const found = data?.fiscalDocuments;
  const isFirst = filter.after === null && filter.before === null;
  useTitle(title);
  // New documents appear on the first page only; on other pages, existing rows can change.
  useLive((invoiceId) => isFirst || found?.nodes.some(({ id }) => id === invoiceId) === true, reload);
  const to = (change: Partial<Filter>) => `${address}/invoices${searchOf({ ...filter, ...change })}`;
  const sorted = {
    by: filter.sort ?? 'newest',
    to: (sort: string) =>
      `${address}/invoices${searchOf({ ...filterOf({ ...query, sort }), after: null, before: null })}`,
  };
  return (
    <section class="invoices" aria-busy={!found && !problem}>
      <div class="head">
        <h1>{title}</h1>
        {hasScope(tenant.role, 'issue', environment) && (
          <a class="primary" href={`${address}/invoices/new`}>
            {(environment === 'test' ? texts.creation : texts.creation.live).title}
          </a>
        )}
        {hasScope(tenant.role, 'draft', environment) && (
          <>
            <a href={`${address}/drafts`}>{DRAFT_TEXTS[language].title}</a>
            <a href={`${address}/imports`}>{IMPORT_TEXTS[language].link}</a>
          </>
        )}
      </div>
      <SearchForm search={filter.search} to={to} key={filter.search} />
      <Filters filter={filter} to={to} onChange={(change) => route(to({ ...change, after: null, before: null }))} />
      <DocumentRows
        list={{ page: found ?? null, problem, reload, size: pageSizeOf(query), to, sorted }}
        filter={filter}
        empty={
          found?.pageInfo.hasNextPage ? PALETTE_TEXTS[language].goesOn : isFiltered(filter) || !isFirst ? none : noneYet
        }
      >
        <ListTotals filter={filter} />
        <ExportButton filter={filter} key={searchOf(filter)} />
      </DocumentRows>
    </section>
  );
}

interface FiltersProps {
  readonly filter: Filter;
  readonly to: (change: Partial<Filter>) => string;
  readonly onChange: (change: Partial<Filter>) => void;
}

function Filters({ filter, to, onChange }: FiltersProps) {
  const { texts } = useLanguage();
  const { all, from, until, filters, kind: kindName, kinds } = texts.invoices;
  const day = (name: 'from' | 'until', label: string) => (
    <label>
      {label}
      <input
        type="date"
        name={name}
        value={filter[name] ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ [name]: value || null })}
      />
    </label>
  );
  return (
    <div class="filters">
      <nav aria-label={filters}>
        {[null, ...INVOICE_STATUSES].map((status) => (
          <a
            key={status}
            href={to({ status, after: null, before: null })}
            aria-current={status === filter.status ? 'true' : undefined}
          >
            {status === null ? all : texts.statusFilters[status]}
          </a>
        ))}
      </nav>
      <select
        aria-label={kindName}
        name="kind"
        value={filter.kind ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange({ kind: KIND_NAMES.find((each) => each === value) ?? null })
        }
      >
        <option value="">{kinds.all}</option>
        {KIND_NAMES.map((kind) => (
          <option key={kind} value={kind}>
            {kinds[kind]}
          </option>
        ))}
      </select>
      {day('from', from)}
      {day('until', until)}
    </div>
  );
}
