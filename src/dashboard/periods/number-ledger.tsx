import type { VariablesOf } from 'gql.tada';
import { useLocation } from 'preact-iso';
import { kindOfId } from '../../domain/invoice/kinds.ts';
import { useLanguage } from '../interface/language.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { type Column, DataTable } from '../tables/data-table.tsx';
import { listAddress, pageArguments } from '../tables/list-address.ts';
import { pageSizeOf } from '../tables/page-sizes.ts';
import { formatDay } from '../text/dates.ts';
import { formatAmount } from '../text/local-number.ts';
import { signedAmount } from '../text/money.ts';
import { NUMBER_TEXTS } from '../text/numbers.ts';
import { TABLE_TEXTS } from '../text/tables.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { NUMBERS, type NumberEntry, SERIES, type SeriesOfPeriod } from './documents.ts';

/** Shows every number of the service's series in a period, with its result. @param period `2026-11` */
export function NumberLedger({ period }: { readonly period: string }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { query } = useLocation();
  const texts = NUMBER_TEXTS[language];
  const size = pageSizeOf(query);
  const { data, problem, reload } = useRead(NUMBERS, {
    period,
    ...pageArguments(query, size),
  } as VariablesOf<typeof NUMBERS>);
  const series = useRead(SERIES, { period });
  const found = data?.periodNumbers ?? null;
  // New numbers are on the last page, and the results of other numbers change on any page.
  useLive(
    (id) => found?.pageInfo.hasNextPage === false || found?.nodes.some(({ document }) => document?.id === id) === true,
    () => {
      reload();
      series.reload();
    },
  );
  return (
    <section class="card ledger" aria-busy={!found && !problem}>
      <h2>{texts.title}</h2>
      {series.data?.periodSeries.map((each) => each.first !== null && <Range of={each} key={each.series} />)}
      <DataTable
        name="numbers"
        list={{
          page: found,
          problem,
          reload,
          size,
          to: (place) => listAddress(`${address}/periods/${period}`, place),
          isByDate: false,
        }}
        columns={useColumns()}
        hrefOf={({ document }) => document && `${address}/invoices/${document.id}`}
        empty={texts.none}
        failed={texts.failed}
      />
      <p class="under">{texts.own}</p>
    </section>
  );
}

/** States the first and the last number of a series, and the numbers that were recorded as passed over. */
function Range({ of: { first, last, count, lost } }: { readonly of: SeriesOfPeriod }) {
  const { language } = useLanguage();
  const { range, numbers, noGap, gaps, moreGaps } = NUMBER_TEXTS[language];
  const isolated = (text: string | null) => `\u2068${text}\u2069`;
  const separator = language === 'ar' ? '، ' : ', ';
  const without = lost.map(({ number, through }) =>
    number === through ? isolated(number) : range(isolated(number), isolated(through)),
  );
  const parts = [
    range(isolated(first), isolated(last)),
    ...(count === null ? [] : [numbers(count)]),
    without.length === 0 ? noGap : `${gaps} ${without.join(separator)}`,
    ...(count === null ? [moreGaps] : []),
  ];
  return <p data-series={first?.replace(/-\d+$/, '')}>{parts.join(separator)}</p>;
}

function useColumns(): readonly Column<NumberEntry>[] {
  const { texts, language } = useLanguage();
  const own = NUMBER_TEXTS[language];
  const { number, customer } = texts.invoices.columns;
  return [
    {
      id: 'number',
      name: number,
      cell: ({ id, number }) => <bdi>{id === number ? number : `${number} – ${serialOf(id)}`}</bdi>,
    },
    {
      id: 'fate',
      name: own.fate,
      cell: (entry) => (
        <span class="fate">
          <Fate entry={entry} />
          <Explanation entry={entry} />
        </span>
      ),
    },
    { id: 'customer', name: customer, kind: 'wide', cell: ({ document }) => <bdi>{document?.customerName}</bdi> },
    {
      id: 'date',
      name: TABLE_TEXTS[language].at,
      cell: ({ document }) =>
        document && <time dateTime={document.issueDate}>{formatDay(document.issueDate, language)}</time>,
    },
    {
      id: 'amount',
      name: TABLE_TEXTS[language].total,
      kind: 'sum',
      cell: ({ document }) =>
        document && (
          <bdi>
            {formatAmount(signedAmount(document.amount, kindOfId(document.id) ?? 'invoice'), language)}{' '}
            {document.currency}
          </bdi>
        ),
    },
  ];
}

/** Returns the last part of a number, for a number that follows another one of its series. */
const serialOf = (number: string) => number.slice(number.lastIndexOf('-') + 1);

function Fate({ entry: { fate, document } }: { readonly entry: NumberEntry }) {
  const { language } = useLanguage();
  const { texts } = useDocumentTexts(document?.id ?? '');
  const { without, assigning } = NUMBER_TEXTS[language];
  if (document) {
    return (
      <span class="badge" data-status={document.status}>
        {texts.stepNames[document.status]}
      </span>
    );
  }
  return (
    <span class={fate === 'assigning' ? 'badge' : 'badge attention'}>{fate === 'assigning' ? assigning : without}</span>
  );
}

/** Says by which documents it was replaced or credited, which it credits, or why no document has the number. */
function Explanation({ entry: { fate, document, replacedBy, creditedBy, creditNotes } }: { entry: NumberEntry }) {
  const { language } = useLanguage();
  const texts = NUMBER_TEXTS[language];
  if (!document) return <>{fate === 'lost' ? texts.lost : fate === 'missing' && texts.missing}</>;
  return (
    <>
      {creditedBy.length > 0 && (
        <Correcting says={fate === 'credited' ? texts.credited : texts.partlyCredited} documents={creditedBy}>
          {creditNotes > creditedBy.length && texts.others(creditNotes - creditedBy.length)}
        </Correcting>
      )}
      {replacedBy && <Correcting says={texts.replaced} documents={[replacedBy]} />}
      {document.originalNumber !== null && (
        <Correcting says={texts.credits} documents={[{ id: document.originalId, number: document.originalNumber }]} />
      )}
    </>
  );
}

interface CorrectingProps {
  readonly says: string;
  readonly documents: readonly { readonly id: string | null; readonly number: string | null }[];
  readonly children?: string | false;
}

function Correcting({ says, documents, children }: CorrectingProps) {
  const { address } = useWorkspace();
  const { texts } = useLanguage();
  return (
    <span>
      {says}{' '}
      {documents.map(({ id, number }, nth) => (
        <span key={id ?? number}>
          {nth > 0 && ' · '}
          {id === null ? (
            <bdi>{number}</bdi>
          ) : (
            <a class="in-row" href={`${address}/invoices/${id}`}>
              <bdi>{number ?? texts.numberToCome}</bdi>
            </a>
          )}
        </span>
      ))}{' '}
      {children}
    </span>
  );
}
