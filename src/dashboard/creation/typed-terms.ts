import { PAYMENT_MEANS_NAMES, type PaymentMeans } from '../../domain/payment-means.ts';
import type { InvoiceInput } from './documents.ts';
import { recordOf, textOf } from './typed-values.ts';

/** The terms that a form shows, as typed. Dates are `YYYY-MM-DD`. An empty term is that of the seller's profile. */
export interface TypedTerms {
  readonly operationDate: string;
  readonly dueDate: string;
  readonly paymentMeans: PaymentMeans | '';
}

export const NO_TERMS: TypedTerms = { operationDate: '', dueDate: '', paymentMeans: '' };

/** Converts the terms to those of the API; null if nothing is typed. */
export function termsOf({ operationDate, dueDate, paymentMeans }: TypedTerms): InvoiceInput['terms'] {
  if (!operationDate && !dueDate && !paymentMeans) return null;
  return {
    ...(operationDate && { operationDate }),
    ...(dueDate && { dueDate }),
    ...(paymentMeans && { paymentMeans }),
  };
}

/**
 * Returns the terms of an invoice or a draft after the form has changed them. Those that the form does not show are
 * kept; the words and the account of a payment only while its means stays the same.
 */
export function changedTerms(typed: TypedTerms, before: unknown): Readonly<Record<string, unknown>> {
  const { operationDate: _operation, dueDate: _due, paymentMeans, ...others } = recordOf(before);
  const { paymentMode: _mode, bankAccount: _account, ...kept } = others;
  return { ...(meansOf(paymentMeans) === typed.paymentMeans ? others : kept), ...termsOf(typed) };
}

/** Returns the terms of an invoice or of a draft, which may be anything, as the form shows them. */
export function typedTermsOf(terms: unknown): TypedTerms {
  const { operationDate, dueDate, paymentMeans } = recordOf(terms);
  return { operationDate: textOf(operationDate), dueDate: textOf(dueDate), paymentMeans: meansOf(paymentMeans) };
}

/** Returns the payment means with this name; empty if there is none. */
export function meansOf(name: unknown): TypedTerms['paymentMeans'] {
  return PAYMENT_MEANS_NAMES.find((each) => each === name) ?? '';
}
