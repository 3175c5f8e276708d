import { serviceError } from '../errors.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import type { Invoice } from './invoice.ts';
import { TRIES, UNSTORED_MS } from './kept-shares.ts';
import type { InvoiceReading } from './repository.ts';

type Links = Pick<CreditKeeping, 'keepReplacement' | 'correctionStatesOf'>;

/**
 * Links an invoice to the invoice that replaces it, which the caller stores right after. So it never has two. A link no
 * longer counts if the replacing invoice was not stored within five minutes because its process died. {@link
 * confirmReplacement} checks it again before the replacing invoice is issued.
 * @param find reads the invoice, or throws if it cannot be replaced
 * @throws {ServiceError} invoice_not_replaceable if another invoice replaces it; internal_error (503); the errors of
 *   `find`
 */
export async function linkReplacement(
  invoices: Links,
  find: () => Promise<Invoice>,
  replacingId: string,
  now: () => Date,
): Promise<void> {
  const read = async () => {
    const replaced = await find();
    await refuseReplaced(invoices, replaced, replacingId, now());
    return replaced;
  };
  await keepLink(invoices, read, replacingId, now);
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
  const read = async () => {
    const replaced = await invoices.find(replaces.invoice.id);
    return replaced !== null && (await otherReplacement(invoices, replaced, id, now())) === null ? replaced : null;
  };
  return keepLink(invoices, read, id, now);
}

/**
 * Takes back the link to an invoice that was not stored, so that it no longer counts. Does nothing if that invoice is
 * stored nevertheless, or another one is linked.
 */
export async function unlinkReplacement(
  invoices: Links & Pick<InvoiceReading, 'find'>,
  replacedId: string,
  replacingId: string,
): Promise<void> {
  const replaced = await invoices.find(replacedId);
  if (replaced?.replacedBy?.invoiceId !== replacingId) return;
  if ((await invoices.correctionStatesOf([replacingId])).size > 0) return;
  await invoices.keepReplacement(replaced, { invoiceId: replacingId, at: new Date(0) });
}

/**
 * Writes the link, even if it exists: a process that read it before the replacing invoice was stored may be about to
 * drop it.
 * @param read reads the invoice again, and returns null or throws if it cannot be linked
 * @returns false if it cannot be linked
 */
async function keepLink(
  invoices: Links,
  read: () => Promise<Invoice | null>,
  replacingId: string,
  now: () => Date,
): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const replaced = await read();
    if (replaced === null) return false;
    if (await invoices.keepReplacement(replaced, { invoiceId: replacingId, at: now() })) return true;
  }
  throw serviceError('internal_error', 'Too many replacements of this invoice at once. Try again.', null, 503);
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

/** Returns another invoice that replaces this one, whatever its status, or that is about to be stored; null if none. */
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
