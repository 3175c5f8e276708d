import type { LegalTerms } from '../../domain/invoice/terms.ts';
import { PAYMENT_MEANS, type PaymentMeans } from '../../domain/payment-means.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';

const MEANINGS = Object.fromEntries(
  Object.entries(PAYMENT_MEANS).map(([name, { code, words }]) => [name, `${words.en}: UNCL4461 code ${code}.`]),
) as Record<PaymentMeans, string>;

export const PaymentMeansType = enumOf('PaymentMeans', 'The kind of a payment, as documents code it.', {
  ...MEANINGS,
  transfer: `${MEANINGS.transfer.slice(0, -1)}, or 42 without an account.`,
});

export const InvoiceTermsType = builder.objectRef<LegalTerms>('InvoiceTerms').implement({
  description:
    'When the operation was, and how and until when it is to be paid, as the documents state it: what the invoice was created with, else what the seller’s profile said then.',
  fields: (t) => ({
    operationDate: t.exposeString('operationDate', {
      nullable: true,
      description: 'When the goods were delivered or the service was done: `2026-01-31`.',
    }),
    dueDate: t.exposeString('dueDate', { nullable: true, description: 'Until when to pay: `2026-03-02`.' }),
    paymentMode: t.exposeString('paymentMode', { description: 'How to pay, in words: `Virement bancaire`.' }),
    paymentMeans: t.expose('paymentMeans', {
      type: PaymentMeansType,
      nullable: true,
      description: 'The same for programs; null where it is not known.',
    }),
    paymentReference: t.exposeString('paymentReference', {
      nullable: true,
      description: 'What to quote: the invoice’s number unless it was created with another reference.',
    }),
    bankAccount: t.exposeString('bankAccount', { nullable: true, description: 'Where to pay to: a RIB, 24 digits.' }),
  }),
});

/** What `termsInput` checks; of an invoice to be created and of one to be checked. */
export const InvoiceTermsInput = builder.inputType('InvoiceTermsInput', {
  description:
    'When the operation was, and how and until when it is to be paid. What is left out is taken from the seller’s profile. Dates are calendar dates in Morocco.',
  fields: (t) => ({
    operationDate: t.string({
      description:
        'When the goods were delivered or the service was done: `2026-01-31`; at most 10 years before the day of the invoice and 1 year after it.',
    }),
    dueDate: t.string({ description: 'Until when to pay: the day of the invoice, or up to 5 years later.' }),
    paymentMode: t.string({
      description:
        'How to pay, in words, at most 100 characters. With this or `paymentMeans`, neither is taken from the profile: send both, or the kind alone.',
    }),
    paymentMeans: t.field({ type: PaymentMeansType, description: 'The kind of the payment.' }),
    paymentReference: t.string({
      description: 'What the buyer is to quote, at most 50 characters; the invoice’s number unless given.',
    }),
    bankAccount: t.string({ description: 'Where to pay to: a RIB, 24 digits, with its check key.' }),
  }),
});
