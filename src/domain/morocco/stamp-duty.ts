import type { Kind } from '../invoice/kinds.ts';
import type { LegalTerms } from '../invoice/terms.ts';
import { type Centimes, percentOf } from '../money.ts';
import { netToPay, type Payable } from '../net-to-pay.ts';
import { figuresOn, type PeriodRow, READ } from './rule.ts';

/** The stamp duty on payments in cash, in percent, by day. */
export const STAMP_DUTY: readonly PeriodRow<{ readonly percent: number }>[] = [
  {
    from: null,
    figures: { percent: 0.25 },
    source: 'maghress.com/fr/aujourdhui/177756; bilan-compta t85; ecriture-comptable 2024-11',
    readOn: READ,
  },
];

export interface StampDuty {
  readonly percent: number;
  /** Rounded half up. */
  readonly amount: Centimes;
}

/** The parts of an invoice that determine its stamp duty. */
interface Dutiable extends Payable {
  readonly kind: Kind;
  /** The terms that the documents state. */
  readonly terms: Pick<LegalTerms, 'paymentMeans'>;
}

/**
 * Returns the stamp duty of an invoice whose payment means is cash, if the whole net to pay is received in cash; null
 * for any other document. No amount of the invoice contains it (docs/decisions/0089).
 * @param date of the invoice, `YYYY-MM-DD`
 */
export function stampDutyOn(date: string, document: Dutiable, periods = STAMP_DUTY): StampDuty | null {
  const figures = figuresOn(periods, date);
  if (figures === null || document.kind !== 'invoice' || document.terms.paymentMeans !== 'cash') return null;
  return { percent: figures.percent, amount: percentOf(netToPay(document), figures.percent) };
}
