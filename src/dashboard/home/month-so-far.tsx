import type { ComponentChild } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { addDays } from '../../domain/calendar-date.ts';
import { moved, nameOf, placeOf } from '../../domain/invoice/periods/period-name.ts';
import { keyOfKept } from '../interface/kept.ts';
import { useLanguage } from '../interface/language.tsx';
import { useEvery } from '../interface/use-every.ts';
import { formatPeriod } from '../periods/format-period.ts';
import { amountsOf } from '../periods/period-figures.ts';
import { Balance, Sum, SumTable } from '../periods/sum-table.tsx';
import { AMOUNT_TEXTS } from '../text/amounts.ts';
import { formatShortMoment } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { moroccanDate } from '../text/moroccan-time.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { AMOUNTS, type Amounts } from './documents.ts';
import { COMPARED, type Compared, changesSince, comparedOf, lastLook } from './last-look.ts';

/** Time after which a visible page reads the sums again, milliseconds. They follow the documents by some seconds. */
const AGAIN_MS = 5000;

/**
 * Shows net, VAT and total of this month by the state of the documents, beside the same days of the last month, and
 * what changed.
 */
export function MonthSoFar() {
  const { data, reload } = useRead(AMOUNTS, daysAround(moroccanDate(new Date())));
  useEvery(AGAIN_MS, reload);
  return data && <Figures amounts={data} />;
}

/** The days that are summed. @param today in Morocco */
function daysAround(today: string) {
  const from = `${today.slice(0, 7)}-01`;
  const lastThrough = addDays(from, -1);
  const same = `${lastThrough.slice(0, 7)}${today.slice(7)}`;
  return {
    from,
    today,
    lastThrough,
    lastFrom: `${lastThrough.slice(0, 7)}-01`,
    lastSame: same < lastThrough ? same : lastThrough,
    yesterday: addDays(today, -1),
  };
}

function Figures({ amounts }: { readonly amounts: Amounts }) {
  const { texts, language } = useLanguage();
  const { address, personId, tenant, environment } = useWorkspace();
  const { accepted, rows, documents, count, total } = PERIOD_TEXTS[language];
  const { daysOf, rejected } = AMOUNT_TEXTS[language];
  const today = moroccanDate(new Date());
  const { from, lastFrom, lastSame } = daysAround(today);
  const monthOf = (day: string) => formatPeriod(placeOf(day.slice(0, 7))!, language);
  const [now, before] = [amountsOf(amounts.month), amountsOf(amounts.same)];
  const [here, then] = [comparedOf(amounts.month), comparedOf(amounts.same)];
  const key = keyOfKept('look', personId, `${tenant.tenantId} ${environment}`);
  const { changes, since } = useChanges(amounts, key, today);
  const earlier = daysOf(monthOf(lastFrom), Number(lastSame.slice(8)));
  const listed = (name: string, filter: Readonly<Record<string, string>>) => (
    <a href={`${address}/invoices?${new URLSearchParams({ ...filter, from, until: today })}`}>{name}</a>
  );
  const names: Readonly<Record<keyof Compared, ComponentChild>> = {
    invoiced: listed(rows.invoiced, { kind: 'invoice', status: 'accepted' }),
    credited: listed(rows.credited, { kind: 'credit_note', status: 'accepted' }),
    open: rows.open,
    rejected: listed(rejected, { status: 'rejected' }),
  };
  return (
    <>
      <Balance
        title={`${daysOf(monthOf(from), Number(today.slice(8)))} · ${accepted}`}
        now={now.balance}
        before={before.balance}
        earlier={earlier}
      />
      <section class="month-so-far" aria-label={texts.home.title}>
        <SumTable
          heads={[documents, count, total, earlier, since]}
          earlier={earlier}
          rows={COMPARED.map((name) => ({
            id: name,
            name: names[name],
            cells: [
              formatNumber(here[name].count, language),
              <Sum of={here[name].total} key="now" />,
              <Sum of={then[name].total} key="before" />,
              <Change of={changes[name]} key="change" />,
            ],
          }))}
        />
        <a class="month-link" href={`${address}/periods/${from.slice(0, 7)}`}>
          {PERIOD_TEXTS[language].title}
        </a>
      </section>
    </>
  );
}

/** Shows what was added, or that nothing was. */
function Change({ of: { count, total } }: { readonly of: Compared[keyof Compared] }) {
  const { language } = useLanguage();
  if (count === 0) return <span aria-hidden="true">–</span>;
  return (
    <>
      <bdi>
        {count > 0 && '+'}
        {formatNumber(count, language)}
      </bdi>{' '}
      <span class="under">
        <Sum of={total} />
      </span>
    </>
  );
}

/** Compares with the figures at the end of the last look; on the first look, with the day before yesterday. */
function useChanges({ month, last, recent }: Amounts, key: string, today: string) {
  const { language } = useLanguage();
  const { since, sinceYesterday } = AMOUNT_TEXTS[language];
  const look = useMemo(() => lastLook(key, new Date()), [key]);
  const thisMonth = today.slice(0, 7);
  const months = { [nameOf(moved(placeOf(thisMonth)!, -1))]: comparedOf(last), [thisMonth]: comparedOf(month) };
  useEffect(() => look.see(months, new Date()));
  const seen = look.seenBefore(Object.keys(months));
  if (!seen) return { changes: comparedOf(recent), since: sinceYesterday };
  return { changes: changesSince(months, seen.months), since: since(formatShortMoment(seen.at, language)) };
}
