import type { ComponentChild } from 'preact';
import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import {
  LENGTHS,
  type Length,
  moved,
  nameOf,
  type PeriodPlace,
  placeOf,
} from '../../domain/invoice/periods/period-name.ts';
import { useLanguage } from '../interface/language.tsx';
import { useEvery } from '../interface/use-every.ts';
import { useTitle } from '../interface/use-title.ts';
import { formatNumber, formatPercent } from '../text/money.ts';
import { moroccanDate } from '../text/moroccan-time.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';
import { Missing } from '../workspace/missing.tsx';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { PERIOD, type PeriodReport } from './documents.ts';
import { formatPeriod } from './format-period.ts';
import { NumberLedger } from './number-ledger.tsx';
import { type Figures, figuresOf, type RateFigures } from './period-figures.ts';
import { PeriodFiles } from './period-files.tsx';
import { Balance, Sum, SumTable } from './sum-table.tsx';

/** Time after which a visible page reads the sums again, milliseconds. */
const AGAIN_MS = 5000;

/** `…/periods/2026-11`: the sums of a month, a quarter or a year beside those of the period before. */
export function PeriodPage() {
  const { name = '' } = useRoute().params;
  const today = useMemo(() => moroccanDate(new Date()), []);
  const place = placeOf(name || today.slice(0, 7));
  return place ? <Period place={place} key={nameOf(place)} /> : <Missing />;
}

function Period({ place }: { readonly place: PeriodPlace }) {
  const { language } = useLanguage();
  const { data, problem, reload } = useRead(PERIOD, { period: nameOf(place) });
  const { failed } = PERIOD_TEXTS[language];
  const title = formatPeriod(place, language);
  useTitle(title);
  // The sums follow the documents by some seconds, so their events come too early.
  useEvery(AGAIN_MS, reload);
  return (
    <section class="home" aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <Places place={place} />
      {problem && (
        <p class="refusal" role="alert">
          {failed}
        </p>
      )}
      {data && <Report report={data.period} place={place} />}
      <PeriodFiles period={nameOf(place)} />
      <NumberLedger period={nameOf(place)} />
    </section>
  );
}

/** Leads to the periods beside this one, and to those of another length around it. */
function Places({ place }: { readonly place: PeriodPlace }) {
  const { language } = useLanguage();
  const { address } = useWorkspace();
  const { label, lengths } = PERIOD_TEXTS[language];
  const hrefOf = (other: PeriodPlace) => `${address}/periods/${nameOf(other)}`;
  const beside = (steps: number) => (
    <a href={hrefOf(moved(place, steps))} rel={steps < 0 ? 'prev' : 'next'}>
      {formatPeriod(moved(place, steps), language)}
    </a>
  );
  return (
    <div class="filters">
      <nav aria-label={label}>
        {(Object.keys(LENGTHS) as Length[]).map((length) => (
          <a
            key={length}
            href={hrefOf({ ...place, length })}
            aria-current={length === place.length ? 'true' : undefined}
          >
            {lengths[length]}
          </a>
        ))}
      </nav>
      <nav aria-label={PERIOD_TEXTS[language].title}>
        {beside(-1)}
        {beside(1)}
      </nav>
    </div>
  );
}

function Report({ report, place }: { readonly report: PeriodReport; readonly place: PeriodPlace }) {
  const { language } = useLanguage();
  const texts = PERIOD_TEXTS[language];
  const [now, before] = [figuresOf(report.period), figuresOf(report.before)];
  const earlier = formatPeriod(moved(place, -1), language);
  return (
    <>
      <Balance title={texts.accepted} now={now.balance} before={before.balance} earlier={earlier} />
      <Rates rates={now.rates} before={before.rates} earlier={earlier} />
      <Documents now={now} before={before} report={report} earlier={earlier} />
    </>
  );
}

interface RatesProps {
  readonly rates: readonly RateFigures[];
  readonly before: readonly RateFigures[];
  /** The name of the period before. */
  readonly earlier: string;
}

function Rates({ rates, before, earlier }: RatesProps) {
  const { texts, language } = useLanguage();
  const { byRate, rate: rateName, net } = PERIOD_TEXTS[language];
  const all = [...new Set([...rates, ...before].map(({ rate }) => rate))].toSorted((a, b) => b - a);
  const at = (rows: readonly RateFigures[], rate: number) => rows.find((each) => each.rate === rate);
  return (
    all.length > 0 && (
      <section class="card">
        <h2>{byRate}</h2>
        <SumTable
          heads={[rateName, net, texts.invoices.columns.vat, earlier]}
          earlier={earlier}
          rows={all.map((rate) => {
            const now = at(rates, rate);
            const tax = at(before, rate)?.tax ?? 0n;
            return {
              id: String(rate),
              name: formatPercent(rate, language),
              cells: [now?.net ?? 0n, now?.tax ?? 0n, tax].map((sum, i) => <Sum of={sum} key={i} />),
            };
          })}
        />
      </section>
    )
  );
}

interface DocumentsProps {
  readonly now: ReturnType<typeof figuresOf>;
  readonly before: ReturnType<typeof figuresOf>;
  readonly report: PeriodReport;
  readonly earlier: string;
}

/** Shows the number of issued documents and their totals, by their state, with links to their lists. */
function Documents({ now, before, report, earlier }: DocumentsProps) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { byStatus, documents, count, net, total, rows, none } = PERIOD_TEXTS[language];
  const { from, through } = report.period;
  const listed = (kind: string, status: string, name: string) => (
    <a href={`${address}/invoices?${new URLSearchParams({ kind, status, from, until: through })}`}>{name}</a>
  );
  const row = (id: keyof typeof rows, name: ComponentChild, of: Figures, then: Figures, counted = of.count) => ({
    id,
    name,
    cells: [
      formatNumber(counted, language),
      ...[of.net, of.tax, of.total, then.total].map((sum, i) => <Sum of={sum} key={i} />),
    ],
  });
  const all = [
    row('invoiced', listed('invoice', 'accepted', rows.invoiced), now.invoiced, before.invoiced),
    row('credited', listed('credit_note', 'accepted', rows.credited), now.credited, before.credited),
    row(
      'balance',
      <strong>{rows.balance}</strong>,
      now.balance,
      before.balance,
      now.invoiced.count + now.credited.count,
    ),
    row('open', rows.open, now.open, before.open, now.openCount),
    row(
      'rejectedInvoices',
      listed('invoice', 'rejected', rows.rejectedInvoices),
      now.rejectedInvoices,
      before.rejectedInvoices,
    ),
    row(
      'rejectedCreditNotes',
      listed('credit_note', 'rejected', rows.rejectedCreditNotes),
      now.rejectedCreditNotes,
      before.rejectedCreditNotes,
    ),
  ];
  const isNone = [now, before].every(
    ({ invoiced, credited, openCount, rejectedInvoices, rejectedCreditNotes }) =>
      invoiced.count + credited.count + openCount + rejectedInvoices.count + rejectedCreditNotes.count === 0,
  );
  return (
    <section class="card">
      <h2>{byStatus}</h2>
      {isNone ? (
        <p class="empty">{none}</p>
      ) : (
        <SumTable
          heads={[documents, count, net, texts.invoices.columns.vat, total, earlier]}
          earlier={earlier}
          rows={all}
        />
      )}
    </section>
  );
}
