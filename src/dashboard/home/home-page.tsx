import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDay } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { Conditions } from './conditions.tsx';
import { DayChart } from './day-chart.tsx';
import { DAYS, type Day, HOME } from './documents.ts';
import { FirstSteps } from './first-steps.tsx';
import { MonthSoFar } from './month-so-far.tsx';

const MONTH = 30;

/**
 * `…/home`: today, the amounts of the month and what changed, the last 30 days, what needs attention, the first steps.
 */
export function HomePage() {
  const { texts, language } = useLanguage();
  const { title } = texts.home;
  const month = useRead(DAYS, { days: MONTH });
  const today = useRead(DAYS, { days: 1 });
  const home = useRead(HOME, {});
  useTitle(title);
  useLive(
    () => true,
    () => {
      today.reload();
      home.reload();
    },
  );
  const days = withToday(month.data?.invoiceDays ?? [], today.data?.invoiceDays[0]);
  const [first] = days;
  const reads = [month, today, home];
  const retry = () => {
    for (const { problem, reload } of reads) if (problem) reload();
  };
  return (
    <section class="home" aria-busy={!month.data && !month.problem}>
      <h1 class="title">{title}</h1>
      <Refusal why={reads.some(({ problem }) => problem) ? 'unreachable' : null} onRetry={retry} />
      {first && <Counts name={formatDay(first.date, language)} days={[first]} />}
      <MonthSoFar />
      {days.length > 1 && <DayChart days={days} />}
      {home.data && <Conditions conditions={home.data.conditions} />}
      {home.data && <FirstSteps home={home.data} />}
    </section>
  );
}

/** Replaces the count of today in the days of the month. After midnight the new day is put first. */
function withToday(days: readonly Day[], today: Day | undefined): readonly Day[] {
  if (!today) return days;
  return [today, ...days.filter(({ date }) => date !== today.date)].slice(0, Math.max(MONTH, 1));
}

/** Shows the numbers of invoices of some days, by outcome. Each number links to the list that it counts. */
function Counts({ name, days }: { name: string; days: readonly Day[] }) {
  const { texts, language } = useLanguage();
  const { address } = useWorkspace();
  const { created, open } = texts.home;
  const sum = (of: (day: Day) => number) => days.reduce((all, day) => all + of(day), 0);
  const openOf = (day: Day) => day.pending + day.signing + day.transmitted;
  const range = new URLSearchParams({ from: days.at(-1)?.date ?? '', until: days[0]?.date ?? '' });
  const counts = [
    { label: created, n: sum((day) => openOf(day) + day.accepted + day.rejected), status: null },
    { label: texts.statusFilters.accepted, n: sum((day) => day.accepted), status: 'accepted' },
    { label: texts.statusFilters.rejected, n: sum((day) => day.rejected), status: 'rejected' },
    { label: open, n: sum(openOf), status: 'open' },
  ];
  return (
    <section class="counts" aria-label={name}>
      <h2>{name}</h2>
      <dl>
        {counts.map(({ label, n, status }) => (
          <div key={label} data-status={n > 0 ? status : null}>
            <dt>{label}</dt>
            <dd>
              {status === 'open' ? (
                formatNumber(n, language)
              ) : (
                <a href={`${address}/invoices?${status ? `status=${status}&` : ''}${range}`}>
                  {formatNumber(n, language)}
                </a>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
