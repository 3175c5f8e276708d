import { z } from 'zod';
import { isCalendarDate } from '../calendar-date.ts';
import { COUNTRIES } from '../countries.ts';
import { PERCENT_PLACES, PRICE_PLACES, QUANTITY_PLACES, RATE_PLACES, scaled } from '../decimal.ts';
import { expected } from '../input-problems.ts';
import { MIN_AMOUNT } from '../limits.ts';
import { CURRENCY, MAX_CENTIMES } from '../money.ts';
import { EXEMPTION_CODES } from '../morocco/exemptions.ts';
import { anyText, fits, isPrintable, printableText } from '../printable-text.ts';
import { CUSTOMER_KIND_NAMES, DEFAULT_CUSTOMER_KIND } from './customer-kind.ts';
import { MOST_DEPOSITS } from './deduction.ts';
import { SERVICE_SERIES } from './kinds.ts';
import { TAX_RATES } from './tax-rate.ts';
import { UNIT_CODES } from './units.ts';

// Input rules of single fields that take more than one line; `fields.ts` assigns them to fields.

/** Limits of a request (docs/decisions/0013). */
export const LIMITS = {
  lines: 1000,
  description: 500,
  name: 200,
  address: 500,
  taxNumber: 50,
  metadataKeys: 50,
  metadataKey: 40,
  metadataValue: 500,
  number: 50,
  paymentMode: 100,
  paymentReference: 50,
  discountReason: 100,
  certificateNumber: 50,
  reference: 50,
  id: 80,
} as const;

/** Maximum distance of other dates from the date of the invoice, in years. */
export const DATE_YEARS = {
  operationBefore: 10,
  operationAfter: 1,
  dueAfter: 5,
  periodAfter: 5,
  rateBefore: 1,
  certificateBefore: 10,
} as const;

/**
 * Makes the rule of an optional field with a default. Null means the default, too, because a client that writes every
 * member of its objects sends null. It uses `overwrite`, because with `transform` zod leaves out the examples of the
 * whole object.
 */
export function orDefault<Rule extends z.ZodType>(rule: Rule, value: z.output<Rule>) {
  // zod's types do not know that null has been replaced.
  const filled = (rule as z.ZodType).nullable().overwrite((given) => given ?? value);
  return filled.default(value as object) as unknown as z.ZodType<z.output<Rule>, z.input<Rule> | null | undefined>;
}

const CENTIMES = 'an integer of centimes, such as 12000 for 120.00 MAD';

/** Accepts integers below the minimum amount, because they break a business rule (422), not the structure. */
export const statedAmount = z
  .number({ error: expected(CENTIMES) })
  .refine((value) => Number.isInteger(value) && value <= MAX_CENTIMES, {
    error: expected(`${CENTIMES}, at most ${MAX_CENTIMES}`),
  })
  .meta({ type: 'integer', minimum: MIN_AMOUNT, maximum: MAX_CENTIMES });

export const centimes = z
  .number({ error: expected(CENTIMES) })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, { error: expected(`${CENTIMES}, zero or more`) })
  .meta({ type: 'integer', minimum: 0, maximum: MAX_CENTIMES });

export const quantity = z
  .number({ error: expected('a positive integer') })
  .refine((value) => Number.isSafeInteger(value) && value > 0, { error: expected('a positive integer') })
  .meta({ type: 'integer', minimum: 1, maximum: MAX_CENTIMES });

/** Numbers with decimals are exact up to this one: they have at most 12 digits before the decimals. */
const MOST_WITH_DECIMALS = 999_999_999_999;
const TOO_LARGE = expected(
  `a number of at most ${Number.MAX_SAFE_INTEGER}, or below ${MOST_WITH_DECIMALS} if it has decimals`,
);

/** Makes the rule of a decimal number, which a JSON number represents exactly (`scaled`). */
function decimal(what: string, places: number, isAllowed: (value: number) => boolean) {
  const error = expected(`${what} of at most ${places} decimals`);
  return z
    .number({ error })
    .refine((value) => scaled(value, places) !== null && isAllowed(value), { error, abort: true })
    .refine((value) => Number.isSafeInteger(value) || value < MOST_WITH_DECIMALS, { error: TOO_LARGE });
}

export const decimalQuantity = decimal('a positive number', QUANTITY_PLACES, (value) => value > 0);

export const unitPrice = decimal('a number of centimes, zero or more,', PRICE_PLACES, (value) => value >= 0);

export const discountPercent = decimal(
  'a number above 0 and up to 100',
  PERCENT_PLACES,
  (value) => value > 0 && value <= 100,
);

export const discountAmount = z
  .number({ error: expected(CENTIMES) })
  .refine((value) => Number.isSafeInteger(value) && value > 0, { error: expected(`${CENTIMES}, more than zero`) });

const WHOLE_PERCENT = 'a whole number from 1 to 100';
export const wholePercent = z
  .number({ error: expected(WHOLE_PERCENT) })
  .refine((value) => Number.isInteger(value) && value >= 1 && value <= 100, { error: expected(WHOLE_PERCENT) });

const SMALLEST_UNITS = 'an integer above zero, in the smallest unit of the currency, such as 100050 for 1000.50 EUR';
export const foreignAmount = z
  .number({ error: expected(SMALLEST_UNITS) })
  .refine((value) => Number.isSafeInteger(value) && value > 0, { error: expected(SMALLEST_UNITS) });

export const exchangeRate = decimal(
  'a number above 0 and below a million',
  RATE_PLACES,
  (value) => value > 0 && value < 1_000_000,
);

export const unit = z
  .enum(UNIT_CODES, { error: expected(`one of ${UNIT_CODES.join(', ')} (UN/ECE Recommendation 20)`) })
  .meta({ id: 'Unit' });

/** The default equals an absent value, so that a repeated request may state it or not. */
export const customerKind = z
  .enum(CUSTOMER_KIND_NAMES, { error: expected(`one of ${CUSTOMER_KIND_NAMES.join(', ')}`) })
  .nullish()
  .overwrite((kind) => (kind === DEFAULT_CUSTOMER_KIND ? null : kind));

/** The rule of a flag. It is false by default, so that a repeated request may state it or not. */
export const flag = z
  .boolean({ error: expected('true or false') })
  .nullish()
  .overwrite((isSo) => (isSo === false ? null : isSo));

const COUNTRY = expected("the ISO 3166-1 code of a country other than Morocco, such as 'FR'");
const KNOWN_COUNTRIES: ReadonlySet<string> = new Set(COUNTRIES);
export const country = z.string({ error: COUNTRY }).refine((code) => KNOWN_COUNTRIES.has(code), { error: COUNTRY });

export const exemptionCode = z.enum(EXEMPTION_CODES, { error: expected(`one of ${EXEMPTION_CODES.join(', ')}`) });

export const taxRate = z
  .literal(TAX_RATES, { error: expected(`one of ${TAX_RATES.join(', ')} (percent)`) })
  .meta({ id: 'TaxRate', type: 'integer', description: 'VAT, percent.' });

export const currency = z
  .enum([CURRENCY], { error: expected(`${CURRENCY}, the only currency`) })
  .meta({ id: 'Currency', description: 'ISO 4217. Only dirhams are supported.' });

const metadataKey = z
  .string()
  .min(1, { error: 'is an empty key' })
  .refine((key) => fits(key, LIMITS.metadataKey), {
    error: `is a key that is too long: at most ${LIMITS.metadataKey} characters`,
    abort: true,
  })
  .refine(isPrintable, { error: 'is a key with a control character or an unpaired surrogate' });

/** Any text is allowed, because metadata is not part of a document. */
const metadataValue = anyText(LIMITS.metadataValue, 'a string');

/**
 * Whether a value is an object with more keys than allowed. Characters of a text and items of a list do not count as
 * keys.
 */
function hasTooManyKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length > LIMITS.metadataKeys;
}

/** Whether a value is an empty array, which PHP's `json_encode` writes for an object without members. */
function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const metadataMembers = z
  // z.record would drop this name silently.
  .custom((value) => !Object.hasOwn(Object(value), '__proto__'), {
    error: 'must not contain a key named __proto__',
    path: ['__proto__'],
  })
  .overwrite((value) => (isEmptyArray(value) ? {} : value))
  // Checked before the keys and values, because there may be a hundred thousand.
  .refine((value) => !hasTooManyKeys(value), {
    error: `has too many keys: at most ${LIMITS.metadataKeys}`,
  })
  .pipe(
    z.record(metadataKey, metadataValue, {
      error: expected('an object of string values'),
    }),
  )
  .meta({
    type: 'object',
    maxProperties: LIMITS.metadataKeys,
    propertyNames: { minLength: 1, ...printableText(LIMITS.metadataKey, '').meta() },
    additionalProperties: { type: 'string', ...metadataValue.meta() },
  });

export const metadata = orDefault(metadataMembers, {});

/** A number of the client's own series. See `spacingProblems` for its spaces. */
export const ownNumber = z
  .string({ error: expected('a string: the number in your own series') })
  .refine((text) => text.length <= LIMITS.number, {
    error: `is too long: at most ${LIMITS.number} characters`,
    abort: true,
  })
  .refine((text) => /^[A-Za-z0-9]([A-Za-z0-9 ./_-]*[A-Za-z0-9])?$/.test(text), {
    error: expected("letters A to Z and a to z, digits, and between them spaces and . / _ -, such as 'FA/2026/0123'"),
  })
  .refine((text) => !SERVICE_SERIES.test(text), {
    error:
      "must not have the format of the service's own series (2026-000123): omit it to get the next number of that series",
  });

const DATE = "a calendar date, such as '2026-01-31'";
export const date = z.string({ error: expected(DATE) }).refine(isCalendarDate, { error: expected(DATE) });

const DEPOSIT = 'the id of a deposit invoice';
/** The deposit invoices that an invoice deducts, each once. */
export const depositIds = z
  .array(
    z.string({ error: expected(DEPOSIT) }).refine((id) => id.length <= LIMITS.id, { error: expected(DEPOSIT) }),
    { error: expected('a list of the ids of deposit invoices') },
  )
  .min(1, { error: 'is empty: at least one item is expected' })
  .max(MOST_DEPOSITS, { error: `has too many items: at most ${MOST_DEPOSITS}` })
  .refine((ids) => new Set(ids).size === ids.length, { error: 'names a deposit invoice more than once' });
