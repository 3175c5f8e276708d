import { netToPay } from '../../domain/net-to-pay.ts';
import { useLanguage } from '../interface/language.tsx';
import { isAdjusted, type ShownTotals, Sums, sumsOf, withheldSum } from '../invoice/sums.tsx';
import { formatMoney } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';
import { type Left, readTotals, type TypedInvoice } from './drawn-up.ts';
import { percentOf } from './typed-line.ts';

/** Returns the totals of the form's input, as the service computes them. */
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

interface FormTotalsProps {
  readonly totals: ShownTotals;
  readonly typed: TypedInvoice;
}

/** Shows the amount of a form, and the steps from the lines to it, if there are any. */
export function FormTotals({ totals, typed: { details } }: FormTotalsProps) {
  const { texts, language } = useLanguage();
  const { total, taxTotals, depositsTotal } = totals;
  const percent = percentOf(details?.withheldPercent ?? '');
  const withholding = percent >= 1 && percent <= 100 ? { percent, certificate: null } : null;
  const tax = taxTotals.reduce((sum, each) => sum + each.tax, 0);
  const due = netToPay({ amount: total, withholding, totals: { tax } });
  const isLess = depositsTotal !== 0 || withholding !== null;
  const sums = [
    ...sumsOf(totals, texts, language),
    ...(withholding ? [[texts.total, total] as const, withheldSum(percent, total - due, language)] : []),
  ];
  return (
    <div class="form-totals">
      {(isAdjusted(totals) || withholding !== null) && <Sums sums={sums} />}
      <p class="total">
        {isLess ? texts.payable : texts.total} <strong>{formatMoney(due, language)}</strong>
      </p>
    </div>
  );
}
