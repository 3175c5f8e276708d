import { z } from 'zod';
import { isForeignCurrency } from '../currencies.ts';
import { RATE_PLACES } from '../decimal.ts';
import { expected } from '../input-problems.ts';
import { oneLineText } from '../printable-text.ts';
import { DATE_YEARS, date, exchangeRate, foreignAmount, LIMITS, wholePercent } from './field-input.ts';
import type { RecordType } from './field-table.ts';

// The particulars that an invoice states beside its lines and its payment, in the tables of its fields (`fields.ts`).
// Only GraphQL has them (docs/decisions/0085); the documents state them.

export const INVOICE_REFERENCES = {
  name: 'InvoiceReferences',
  inputName: 'InvoiceReferencesInput',
  restName: 'References',
  restInputName: 'ReferencesInput',
  description: 'What the invoice goes back to.',
  fields: {
    order: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.reference, 'the number of the order').nullish(),
      description: 'The number of the buyer’s order.',
      inputDescription: `The number of the buyer’s order, at most ${LIMITS.reference} characters.`,
    },
    contract: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.reference, 'the number of the contract').nullish(),
      description: 'The number of the contract.',
      inputDescription: `The number of the contract, at most ${LIMITS.reference} characters.`,
    },
  },
} as const satisfies RecordType;

export const SERVICE_PERIOD = {
  name: 'ServicePeriod',
  inputName: 'ServicePeriodInput',
  restName: 'ServicePeriod',
  restInputName: 'ServicePeriodInput',
  description: 'When the service was done. Dates are calendar dates in Morocco.',
  fields: {
    from: {
      rest: null,
      type: 'text',
      input: date,
      description: `The first day, such as \`2026-01-01\`: at most ${DATE_YEARS.operationBefore} years before the date of the invoice.`,
    },
    to: {
      rest: null,
      type: 'text',
      input: date,
      description: `The last day, such as \`2026-01-31\`: at most ${DATE_YEARS.periodAfter} years after the date of the invoice. It counts as the date of the operation, unless \`terms\` states one.`,
    },
  },
} as const satisfies RecordType;

const CURRENCY_CODE = 'the code of a currency other than MAD, such as EUR (ISO 4217)';

export const FOREIGN_VALUE = {
  name: 'ForeignValue',
  inputName: 'ForeignValueInput',
  restName: 'ForeignValue',
  restInputName: 'ForeignValueInput',
  description: 'What was agreed on in another currency. The amounts of the invoice stay in dirhams.',
  fields: {
    currency: {
      rest: null,
      type: 'text',
      input: z
        .string({ error: expected(CURRENCY_CODE) })
        .refine((code) => code.length === 3 && isForeignCurrency(code), { error: expected(CURRENCY_CODE) }),
      description: 'ISO 4217, such as `EUR`.',
    },
    amount: {
      rest: null,
      type: 'integer',
      input: foreignAmount,
      description:
        'The `amount` of the invoice in this currency, in its smallest unit: 100050 is 1000.50 EUR, or 100050 JPY.',
    },
    rate: {
      rest: null,
      type: 'decimal',
      input: exchangeRate,
      description: `How many dirhams one unit is, such as 10.8345: above 0, below a million, with at most ${RATE_PLACES} decimals. \`amount\` at this rate is the \`amount\` of the invoice, except for what rounding explains.`,
    },
    rateDate: {
      rest: null,
      type: 'text',
      input: date,
      description: `The day of the rate, such as \`2026-01-31\`: the date of the invoice, or at most ${DATE_YEARS.rateBefore} year before it.`,
    },
  },
} as const satisfies RecordType;

export const TAX_CERTIFICATE = {
  name: 'TaxCertificate',
  inputName: 'TaxCertificateInput',
  restName: 'TaxCertificate',
  restInputName: 'TaxCertificateInput',
  description: 'The seller’s certificate of tax regularity (attestation de régularité fiscale).',
  fields: {
    number: {
      rest: null,
      type: 'text',
      input: oneLineText(LIMITS.certificateNumber, 'the number of the certificate'),
      description: `Its number, at most ${LIMITS.certificateNumber} characters.`,
    },
    date: {
      rest: null,
      type: 'text',
      input: date,
      description: `Its date, such as \`2026-01-31\`: the date of the invoice, or at most ${DATE_YEARS.certificateBefore} years before it.`,
    },
  },
} as const satisfies RecordType;

export const WITHHOLDING = {
  name: 'Withholding',
  inputName: 'WithholdingInput',
  restName: 'Withholding',
  restInputName: 'WithholdingInput',
  description: 'What the buyer withholds of the VAT and pays to the State itself. It changes no amount of the invoice.',
  fields: {
    percent: {
      rest: null,
      type: 'integer',
      input: wholePercent,
      minimum: 1,
      description: 'Of the VAT of the invoice, after deposits: 1 to 100. The law knows 75 and 100.',
    },
    certificate: {
      rest: null,
      record: TAX_CERTIFICATE,
      input: 'optional',
      description: 'The seller’s certificate of tax regularity; null if none is stated.',
      inputDescription: 'The seller’s certificate of tax regularity. 75 % rests on one.',
    },
  },
} as const satisfies RecordType;
