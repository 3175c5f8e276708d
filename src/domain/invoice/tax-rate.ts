import type { Centimes } from '../money.ts';

/** The properties of a VAT rate. */
interface TaxRateRow {
  /**
   * UBL tax category (UNCL5305), with and without an exemption reason in the seller's profile. EN 16931 requires S for
   * positive rates; at 0 %, E requires a reason (BR-E-10) and Z forbids one (BR-Z-10).
   */
  readonly ublCategory: { readonly withReason: 'S' | 'E'; readonly withoutReason: 'S' | 'Z' };
  readonly description: string;
  /**
   * The days on which it is in force and who says so; always, if absent. A rate is accepted on any day, because credit
   * notes and late invoices have it; on other days it causes a warning (`src/domain/morocco/rules.ts`).
   */
  readonly inForce?: RateInForce;
}

/** Dates are those of Africa/Casablanca, `YYYY-MM-DD`. */
export interface RateInForce {
  /** The first day. */
  readonly from?: string;
  /** The last day. */
  readonly until?: string;
  readonly source: string;
  /** The day on which the source was read. */
  readonly readOn: string;
}

/** VAT has two rates since 2026, after three years in which the other rates were aligned with them. */
const ENDED: RateInForce = {
  until: '2025-12-31',
  source: 'comptable-tanger.com/blog/tva-maroc-2026; actu-maroc.com/les-mesures-fiscales-et-douanieres-du-plf-2024',
  readOn: '2026-11-29',
};

const STANDARD = { withReason: 'S', withoutReason: 'S' } as const;

/**
 * The rates of Moroccan VAT in percent. A new rate needs only a row here: inputs, documents, checks and descriptions
 * are derived from this table.
 */
export const TAX_RATE_TABLE = {
  0: { ublCategory: { withReason: 'E', withoutReason: 'Z' }, description: 'Exempt or zero-rated.' },
  7: { ublCategory: STANDARD, description: 'Reduced rate.', inForce: ENDED },
  10: { ublCategory: STANDARD, description: 'Reduced rate.' },
  14: { ublCategory: STANDARD, description: 'Reduced rate.', inForce: ENDED },
  20: { ublCategory: STANDARD, description: 'Standard rate.' },
} as const satisfies Readonly<Record<number, TaxRateRow>>;

/** VAT rate in percent. */
export type TaxRate = keyof typeof TAX_RATE_TABLE;

/** The rates, lowest first. */
export const TAX_RATES = Object.keys(TAX_RATE_TABLE).map(Number) as readonly number[] as readonly TaxRate[];

/** Returns the days on which a rate is in force; null if always. */
export function rateInForce(rate: TaxRate): RateInForce | null {
  const row: TaxRateRow = TAX_RATE_TABLE[rate];
  return row.inForce ?? null;
}

/** The rate of a line without `taxRate`. */
export const DEFAULT_TAX_RATE: TaxRate = 20;

/** A text such as `VAT in percent: 0, 7, 10, 14 or 20.` */
export const TAX_RATE_DESCRIPTION = `VAT in percent: ${TAX_RATES.slice(0, -1).join(', ')} or ${TAX_RATES.at(-1)}.`;

/** Parses the rate of a document; null if it is not a rate of the table. */
export function parseTaxRate(text: string): TaxRate | null {
  return TAX_RATES.find((rate) => String(rate) === text) ?? null;
}

/** The sums of a document at a rate. */
export interface RateTotal {
  readonly rate: TaxRate;
  /** Sum of the lines at this rate, excluding tax. */
  readonly base: Centimes;
  /** VAT on `base`, computed once and rounded half up. */
  readonly tax: Centimes;
}
