import { MINUTE_MS } from '../durations.ts';
import { problem, ServiceError, serviceError } from '../errors.ts';
import type { CreditShare, KeptCredit } from './credit.ts';
import { type CreditRequest, creditOf, leftOf } from './credit-share.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';
import { isAbandonment } from './rejection-reasons.ts';
import type { CreditKeeping, InvoiceReading } from './repository.ts';

/** Maximum number of credit notes of an invoice that are not rejected. */
const MOST_CREDIT_NOTES = 100;
/** How long a share is kept for a credit note that is not stored yet, milliseconds. It is stored right after. */
const UNSTORED_MS = 5 * MINUTE_MS;
/** How often an invoice is read again because another credit note took its share at the same time. */
const TRIES = 100;

type Invoices = Pick<InvoiceReading, 'find'> & CreditKeeping;

/** An invoice that has its legal number. */
export type NumberedInvoice = Invoice & { readonly number: string };

/** What a credit note takes from its invoice, which now keeps it. */
export interface TakenCredit {
  /** The invoice, which has its number. */
  readonly original: NumberedInvoice;
  readonly lines: readonly InvoiceLine[];
  readonly share: CreditShare;
}

/**
 * Takes a share of an accepted invoice for a credit note that is stored right after. The invoice keeps the shares of its
 * credit notes, so at no time do they exceed it, whatever runs at once. A share no longer counts when its credit note is
 * rejected, or was not stored within five minutes because its process died. {@link confirmCredit} checks it again before
 * the credit note gets its number.
 * @param find reads the invoice, or throws if it cannot be credited
 * @throws {ServiceError} credit_exceeds_invoice, invalid_request, internal_error (503, also while another request with
 *   the same key is under way), and what `find` throws
 */
export async function takeCredit(
  invoices: Invoices,
  find: () => Promise<NumberedInvoice>,
  creditNoteId: string,
  request: CreditRequest,
  now: () => Date,
): Promise<TakenCredit> {
  for (let tries = 0; tries < TRIES; tries++) {
    const original = await find();
    const counted = await countedCredits(invoices, original, now());
    const others = counted.filter((each) => each.creditNoteId !== creditNoteId);
    const own = counted.find((each) => each.creditNoteId === creditNoteId);
    const made = madeOf(original, others, request);
    if ('problems' in made) throw new ServiceError(made.problems);
    const { lines, share } = made;
    if (own && !isSame(own, share)) {
      const message = 'Another request with this idempotency key is under way. Send this one again later.';
      throw serviceError('internal_error', message, null, 503);
    }
    const list = placed(counted, { creditNoteId, at: now(), ...share });
    if (await invoices.keepCredits(original, original.credits.version, list)) return { original, lines, share };
  }
  throw serviceError('internal_error', 'Too many credit notes of this invoice at once. Try again.', null, 503);
}

/** Returns what a credit note would take from its invoice now, or why it cannot be. Nothing is written. */
export async function previewCredit(
  invoices: Pick<CreditKeeping, 'creditStatesOf'>,
  original: NumberedInvoice,
  request: CreditRequest,
  now: Date,
): Promise<ReturnType<typeof creditOf>> {
  return madeOf(original, await countedCredits(invoices, original, now), request);
}

/** Returns the lines and the share of a further credit note, or why it cannot be. */
function madeOf(
  original: NumberedInvoice,
  others: readonly CreditShare[],
  request: CreditRequest,
): ReturnType<typeof creditOf> {
  if (others.length < MOST_CREDIT_NOTES) return creditOf(original, others, request);
  const message = `Invoice ${original.number} has ${MOST_CREDIT_NOTES} credit notes, the maximum. Nothing more can be credited.`;
  return { problems: [problem('credit_exceeds_invoice', message)] };
}

/**
 * Makes sure that the invoice keeps the share of a stored credit note. It may be missing if more than five minutes
 * passed before the credit note was stored.
 * @returns false if the invoice no longer has that much left
 */
export async function confirmCredit(invoices: Invoices, { id, credit }: Invoice, now: () => Date): Promise<boolean> {
  const originalId = credit?.original.id ?? null;
  if (credit === null || originalId === null) return true;
  const share: CreditShare = { rates: credit.rates, amount: credit.amount };
  for (let tries = 0; tries < TRIES; tries++) {
    const original = await invoices.find(originalId);
    if (original === null) return false;
    const isKept = original.credits.list.some((each) => each.creditNoteId === id && isSame(each, share));
    const counted = await countedCredits(invoices, original, now());
    const others = counted.filter((each) => each.creditNoteId !== id);
    if (!isKept && !fits(original, others, share)) return false;
    // Also written if it is kept: whoever read the list before this credit note was stored may be about to drop it.
    const list = placed(counted, { creditNoteId: id, at: now(), ...share });
    if (await invoices.keepCredits(original, original.credits.version, list)) return true;
  }
  throw new Error(`credit note ${id} could not take its share: its invoice kept changing`);
}

/** Returns the list with this share, in its place or at the end: readers see the credit notes in this order. */
function placed(list: readonly KeptCredit[], share: KeptCredit): readonly KeptCredit[] {
  const isOwn = ({ creditNoteId }: KeptCredit) => creditNoteId === share.creditNoteId;
  return list.some(isOwn) ? list.map((each) => (isOwn(each) ? share : each)) : [...list, share];
}

/** Returns the shares that count: of stored credit notes that are not rejected, and of those about to be stored. */
async function countedCredits(
  invoices: Pick<CreditKeeping, 'creditStatesOf'>,
  { id, credits: { list } }: Pick<Invoice, 'id' | 'credits'>,
  now: Date,
): Promise<KeptCredit[]> {
  if (list.length === 0) return [];
  const states = await invoices.creditStatesOf(list.map(({ creditNoteId }) => creditNoteId));
  return list.filter(({ creditNoteId, at }) => {
    const state = states.get(creditNoteId);
    if (state === undefined) return now.getTime() - at.getTime() < UNSTORED_MS;
    // Two requests with one key took shares of two invoices, and only one of them stored its credit note.
    if (state.originalId !== id) return false;
    // The authority holds another document under the id of an abandoned credit note, maybe one with the same share.
    return state.status !== 'rejected' || isAbandonment(state.rejectionReason);
  });
}

function fits(original: Invoice, others: readonly CreditShare[], share: CreditShare): boolean {
  if (others.length >= MOST_CREDIT_NOTES) return false;
  const left = leftOf(original, others);
  return (
    share.amount <= left.amount &&
    share.rates.every(({ rate, base, tax }) => {
      const most = left.rates.find((each) => each.rate === rate) ?? { base: 0, tax: 0 };
      // Whoever takes the last of a base takes the last of its VAT, so that no centime is left over.
      return base <= most.base && tax <= most.tax && (base < most.base || tax === most.tax);
    })
  );
}

function isSame(a: CreditShare, b: CreditShare): boolean {
  const textOf = ({ rates, amount }: CreditShare) =>
    JSON.stringify([amount, rates.map((e) => [e.rate, e.base, e.tax])]);
  return textOf(a) === textOf(b);
}
