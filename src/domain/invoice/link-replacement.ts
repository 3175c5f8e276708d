import { serviceError } from '../errors.ts';
import type { Invoice } from './invoice.ts';
import type { CreditKeeping, InvoiceReading } from './repository.ts';
import { TRIES, UNSTORED_MS } from './take-credit.ts';

type Links = Pick<CreditKeeping, 'keepReplacement' | 'correctionStatesOf'>;

/**
 * Links an invoice to the one that replaces it, which is stored right after, so at no time has it two. A link no longer
 * counts if the replacing invoice was not stored within five minutes because its process died.
 * {@link confirmReplacement} checks it again before the replacing invoice is issued.
 * @param find reads the invoice, or throws if it cannot be replaced
 * @throws {ServiceError} invoice_not_replaceable if another invoice replaces it; internal_error (503); what `find` throws
 */
export async function linkReplacement(
  invoices: Links,
  find: () => Promise<Invoice>,
  replacingId: string,
  now: () => Date,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const replaced = await find();
    await refuseReplaced(invoices, replaced, replacingId, now());
    // Also written if it is there: whoever read it before the replacing invoice was stored may be about to drop it.
    if (await invoices.keepReplacement(replaced, { invoiceId: replacingId, at: now() })) return;
  }
  throw serviceError('internal_error', 'Too many replacements of this invoice at once. Try again.', null, 503);
}

/**
 * Makes sure that the replaced invoice has the link to a stored invoice. It may be missing if more than five minutes
 * passed before that invoice was stored.
 * @returns false if another invoice replaces it, or it does not exist
 */
export async function confirmReplacement(
  invoices: Links & Pick<InvoiceReading, 'find'>,
  { id, replaces }: Pick<Invoice, 'id' | 'replaces'>,
  now: () => Date,
): Promise<boolean> {
  if (replaces === null) return true;
  for (let tries = 0; tries < TRIES; tries++) {
    const replaced = await invoices.find(replaces.invoice.id);
    if (replaced === null || (await otherReplacement(invoices, replaced, id, now())) !== null) return false;
    if (await invoices.keepReplacement(replaced, { invoiceId: id, at: now() })) return true;
  }
  throw new Error(`invoice ${id} could not be linked: the invoice that it replaces kept changing`);
}

/** @throws {ServiceError} invoice_not_replaceable if another invoice replaces this one */
export async function refuseReplaced(
  invoices: Links,
  replaced: Invoice,
  replacingId: string,
  now: Date,
): Promise<void> {
  const other = await otherReplacement(invoices, replaced, replacingId, now);
  if (other === null) return;
  const message = other.isStored
    ? `Invoice ${replaced.id} is replaced already, by ${other.invoiceId}. If that one is wrong, replace that one.`
    : `Another request replaces invoice ${replaced.id} at the moment. Read it again later.`;
  throw serviceError('invoice_not_replaceable', message, 'invoiceId');
}

/** Returns another invoice that replaces this one, whatever became of it, or is about to be stored; null if none. */
async function otherReplacement(
  invoices: Links,
  { id, replacedBy }: Invoice,
  replacingId: string,
  now: Date,
): Promise<{ readonly invoiceId: string; readonly isStored: boolean } | null> {
  if (replacedBy === null || replacedBy.invoiceId === replacingId) return null;
  const { invoiceId, at } = replacedBy;
  const state = (await invoices.correctionStatesOf([invoiceId])).get(invoiceId);
  if (state === undefined) return now.getTime() - at.getTime() < UNSTORED_MS ? { invoiceId, isStored: false } : null;
  // Two requests with one key linked two invoices, and only one of them stored its invoice.
  return state.replaces?.invoiceId === id ? { invoiceId, isStored: true } : null;
}
