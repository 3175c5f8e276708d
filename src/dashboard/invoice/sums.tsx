import type { ComponentChild } from 'preact';
import { ADJUSTMENT_LABELS } from '../../text/adjustment-labels.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { useLanguage } from '../interface/language.tsx';
import { DEPOSIT_TEXTS } from '../text/deposits.ts';
import type { Texts } from '../text/fr.ts';
import type { Language } from '../text/languages.ts';
import { formatAmount } from '../text/local-number.ts';
import { formatPercent } from '../text/money.ts';

/** The totals of an invoice, by the names of the API. */
export interface ShownTotals {
  readonly linesTotal: number;
  readonly discountTotal: number;
  readonly chargeTotal: number;
  readonly depositsTotal: number;
  readonly subtotal: number;
  readonly taxTotals: readonly { readonly rate: number; readonly tax: number }[];
  readonly total: number;
}

/** A discount or a charge of the whole invoice. */
interface Adjustment {
  readonly percent: number | null;
  readonly reason: string | null;
}

interface Adjustments {
  readonly discount?: Adjustment | null;
  readonly charge?: Adjustment | null;
}

/** A line of the totals. */
export type Sum = readonly [label: ComponentChild, centimes: number];

/** Whether there are sums between the lines and the total. */
export function isAdjusted({ discountTotal, chargeTotal, depositsTotal }: ShownTotals): boolean {
  return discountTotal !== 0 || chargeTotal !== 0 || depositsTotal !== 0;
}

/** Returns the sums between the lines and the VAT, in the order in which they add up. */
export function sumsOf(
  totals: ShownTotals,
  texts: Pick<Texts, 'subtotal' | 'vat'>,
  language: Language,
  { discount, charge }: Adjustments = {},
): Sum[] {
  const labels = ADJUSTMENT_LABELS[language];
  const { linesTotal, discountTotal, chargeTotal, depositsTotal, subtotal, taxTotals } = totals;
  const sums: Sum[] = [];
  if (isAdjusted(totals)) sums.push([labels.lines, linesTotal]);
  if (discountTotal !== 0) sums.push([<Label name={labels.discount} of={discount} key="discount" />, -discountTotal]);
  if (chargeTotal !== 0) sums.push([<Label name={labels.charge} of={charge} key="charge" />, chargeTotal]);
  if (depositsTotal !== 0) sums.push([DEPOSIT_TEXTS[language].deductedNet, -depositsTotal]);
  sums.push([texts.subtotal, subtotal], ...taxTotals.map(({ rate, tax }): Sum => [texts.vat(rate), tax]));
  return sums;
}

/** Returns the VAT that the buyer withholds, as a sum. */
export function withheldSum(percent: number, centimes: number, language: Language): Sum {
  return [`${WITHHOLDING_LABELS[language].withheld} (${percent}\u00a0%)`, -centimes];
}

/** Names a discount or a charge, with its percentage and its reason. */
function Label({ name, of }: { readonly name: string; readonly of: Adjustment | null | undefined }) {
  const { language } = useLanguage();
  return (
    <>
      {name}
      {of?.percent != null && (
        <>
          {' '}
          <bdi>{formatPercent(of.percent, language)}</bdi>
        </>
      )}
      {of?.reason && (
        <>
          {' '}
          <bdi>({of.reason})</bdi>
        </>
      )}
    </>
  );
}

/** Lists sums. */
export function Sums({ sums }: { readonly sums: readonly Sum[] }) {
  const { language } = useLanguage();
  return (
    <dl class="sums">
      {sums.map(([label, centimes], i) => (
        <div key={i}>
          <dt>{label}</dt>
          <dd>
            <bdi>{formatAmount(centimes, language)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
