import { useLanguage } from '../interface/language.tsx';
import { isAdjusted, type ShownTotals, Sums, sumsOf } from '../invoice/sums.tsx';
import { formatMoney } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';
import { type Left, readTotals } from './drawn-up.ts';

/** Returns the totals of what the form sends, as the service computes them. */
export function shownTotals(input: InvoiceInput, left: Left): ShownTotals {
  const totals = readTotals(input, left);
  return {
    linesTotal: totals?.linesNet ?? 0,
    discountTotal: totals?.discount?.net ?? 0,
    chargeTotal: totals?.charge?.net ?? 0,
    depositsTotal: totals?.deposits ?? 0,
    subtotal: totals?.net ?? 0,
    taxTotals: totals?.rates ?? [],
    total: totals?.gross ?? 0,
  };
}

/** Shows the total of a form, and what leads to it if that is more than lines. */
export function FormTotals({ totals }: { readonly totals: ShownTotals }) {
  const { texts, language } = useLanguage();
  return (
    <div class="form-totals">
      {isAdjusted(totals) && <Sums sums={sumsOf(totals, texts, language)} />}
      <p class="total">
        {totals.depositsTotal === 0 ? texts.total : texts.payable}{' '}
        <strong>{formatMoney(totals.total, language)}</strong>
      </p>
    </div>
  );
}
