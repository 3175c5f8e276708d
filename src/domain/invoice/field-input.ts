import { z } from 'zod';
import { isCalendarDate } from '../calendar-date.ts';
import { expected } from '../input-problems.ts';
import { MIN_AMOUNT } from '../limits.ts';
import { CURRENCY, MAX_CENTIMES } from '../money.ts';
import { anyText, fits, isPrintable, printableText } from '../printable-text.ts';
import { TAX_RATES } from './tax-rate.ts';

// Rules of single fields that take more than a line; `fields.ts` says which field has which.

/** Limits of a request (docs/decisions/0013). */
export const LIMITS = {
  lines: 1000,
  description: 500,
  name: 200,
  address: 500,
  metadataKeys: 50,
  metadataKey: 40,
  metadataValue: 500,
  number: 50,
  paymentMode: 100,
  paymentReference: 50,
} as const;

const CENTIMES = 'an integer of centimes, such as 12000 for 120.00 MAD';

/** Any integer below the least amount is taken here: it breaks a business rule (422). */
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
    error: `is too long a key: at most ${LIMITS.metadataKey} characters`,
  })
  .refine(isPrintable, { error: 'is a key with a control character or half a character' });

/** Part of no document. */
const metadataValue = anyText(LIMITS.metadataValue, 'a string');

export const metadata = z
  // A record would lose this name silently.
  .custom((value) => !Object.hasOwn(Object(value), '__proto__'), {
    error: 'can not hold a key named __proto__',
    path: ['__proto__'],
  })
  // Before each key and value is looked at: there may be a hundred thousand.
  .refine((value) => Object.keys(Object(value)).length <= LIMITS.metadataKeys, {
    error: `has too many keys: at most ${LIMITS.metadataKeys}`,
  })
  .pipe(
    z.record(metadataKey, metadataValue, {
      error: expected('an object of string values'),
    }),
  )
  .default({})
  .meta({
    type: 'object',
    maxProperties: LIMITS.metadataKeys,
    propertyNames: { minLength: 1, ...printableText(LIMITS.metadataKey, '').meta() },
    additionalProperties: { type: 'string', ...metadataValue.meta() },
  });

/** The form of this service's own numbers: the year and the serial. Nobody else may use it, so that the two series never meet. */
export const SERVICE_SERIES = /^(\d{4})-(\d{6,})$/;

/** A number of the client's own series. */
export const ownNumber = z
  .string({ error: expected('a string: the number in your own series') })
  .refine((text) => text.length <= LIMITS.number, { error: `is too long: at most ${LIMITS.number} characters` })
  .refine((text) => /^[A-Za-z0-9]([A-Za-z0-9 ./_-]*[A-Za-z0-9])?$/.test(text), {
    error: expected("letters A to Z and a to z, digits, and between them spaces and . / _ -, such as 'FA/2026/0123'"),
  })
  .refine((text) => !SERVICE_SERIES.test(text), {
    error:
      "must not have the form of this service's own series (2026-000123): leave it out to get the next one of that",
  });

const DATE = "a calendar date, such as '2026-01-31'";
export const date = z.string({ error: expected(DATE) }).refine(isCalendarDate, { error: expected(DATE) });
