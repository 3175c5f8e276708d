import { z } from 'zod';
import { emailAddress } from '../email-address.ts';
import { type Problem, problem } from '../errors.ts';
import { exactly, expected } from '../input-problems.ts';
import { CURRENCY, MAX_CENTIMES } from '../money.ts';
import { anyText, filledText, fits, isPrintable, printableText } from '../printable-text.ts';
import { SERVICE_SERIES } from './legal-invoice.ts';
import { DEFAULT_TAX_RATE, TAX_RATES, type TaxRate } from './tax-rate.ts';
import { termsInput } from './terms.ts';

/** Limits of the design's section 5. */
export const LIMITS = {
  lines: 1000,
  description: 500,
  name: 200,
  address: 500,
  metadataKeys: 50,
  metadataKey: 40,
  metadataValue: 500,
  number: 50,
} as const;

const customer = exactly(
  {
    ice: z.string({ error: expected('a string of 15 digits') }).meta({ pattern: '^[0-9]{15}$' }),
    name: filledText(LIMITS.name, 'the company name, a string'),
    address: printableText(LIMITS.address, 'a string: the full address').nullish(),
    email: emailAddress().nullish(),
  },
  'an object with ice and name',
).meta({ id: 'CustomerInput' });

const description = filledText(LIMITS.description, 'the designation, a string');
const quantity = z
  .number({ error: expected('a positive integer') })
  .refine((value) => Number.isSafeInteger(value) && value > 0, { error: expected('a positive integer') })
  .meta({ type: 'integer', minimum: 1, maximum: MAX_CENTIMES });
const CENTIMES = 'an integer of centimes, such as 12000 for 120.00 MAD';
const unitPrice = z
  .number({ error: expected(CENTIMES) })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, { error: expected(`${CENTIMES}, zero or more`) })
  .meta({ type: 'integer', minimum: 0, maximum: MAX_CENTIMES, description: 'Excluding tax, in centimes.' });
/** The rates of VAT. */
export const taxRate = z
  .literal(TAX_RATES, { error: expected(`one of ${TAX_RATES.join(', ')} (percent)`) })
  .meta({ id: 'TaxRate', type: 'integer', description: 'VAT, percent.' });
const taxRateOrUsual = taxRate
  .default(DEFAULT_TAX_RATE)
  .meta({ description: `${DEFAULT_TAX_RATE} when it is left out.` });
/** The only currency. */
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

const metadata = z
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
    description: 'Free key/value data, echoed back. Empty when it is left out.',
    maxProperties: LIMITS.metadataKeys,
    propertyNames: { minLength: 1, ...printableText(LIMITS.metadataKey, '').meta() },
    additionalProperties: { type: 'string', ...metadataValue.meta() },
  });

function invoiceOf<Line extends z.ZodType, Further extends z.ZodRawShape>(line: Line, further: Further) {
  return exactly(
    {
      amount: z
        .number({ error: expected(CENTIMES) })
        // Any integer below the least amount breaks that rule (422), be it as far below as it likes.
        .refine((value) => Number.isInteger(value) && value <= MAX_CENTIMES, {
          error: expected(`${CENTIMES}, at most ${MAX_CENTIMES}`),
        })
        .meta({
          type: 'integer',
          minimum: 100,
          maximum: MAX_CENTIMES,
          description:
            'Total including tax, in centimes. Must equal the lines with their VAT, computed once per rate and rounded half up.',
        }),
      currency,
      customer,
      lines: z
        .array(line, { error: expected('a list of at least one line') })
        .min(1, { error: 'is empty: at least one line is expected' })
        .max(LIMITS.lines, { error: `has too many lines: at most ${LIMITS.lines}` }),
      metadata,
      ...further,
    },
    'a JSON object with amount, currency, customer and lines',
  );
}

/** The body of POST /v1/invoices (specification, "POST /v1/invoices"): structure only, what fails here is a 400. */
export const restInvoiceBody = invoiceOf(
  exactly(
    { description, quantity, unit_price: unitPrice, tax_rate: taxRateOrUsual },
    'an object with description, quantity and unit_price',
  ).meta({ id: 'LineInput' }),
  {},
).meta({
  id: 'CreateInvoice',
  examples: [
    {
      amount: 12000,
      currency: 'MAD',
      customer: {
        ice: '001234567000062',
        name: 'Atlas Distribution SARL',
        address: '12, rue des Orangers, Casablanca',
        email: 'compta@example.com',
      },
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000, tax_rate: 20 }],
      metadata: { order: '4711' },
    },
  ],
});
export type RestInvoiceBody = z.infer<typeof restInvoiceBody>;

const ownNumber = z
  .string({ error: expected('a string: the number in your own series') })
  .refine((text) => text.length <= LIMITS.number, { error: `is too long: at most ${LIMITS.number} characters` })
  .refine((text) => /^[A-Za-z0-9]([A-Za-z0-9 ./_-]*[A-Za-z0-9])?$/.test(text), {
    error: expected("letters A to Z and a to z, digits, and between them spaces and . / _ -, such as 'FA/2026/0123'"),
  })
  .refine((text) => !SERVICE_SERIES.test(text), {
    error:
      "must not have the form of this service's own series (2026-000123): leave it out to get the next one of that",
  })
  .nullish();

/** The same in GraphQL's names, the number of the client's own series and the terms: what the use case takes. */
export const createInvoiceInput = invoiceOf(
  exactly(
    { description, quantity, unitPrice, taxRate: taxRateOrUsual },
    'an object with description, quantity and unitPrice',
  ),
  { number: ownNumber, terms: termsInput.nullish() },
);
export type CreateInvoiceInput = z.infer<typeof createInvoiceInput>;

/** The input of the use case for a valid REST body. */
export function inputOfRestBody(body: RestInvoiceBody): CreateInvoiceInput {
  const lines = body.lines.map(({ description, quantity, unit_price, tax_rate }) => ({
    description,
    quantity,
    unitPrice: unit_price,
    taxRate: tax_rate as TaxRate,
  }));
  return { ...body, lines };
}

/** What is wrong with an Idempotency-Key, bare or in the quotes of the IETF draft, which count for nothing here; null when it can be used. */
export function idempotencyKeyProblem(key: string): Problem | null {
  const text = /^"(.*)"$/s.exec(key)?.[1] ?? key;
  if (text.length >= 1 && fits(text, 255) && isPrintable(text)) return null;
  return problem('invalid_request', 'Idempotency-Key must have 1 to 255 printable characters.', 'Idempotency-Key');
}
