import { useLocation } from 'preact-iso';
import { KIND_NAMES } from '../../domain/invoice/kinds.ts';
import { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { useTitle } from '../interface/use-title.ts';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { formatDate } from '../text/dates.ts';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { formatAmount, signedAmount } from '../text/money.ts';
import { PageLinks } from '../workspace/page-links.tsx';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { DOCUMENTS, type ListedDocument } from './documents.ts';
import { ExportButton } from './export-button.tsx';
import { type Filter, filterOf, isFiltered, NO_MATCH, searchOf, variablesOf } from './invoice-filter.ts';
import { SearchForm } from './search-form.tsx';

/** `…/invoices`: a page of the invoices and credit notes, newest first. The address contains the filter and the page. */
export function InvoicesPage() {
  const { texts, language } = useLanguage();
  const { address, environment, tenant } = useWorkspace();
  const { query, route } = useLocation();
  const filter = filterOf(query);
  const { data, problem, reload } = useRead(DOCUMENTS, variablesOf(filter));
  const { title, none, noneYet, failed } = texts.invoices;
  const found = data?.fiscalDocuments;
  const isFirst = filter.after === null && filter.before === null;
  useTitle(title);
  // New documents appear on the first page only; on other pages, existing rows can change.
  useLive((invoiceId) => isFirst || found?.nodes.some(({ id }) => id === invoiceId) === true, reload);
  const to = (change: Partial<Filter>) => `${address}/invoices${searchOf({ ...filter, ...change })}`;
  return (
    <section class="invoices" aria-busy={!found && !problem}>
      <div class="head">
        <h1>{title}</h1>
        {hasScope(tenant.role, 'issue', environment) && (
          <a class="primary" href={`${address}/invoices/new`}>
            {(environment === 'test' ? texts.creation : texts.creation.live).title}
          </a>
        )}
        {hasScope(tenant.role, 'draft', environment) && <a href={`${address}/drafts`}>{DRAFT_TEXTS[language].title}</a>}
      </div>
      <SearchForm filter={filter} to={to} />
      <Filters filter={filter} to={to} onDay={(change) => route(to({ ...change, after: null, before: null }))} />
      {problem && (
        <p class="refusal" role="alert">
          {failed}
        </p>
      )}
      {found && found.nodes.length === 0 && <p class="empty">{isFiltered(filter) || !isFirst ? none : noneYet}</p>}
      {found && found.nodes.length > 0 && <Rows rows={found.nodes} />}
      {found && <PageLinks pageInfo={found.pageInfo} to={to} />}
      {found && found.nodes.length > 0 && <ExportButton filter={filter} key={searchOf(filter)} />}
    </section>
  );
}

interface FiltersProps {
  readonly filter: Filter;
  readonly to: (change: Partial<Filter>) => string;
  readonly onDay: (change: Partial<Filter>) => void;
}

function Filters({ filter, to, onDay }: FiltersProps) {
  const { texts } = useLanguage();
  const { all, from, until, filters, kind: kindName, kinds } = texts.invoices;
  const isMatched = filter.customer !== null || filter.ice !== null || filter.amount !== null;
  const day = (name: 'from' | 'until', label: string) => (
    <label>
      {label}
      <input
        type="date"
        name={name}
        value={filter[name] ?? ''}
        onChange={({ currentTarget: { value } }) => onDay({ [name]: value || null })}
      />
    </label>
  );
  return (
    <div class="filters">
      <nav aria-label={filters}>
        {[null, ...INVOICE_STATUSES].map((status) => (
          <a
            key={status}
            href={to({ ...NO_MATCH, status, after: null, before: null })}
            aria-current={status === filter.status && !isMatched ? 'true' : undefined}
          >
            {status === null ? all : texts.statusFilters[status]}
          </a>
        ))}
      </nav>
      <nav aria-label={kindName}>
        {[null, ...KIND_NAMES].map((kind) => (
          <a
            key={kind}
            href={to({ kind, after: null, before: null })}
            aria-current={kind === filter.kind ? 'true' : undefined}
          >
            {kinds[kind ?? 'all']}
          </a>
        ))}
      </nav>
      {day('from', from)}
      {day('until', until)}
    </div>
  );
}

function Rows({ rows }: { rows: readonly ListedDocument[] }) {
  const { texts } = useLanguage();
  const { columns } = texts.invoices;
  return (
    <table class="rows stacked">
      <thead>
        <tr>
          {[columns.number, columns.customer, columns.status, columns.date, texts.payable].map((name) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row row={row} key={row.id} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row }: { row: ListedDocument }) {
  const { address } = useWorkspace();
  const { id, number, customer, status, createdAt, amount, currency, attention } = row;
  const { language, kind, texts } = useDocumentTexts(id);
  return (
    <tr>
      <th scope="row">
        <a href={`${address}/invoices/${id}`}>
          <bdi>{number ?? texts.numberToCome}</bdi>
        </a>
        {kind === 'credit_note' && <span class="badge kind">{texts.invoice}</span>}
      </th>
      <td class="customer">
        <bdi>{customer.name}</bdi>
      </td>
      <td>
        <span class="badge" data-status={status}>
          {texts.statuses[status].step}
        </span>
        {attention && <span class="badge attention">{texts.invoices.attention}</span>}
      </td>
      <td>
        <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
      </td>
      <td class="sum">
        <bdi>
          {formatAmount(signedAmount(amount, kind), language)} {currency}
        </bdi>
      </td>
    </tr>
  );
}
