import { moroccanDate } from '../morocco/time.ts';
import type { Invoice } from './invoice.ts';

export type NumberedInvoice = Invoice & { readonly number: string };

/** Whether an invoice is accepted, and so can be credited. It has a number then. */
export function isAccepted(invoice: Invoice): invoice is NumberedInvoice {
  return invoice.status === 'accepted' && invoice.number !== null;
}

/** Returns how the documents of a correction name the invoice that it credits or replaces. */
export function originalOf<Number extends string | null>({
  id,
  number,
  createdAt,
  dgiId,
}: Pick<Invoice, 'id' | 'createdAt' | 'dgiId'> & { readonly number: Number }) {
  return { id, number, issueDate: moroccanDate(createdAt), dgiId };
}
