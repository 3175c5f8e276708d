import { decimalsOf, foreignAmountText } from '../currencies.ts';
import { exactly, RATE_PLACES, rateText } from '../decimal.ts';
import { type Problem, problem } from '../errors.ts';
import { type Centimes, decimalOf, divideHalfUp } from '../money.ts';
import { dateProblems } from './date-problems.ts';
import { DATE_YEARS } from './field-input.ts';
import { keeper } from './field-makers.ts';
import type { Stored, ValidParts } from './field-table.ts';
import { type FOREIGN_VALUE, INVOICE_REFERENCES, type SERVICE_PERIOD, type WITHHOLDING } from './particulars-fields.ts';

export interface InvoiceReferences extends Stored<typeof INVOICE_REFERENCES> {}

/** Calendar dates in Africa/Casablanca, `YYYY-MM-DD`. */
export interface ServicePeriod extends Stored<typeof SERVICE_PERIOD> {}

/** The amount of an invoice in another currency, in its smallest unit. */
export interface ForeignValue extends Stored<typeof FOREIGN_VALUE> {}

/** The VAT that the buyer withholds. */
export interface Withholding extends Stored<typeof WITHHOLDING> {}

/** The particulars that an invoice states beside its lines and its payment. */
export interface Particulars {
  readonly references: InvoiceReferences | null;
  readonly servicePeriod: ServicePeriod | null;
  readonly foreignValue: ForeignValue | null;
  readonly withholding: Withholding | null;
}

/** The particulars of a credit note, whose invoice states them. */
export const NO_PARTICULARS: Particulars = {
  references: null,
  servicePeriod: null,
  foreignValue: null,
  withholding: null,
};

const keepReferences = keeper(INVOICE_REFERENCES);

/** The valid parts of particulars. */
export interface ParticularParts {
  readonly references?: ValidParts<typeof INVOICE_REFERENCES> | null | undefined;
  readonly servicePeriod?: ValidParts<typeof SERVICE_PERIOD> | null | undefined;
  readonly foreignValue?: ValidParts<typeof FOREIGN_VALUE> | null | undefined;
  readonly withholding?: ValidParts<typeof WITHHOLDING> | null | undefined;
}

/** Returns the particulars of a draft that are complete. */
export function completeParticulars(parts: ParticularParts): Particulars {
  const { references, servicePeriod, foreignValue, withholding } = parts;
  return {
    references: references ? keepReferences(references) : null,
    servicePeriod: servicePeriodOf(servicePeriod),
    foreignValue: foreignValueOf(foreignValue),
    withholding: withholdingOf(withholding),
  };
}

function servicePeriodOf(parts: ParticularParts['servicePeriod']): ServicePeriod | null {
  const { from, to } = parts ?? {};
  return from === undefined || to === undefined ? null : { from, to };
}

function foreignValueOf(parts: ParticularParts['foreignValue']): ForeignValue | null {
  const { currency, amount, rate, rateDate } = parts ?? {};
  if (currency === undefined || amount === undefined || rate === undefined || rateDate === undefined) return null;
  return { currency, amount, rate, rateDate };
}

/** A part of a certificate shows that there is one, so the withholding is incomplete without the rest of it. */
function withholdingOf(parts: ParticularParts['withholding']): Withholding | null {
  const { percent, certificate } = parts ?? {};
  if (percent === undefined) return null;
  if (certificate == null) return { percent, certificate: null };
  const { number, date } = certificate;
  return number === undefined || date === undefined ? null : { percent, certificate: { number, date } };
}

/** The amount with which the foreign value is compared. */
interface Asked {
  /** The amount of the invoice; null if it is not known. */
  readonly amount: Centimes | null;
  readonly lines: number;
}

/** Checks the business rules (422) of particulars. @param issueDate the date of the invoice */
export function particularsProblems(parts: ParticularParts, asked: Asked, issueDate: string): Problem[] {
  const { from, to } = parts.servicePeriod ?? {};
  const value = foreignValueOf(parts.foreignValue);
  const ofPeriod = { before: DATE_YEARS.operationBefore, after: DATE_YEARS.periodAfter };
  const problems = [
    ...dateProblems('servicePeriod.from', from, issueDate, ofPeriod),
    ...dateProblems('servicePeriod.to', to, issueDate, ofPeriod),
  ];
  if (from !== undefined && to !== undefined && from > to) {
    const message = `servicePeriod.to is ${to}, before servicePeriod.from, which is ${from}.`;
    problems.push(problem('invalid_date', message, 'servicePeriod.to'));
  }
  const { foreignValue, withholding } = parts;
  problems.push(
    ...dateProblems('foreignValue.rateDate', foreignValue?.rateDate, issueDate, { before: DATE_YEARS.rateBefore }),
    ...dateProblems('withholding.certificate.date', withholding?.certificate?.date, issueDate, {
      before: DATE_YEARS.certificateBefore,
    }),
  );
  if (value === null || asked.amount === null || agrees(value, asked.amount, asked.lines)) return problems;
  const { currency, amount, rate } = value;
  const message = `foreignValue.amount is ${amount} (${foreignAmountText(amount, currency)} ${currency}): at ${rateText(rate)} it is ${decimalOf(valueInCentimes(value))} MAD, and amount is ${decimalOf(asked.amount)} MAD. Rounding does not explain the difference.`;
  const expected = foreignOf(asked.amount, value);
  const mismatch = problem('amount_mismatch', message, 'foreignValue.amount');
  return [...problems, expected > 0n ? { ...mismatch, expected: String(expected) } : mismatch];
}

/** Minimum number of decimals that a rate counts as having: 10.8 is 10.8000, as banks publish it. */
const STATED_PLACES = 4;

/**
 * Whether a value in another currency equals the amount in dirhams, within rounding: the value may be rounded to the
 * unit of its currency, the rate to its last decimal or the fourth, and dirhams to a centime on each line.
 */
function agrees({ currency, amount, rate }: ForeignValue, centimes: Centimes, lines: number): boolean {
  const places = rateText(rate).split('.')[1]?.length ?? 0;
  const rateOff = 10n ** BigInt(RATE_PLACES - Math.max(places, STATED_PLACES));
  // Twice the value and the rate, so that half a unit of each is whole.
  const value = 2n * BigInt(amount);
  const scaledRate = 2n * exactly(rate, RATE_PLACES);
  const centime = 4n * 10n ** BigInt(decimalsOf(currency) + RATE_PLACES - 2);
  const asked = BigInt(centimes) * centime;
  const rounding = (BigInt(lines) * centime) / 2n;
  return (
    (value - 1n) * (scaledRate - rateOff) <= asked + rounding &&
    asked - rounding <= (value + 1n) * (scaledRate + rateOff)
  );
}

/** Converts an amount in dirhams at this rate to the smallest unit of the currency, rounded half up. */
function foreignOf(centimes: Centimes, { currency, rate }: Pick<ForeignValue, 'currency' | 'rate'>): bigint {
  const scaled = BigInt(centimes) * 10n ** BigInt(decimalsOf(currency) + RATE_PLACES);
  return divideHalfUp(scaled, 100n * exactly(rate, RATE_PLACES));
}

/** Returns a value at its rate, rounded down to a centime. */
function valueInCentimes({ currency, amount, rate }: ForeignValue): Centimes {
  const product = BigInt(amount) * exactly(rate, RATE_PLACES);
  return Number(product / 10n ** BigInt(decimalsOf(currency) + RATE_PLACES - 2));
}
