import { MINUTE_MS } from '../durations.ts';
import { problem, ServiceError, serviceError } from '../errors.ts';
import type { CreditShare, KeptCredit, KeptCredits } from './credit.ts';
import type { CorrectionState, CreditKeeping } from './credit-keeping.ts';
import { type CreditRequest, creditOf, leftOf } from './credit-share.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';
import { isFinal } from './lifecycle.ts';
import type { NumberedInvoice } from './original.ts';
import { isAbandonment } from './rejection-reasons.ts';
import type { InvoiceReading } from './repository.ts';

/** Maximum number of credit notes of an invoice that are not rejected. */
const MOST_CREDIT_NOTES = 100;
/**
 * How long an invoice keeps a share or a link for a document that is not stored yet, milliseconds. It is stored right
 * after.
 */
export const UNSTORED_MS = 5 * MINUTE_MS;
/** How often an invoice is read again because another document changed what it keeps at the same time. */
export const TRIES = 100;

type Invoices = Pick<InvoiceReading, 'find'> & Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>;

/** What a credit note takes from its invoice, which now keeps it. */
export interface TakenCredit {
  /** The invoice, which has its number. */
  readonly original: NumberedInvoice;
  readonly lines: readonly InvoiceLine[];
  readonly share: CreditShare;
}

/** What was taken, and what the invoice keeps since. */
export interface KeptTaking extends TakenCredit {
  readonly kept: KeptCredits;
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
export function takeCredit(
  invoices: Invoices,
  find: () => Promise<NumberedInvoice>,
  creditNoteId: string,
  request: CreditRequest,
  now: () => Date,
): Promise<KeptTaking> {
  return keeping(invoices, find, now, (original, counted) => {
    const others = counted.filter((each) => each.creditNoteId !== creditNoteId);
    const own = counted.find((each) => each.creditNoteId === creditNoteId);
    const taken = takenOf(original, others, request);
    if (own && !isSame(own, taken.share)) {
      const message = 'Another request with this idempotency key is under way. Send this one again later.';
      throw serviceError('internal_error', message, null, 503);
    }
    const list = placed(counted, { creditNoteId, at: now(), ...taken.share });
    return { list, result: { ...taken, kept: { version: original.credits.version + 1, list } } };
  });
}

/**
 * Gives back at once what was taken for a credit note that could not be stored. Does nothing if the credit note, or the
 * invoice for which it was to be made, is stored nevertheless, or if the invoice has changed since: another request with
 * the same key may have taken the same share. The share then counts for five minutes.
 */
export async function giveBack(
  invoices: Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>,
  { original, kept }: KeptTaking,
  { creditNoteId, replacingId }: Pick<KeptCredit, 'creditNoteId' | 'replacingId'>,
): Promise<void> {
  const stored = await invoices.correctionStatesOf([creditNoteId, ...(replacingId === undefined ? [] : [replacingId])]);
  if (stored.size > 0) return;
  const others = kept.list.filter((each) => each.creditNoteId !== creditNoteId);
  await invoices.keepCredits(original, kept.version, others);
}

/** Why nothing was taken for a replacement; `creditNoteId` is the one of which it is not known what it credits. */
export type Untaken =
  | { readonly why: 'nothing_left' }
  | { readonly why: 'undecided' | 'abandoned'; readonly creditNoteId: string };

/**
 * Takes all that is left of an accepted invoice, for the credit note of a replacement. The share counts as long as the
 * replacing invoice is stored and not rejected. Nothing is taken while it is not certain what the other credit notes
 * have credited.
 * @throws {ServiceError} credit_exceeds_invoice for too many credit notes; internal_error (503); what `find` throws
 */
export function takeRest(
  invoices: Invoices,
  find: () => Promise<NumberedInvoice>,
  { creditNoteId, replacingId }: { readonly creditNoteId: string; readonly replacingId: string },
  now: () => Date,
): Promise<KeptTaking | Untaken> {
  return keeping<NumberedInvoice, KeptTaking | Untaken>(invoices, find, now, (original, counted, states) => {
    const others = counted.filter((each) => each.creditNoteId !== creditNoteId);
    const statusOf = ({ creditNoteId: id }: KeptCredit) => states.get(id)?.status ?? 'pending';
    const open = others.find((each) => !isFinal(statusOf(each)));
    if (open) return { list: null, result: { why: 'undecided', creditNoteId: open.creditNoteId } };
    // Of the rejected ones, only abandoned ones count.
    const abandoned = others.find((each) => statusOf(each) === 'rejected');
    if (abandoned) return { list: null, result: { why: 'abandoned', creditNoteId: abandoned.creditNoteId } };
    if (leftOf(original, others).rates.length === 0) return { list: null, result: { why: 'nothing_left' } };
    const taken = takenOf(original, others, { kind: 'rest' });
    const list = placed(counted, { creditNoteId, replacingId, at: now(), ...taken.share });
    return { list, result: { ...taken, kept: { version: original.credits.version + 1, list } } };
  });
}

/** Returns what a credit note would take from its invoice now, or why it cannot be. Nothing is written. */
export async function previewCredit(
  invoices: Pick<CreditKeeping, 'correctionStatesOf'>,
  original: NumberedInvoice,
  request: CreditRequest,
  now: Date,
): Promise<ReturnType<typeof creditOf>> {
  const states = await statesOf(invoices, original);
  return madeOf(original, countedCredits(original, states, now), request);
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
  return keeping<Invoice | null, boolean>(
    invoices,
    () => invoices.find(originalId),
    now,
    (original, counted) => {
      const isKept = original?.credits.list.some((each) => each.creditNoteId === id && isSame(each, share)) ?? false;
      const others = counted.filter((each) => each.creditNoteId !== id);
      if (original === null || (!isKept && !fits(original, others, share))) return { list: null, result: false };
      // Also written if it is kept: whoever read the list before this credit note was stored may be about to drop it.
      return { list: placed(counted, { creditNoteId: id, at: now(), ...share }), result: true };
    },
  );
}

/** The list that the invoice is to keep, null for the one it has, and the result. */
interface Decision<Result> {
  readonly list: readonly KeptCredit[] | null;
  readonly result: Result;
}

/**
 * Reads an invoice, decides, and writes what the invoice keeps, all anew if it changed in the meantime.
 * @param decide gets the shares that count, with the states of their documents
 */
async function keeping<Read extends Invoice | null, Result>(
  invoices: Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>,
  read: () => Promise<Read>,
  now: () => Date,
  decide: (
    original: Read,
    counted: readonly KeptCredit[],
    states: ReadonlyMap<string, CorrectionState>,
  ) => Decision<Result>,
): Promise<Result> {
  for (let tries = 0; tries < TRIES; tries++) {
    const original = await read();
    const states = original ? await statesOf(invoices, original) : new Map<string, CorrectionState>();
    const counted = original ? countedCredits(original, states, now()) : [];
    const { list, result } = decide(original, counted, states);
    if (original === null || list === null) return result;
    if (await invoices.keepCredits(original, original.credits.version, list)) return result;
  }
  throw serviceError('internal_error', 'Too many credit notes of this invoice at once. Try again.', null, 503);
}

/** Reads the states of the documents for which an invoice keeps shares, and of those that wait for these. */
async function statesOf(
  invoices: Pick<CreditKeeping, 'correctionStatesOf'>,
  { credits: { list } }: Pick<Invoice, 'credits'>,
): Promise<ReadonlyMap<string, CorrectionState>> {
  const ids = list.flatMap(({ creditNoteId, replacingId }) => [creditNoteId, ...(replacingId ? [replacingId] : [])]);
  return ids.length === 0 ? new Map() : invoices.correctionStatesOf(ids);
}

/** Returns the shares that count: of stored credit notes that are not rejected, and of those about to be stored. */
function countedCredits(
  { id, credits: { list } }: Pick<Invoice, 'id' | 'credits'>,
  states: ReadonlyMap<string, CorrectionState>,
  now: Date,
): KeptCredit[] {
  return list.filter(({ creditNoteId, replacingId, at }) => {
    const state = states.get(creditNoteId);
    if (state === undefined) {
      if (now.getTime() - at.getTime() < UNSTORED_MS) return true;
      // Whoever takes up the replacing invoice stores its credit note.
      const replacing = replacingId === undefined ? undefined : states.get(replacingId);
      return replacing?.replaces?.creditNoteId === creditNoteId && replacing.status !== 'rejected';
    }
    // Two requests with one key took shares of two invoices, and only one of them stored its credit note.
    if (state.originalId !== id) return false;
    // The authority holds another document under the id of an abandoned credit note, maybe one with the same share.
    return state.status !== 'rejected' || isAbandonment(state.rejectionReason);
  });
}

/** @throws {ServiceError} credit_exceeds_invoice, invalid_request */
function takenOf(original: NumberedInvoice, others: readonly CreditShare[], request: CreditRequest): TakenCredit {
  const made = madeOf(original, others, request);
  if ('problems' in made) throw new ServiceError(made.problems);
  return { original, ...made };
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

/** Returns the list with this share, in its place or at the end: readers see the credit notes in this order. */
function placed(list: readonly KeptCredit[], share: KeptCredit): readonly KeptCredit[] {
  const isOwn = ({ creditNoteId }: KeptCredit) => creditNoteId === share.creditNoteId;
  return list.some(isOwn) ? list.map((each) => (isOwn(each) ? share : each)) : [...list, share];
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
