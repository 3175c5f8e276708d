import { useLanguage } from '../interface/language.tsx';
import { formatDay } from '../text/dates.ts';
import { formatNumber } from '../text/money.ts';
import type { Day } from './documents.ts';

const [BAR, GAP, HEIGHT] = [20, 6, 120];

/** Each day's invoices as a bar: accepted, rejected, still open. Screen readers get the same as a table. */
export function DayChart({ days }: { days: readonly Day[] }) {
  const { texts, language } = useLanguage();
  const { perDay, day, open } = texts.home;
  const kinds = [
    { kind: 'accepted', name: texts.statuses.accepted.step, of: (each: Day) => each.accepted },
    { kind: 'rejected', name: texts.statuses.rejected.step, of: (each: Day) => each.rejected },
    { kind: 'open', name: open, of: (each: Day) => each.pending + each.signing + each.transmitted },
  ];
  const oldestFirst = [...days].reverse();
  const most = Math.max(1, ...oldestFirst.map((each) => kinds.reduce((sum, { of }) => sum + of(each), 0)));
  const width = oldestFirst.length * (BAR + GAP) - GAP;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {oldestFirst.map((each, index) => {
          let top = HEIGHT - 1;
          return kinds.map(({ kind, of }) => {
            const height = ((HEIGHT - 1) * of(each)) / most;
            top -= height;
            return (
              <rect data-kind={kind} key={kind} x={index * (BAR + GAP)} y={top} width={BAR} height={height}>
                <title>{formatDay(each.date, language)}</title>
              </rect>
            );
          });
        })}
      </svg>
      <figcaption aria-hidden="true">
        {kinds.map(({ kind, name }) => (
          <span data-kind={kind} key={kind}>
            {name}
          </span>
        ))}
      </figcaption>
      <table class="unseen">
        <caption>{perDay}</caption>
        <thead>
          <tr>
            <th scope="col">{day}</th>
            {kinds.map(({ kind, name }) => (
              <th scope="col" key={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {oldestFirst.map((each) => (
            <tr key={each.date}>
              <th scope="row">{formatDay(each.date, language)}</th>
              {kinds.map(({ kind, of }) => (
                <td key={kind}>{formatNumber(of(each), language)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
