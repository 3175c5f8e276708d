import type { Centimes } from '../../money.ts';
import { moroccanDate } from '../../morocco/time.ts';
import { withheldOf } from '../../net-to-pay.ts';
import type { Customer, Invoice } from '../invoice.ts';
import type { Kind } from '../kinds.ts';
import type { RateTotal } from '../tax-rate.ts';
import { termsOf } from '../terms.ts';
import { totalsOfInvoice } from '../totals.ts';
import { plus, type Sums, sumsOfOne } from './day-sums.ts';

/**
 * The data of an accepted document that a seller's declaration of VAT needs. The amounts of credit notes are negative,
 * so that amounts can be summed.
 */
export interface DeclaredDocument {
  readonly kind: Kind;
  readonly isDeposit: boolean;
  readonly number: string;
  /** The date of issue in Morocco, `YYYY-MM-DD`. */
  readonly date: string;
  readonly customer: Pick<Customer, 'kind' | 'name' | 'ice' | 'country' | 'taxNumber'>;
  /** One entry for each rate that occurs. */
  readonly rates: readonly RateTotal[];
  /** Excluding tax. */
  readonly net: Centimes;
  readonly tax: Centimes;
  /** The sum of `net` and `tax`. */
  readonly gross: Centimes;
  /** The stated total: `gross` with its rounding (docs/decisions/0012). */
  readonly amount: Centimes;
  /** The part of the VAT that the buyer withholds. */
  readonly withheld: Centimes;
  readonly paymentMode: string;
  readonly dgiId: string | null;
}

/** Returns the data of an accepted document for a declaration. */
export function declaredOf(invoice: Invoice): DeclaredDocument {
  const { id, kind, customer, amount, withholding, dgiId, number, isDeposit, createdAt } = invoice;
  const totals = totalsOfInvoice(invoice);
  // Never -0, which a file would show with its sign.
  const signed = (centimes: Centimes) => (kind === 'credit_note' && centimes !== 0 ? -centimes : centimes);
  return {
    kind,
    isDeposit: isDeposit ?? false,
    number: number ?? id,
    date: moroccanDate(createdAt),
    customer,
    rates: totals.rates.map(({ rate, base, tax }) => ({ rate, base: signed(base), tax: signed(tax) })),
    net: signed(totals.net),
    tax: signed(totals.tax),
    gross: signed(totals.gross),
    amount: signed(amount),
    withheld: signed(withheldOf({ totals, withholding })),
    paymentMode: termsOf(invoice).paymentMode,
    dgiId,
  };
}

/** Adds documents to sums. */
export function plusDeclared(sums: Sums, documents: readonly DeclaredDocument[]): Sums {
  return documents.reduce((sum, each) => plus(sum, sumsOfOne(each)), sums);
}
