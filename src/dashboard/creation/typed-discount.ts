import { PERCENT_PLACES } from '../../domain/decimal.ts';
import { centimesOf, decimalOf, plainAmount } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';
import { recordOf, textOf, UNREADABLE, withComma } from './typed-values.ts';

// Discounts and charges, as typed: of a line, and of the whole invoice.

/** A discount or a charge of the whole invoice, as typed. */
export interface TypedAdjustment {
  /** `10 %`, or an amount in dirhams; empty: none. */
  readonly figure: string;
  readonly reason: string;
  /** Whether it includes tax. */
  readonly taxIncluded: boolean;
}

export const NO_ADJUSTMENT: TypedAdjustment = { figure: '', reason: '', taxIncluded: false };

/** The sign of a percentage at the end of a text. */
export const PERCENT = /[%٪]\s*$/;

/** A discount or a charge of the API. */
interface Discount {
  readonly amount?: number | null;
  readonly percent?: number | null;
  readonly reason?: string | null;
}

/** Converts a discount to that of the API. @returns null if nothing is typed */
export function discountOf(figure: string, reason: string | null | undefined): Discount | null {
  if (figure.trim() === '') return null;
  const stated = reason ? { reason } : {};
  if (PERCENT.test(figure))
    return { percent: decimalOf(figure.replace(PERCENT, ''), PERCENT_PLACES) ?? UNREADABLE, ...stated };
  return { amount: centimesOf(figure) ?? UNREADABLE, ...stated };
}

/** Converts a discount or a charge of the whole invoice to that of the API. @returns null if nothing is typed */
export function adjustmentOf({ figure, reason, taxIncluded }: TypedAdjustment = NO_ADJUSTMENT): Adjustment | null {
  const discount = discountOf(figure, reason.trim());
  return discount && { ...discount, ...(taxIncluded && { taxIncluded }) };
}

type Adjustment = NonNullable<InvoiceInput['discount']>;

/** Whether a figure of a discount or a charge could not be read. */
export function isUnreadable(discount: Discount | null | undefined): boolean {
  return discount?.amount === UNREADABLE || discount?.percent === UNREADABLE;
}

/** Returns a discount, which may be anything, as it is typed: `10 %`, `5,50`. */
export function typedDiscountOf(discount: unknown): string {
  const { amount, percent } = recordOf(discount);
  if (typeof percent === 'number') return `${withComma(percent)} %`;
  return Number.isSafeInteger(amount) ? plainAmount(amount as number) : textOf(amount) || textOf(discount);
}

/** Returns a discount or a charge of the whole invoice, which may be anything, as the form shows it. */
export function typedAdjustmentOf(adjustment: unknown): TypedAdjustment {
  const { reason, taxIncluded } = recordOf(adjustment);
  return { figure: typedDiscountOf(adjustment), reason: textOf(reason), taxIncluded: taxIncluded === true };
}
