import { formatNumber } from '../text/money.ts';
import { useLanguage } from './language.tsx';

const [BAR, GAP, HEIGHT] = [20, 6, 120];

interface StackedBarsProps {
  readonly caption: string;
  /** The heading of the table column that names the bars, for screen readers. */
  readonly column: string;
  /** The parts of each bar, from the bottom; `kind` gives a part its colour. */
  readonly kinds: readonly { readonly kind: 'accepted' | 'rejected' | 'open'; readonly name: string }[];
  /** Each bar has a value for each kind. */
  readonly bars: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** Shows values over time as bars. Screen readers get the same as a table. */
export function StackedBars({ caption, column, kinds, bars }: StackedBarsProps) {
  const { language } = useLanguage();
  const most = Math.max(1, ...bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0)));
  const width = bars.length * (BAR + GAP) - GAP;
  return (
    <figure class="chart">
      <p class="most" aria-hidden="true">
        {formatNumber(most, language)}
      </p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ name, values }, index) => {
          let top = HEIGHT - 1;
          return kinds.map(({ kind }, nth) => {
            const height = ((HEIGHT - 1) * (values[nth] ?? 0)) / most;
            top -= height;
            return (
              <rect data-kind={kind} key={kind} x={index * (BAR + GAP)} y={top} width={BAR} height={height}>
                <title>{`${name} : ${values[nth] ?? 0}`}</title>
              </rect>
            );
          });
        })}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{bars[0]?.name}</span>
        <span>{bars.at(-1)?.name}</span>
      </p>
      <figcaption aria-hidden="true">
        {kinds.map(({ kind, name }) => (
          <span data-kind={kind} key={kind}>
            {name}
          </span>
        ))}
      </figcaption>
      {/* The box hides the table, which itself would keep its height. */}
      <div class="unseen">
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{column}</th>
              {kinds.map(({ kind, name }) => (
                <th scope="col" key={kind}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ name, values }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {kinds.map(({ kind }, nth) => (
                  <td key={kind}>{formatNumber(values[nth] ?? 0, language)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
