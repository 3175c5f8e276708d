import { z } from 'zod';
import { bankAccountDigits } from '../bank-account.ts';
import { expected } from '../input-problems.ts';
import { PAYMENT_MEANS_NAMES } from '../payment-means.ts';
import { oneLineText } from '../printable-text.ts';
import { DATE_YEARS, date, LIMITS } from './field-input.ts';
import type { RecordType } from './field-table.ts';

// The fields of dates and payment, one row each: a part of the tables of an invoice (`fields.ts`).

export const INVOICE_TERMS = {
  name: 'InvoiceTerms',
  inputName: 'InvoiceTermsInput',
  restName: 'Terms',
  restInputName: 'TermsInput',
  description: 'Dates and payment. Dates are calendar dates in Morocco.',
  fields: {
    operationDate: {
      rest: 'operation_date',
      type: 'text',
      input: date.nullish(),
      description: 'When the goods were delivered or the service was done: `2026-01-31`.',
      inputDescription: `When the goods were delivered or the service was done, such as \`2026-01-31\`: at most ${DATE_YEARS.operationBefore} years before the date of the invoice and ${DATE_YEARS.operationAfter} year after it.`,
    },
    dueDate: {
      rest: 'due_date',
      type: 'text',
      input: date.nullish(),
      description: 'When payment is due: `2026-03-02`.',
      inputDescription: `When payment is due: the date of the invoice, or up to ${DATE_YEARS.dueAfter} years after it.`,
    },
    paymentMode: {
      rest: 'payment_mode',
      type: 'text',
      input: oneLineText(LIMITS.paymentMode, 'how the invoice is paid, in words').nullish(),
      nullable: false,
      description: 'How to pay, in words: `Virement bancaire`.',
      inputDescription: `How to pay, in words, at most ${LIMITS.paymentMode} characters. An invoice that has this or \`paymentMeans\` takes neither from the profile: send both, or \`paymentMeans\` only.`,
    },
    paymentMeans: {
      rest: 'payment_means',
      type: 'paymentMeans',
      input: z
        .enum(PAYMENT_MEANS_NAMES, { error: expected(`one of ${PAYMENT_MEANS_NAMES.join(', ')}`) })
        .meta({ id: 'PaymentMeans' })
        .nullish(),
      example: 'transfer',
      description: 'How to pay, as a code; null where it is not known.',
      inputDescription: 'How to pay, as a code.',
    },
    paymentReference: {
      rest: 'payment_reference',
      type: 'text',
      input: oneLineText(LIMITS.paymentReference, 'what the buyer is to quote').nullish(),
      description: 'What the buyer quotes: the number of the invoice, unless it was created with another reference.',
      inputDescription: `What the buyer quotes, at most ${LIMITS.paymentReference} characters. Default: the number of the invoice.`,
    },
    bankAccount: {
      rest: 'bank_account',
      type: 'text',
      input: bankAccountDigits().nullish(),
      description: 'The account to pay to: a RIB, 24 digits.',
      inputDescription: 'The account to pay to: a RIB, 24 digits, with its check key.',
    },
  },
} as const satisfies RecordType;
