import type { ComponentChild } from 'preact';
import { useLanguage } from '../interface/language.tsx';
import { formatAmount } from '../text/local-number.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';
import type { Figures } from './period-figures.ts';

/** An amount in dirhams, isolated from the direction of the text around it. */
export function Sum({ of }: { readonly of: bigint }) {
  const { language } = useLanguage();
  return <bdi>{formatAmount(of, language)}</bdi>;
}

interface BalanceProps {
  readonly title: string;
  readonly now: Figures;
  readonly before: Figures;
  /** The name of the period before. */
  readonly earlier: string;
}

/** Shows net, VAT and total of a period beside those of the period before. */
export function Balance({ title, now, before, earlier }: BalanceProps) {
  const { language } = useLanguage();
  const texts = PERIOD_TEXTS[language];
  const parts = [
    [texts.netOfAll, 'net'],
    [texts.taxOfAll, 'tax'],
    [texts.totalOfAll, 'total'],
  ] as const;
  return (
    <section class="counts amounts" aria-label={title}>
      <h2>{title}</h2>
      <dl>
        {parts.map(([name, part]) => (
          <div key={part}>
            <dt>{name}</dt>
            <dd>
              <Sum of={now[part]} />
            </dd>
            <dd class="under">
              {earlier} <Sum of={before[part]} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface SumTableProps {
  readonly heads: readonly string[];
  /** The head of the amounts of the period before, for which phones have no room. */
  readonly earlier: string;
  readonly rows: readonly {
    readonly id: string;
    readonly name: ComponentChild;
    readonly cells: readonly ComponentChild[];
  }[];
}

/** A table of amounts. It scrolls in itself where it is wider than the screen. */
export function SumTable({ heads, earlier, rows }: SumTableProps) {
  const classOf = (head: string | undefined) => (head === earlier ? 'earlier' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scrolling" tabIndex={0} aria-label={heads[0]}>
      <table class="rows sums-of-period">
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head} class={classOf(head)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, cells }) => (
            <tr key={id} data-row={id}>
              <th scope="row">{name}</th>
              {cells.map((cell, i) => (
                <td class={classOf(heads[i + 1])} key={i}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
