import { MINUTE_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import type { CreditShare, KeptCredit } from './credit.ts';
import type { CorrectionState, CreditKeeping } from './credit-keeping.ts';
import { leftOf } from './credit-share.ts';
import { isDeduction } from './deduction.ts';
import type { Invoice } from './invoice.ts';
import { isAbandonment } from './rejection-reasons.ts';

// An accepted invoice keeps the shares of it that other documents take: its credit notes and, if it is a deposit, the
// final invoice that deducts it (docs/decisions/0077 and 0087).

/** Maximum number of shares of an invoice that count. */
export const MOST_SHARES = 100;
/**
 * How long an invoice keeps a share or a link for a document that is not stored yet, milliseconds. It is stored right
 * after.
 */
export const UNSTORED_MS = 5 * MINUTE_MS;
/** How often an invoice is read again because another document changed what it keeps at the same time. */
export const TRIES = 100;

/** The states of the documents for which an invoice keeps shares, and of those that wait for these. */
export interface TakerStates {
  readonly of: ReadonlyMap<string, CorrectionState>;
  /**
   * The final invoices that accepted credit notes have credited completely. An acceptance is never undone, so this
   * never changes once it was read.
   */
  readonly undone: ReadonlySet<string>;
}

const NONE: TakerStates = { of: new Map(), undone: new Set() };

/** The list that the invoice is to keep, null for the one it has, and the result. */
export interface Decision<Result> {
  readonly list: readonly KeptCredit[] | null;
  readonly result: Result;
}

type States = Pick<CreditKeeping, 'correctionStatesOf'>;

/**
 * Reads an invoice, decides, and writes what the invoice keeps. Repeats all of it if the invoice changed in the
 * meantime.
 * @param decide gets the shares that count, with the states of their documents
 */
export async function keeping<Read extends Invoice | null, Result>(
  invoices: Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>,
  read: () => Promise<Read>,
  now: () => Date,
  decide: (original: Read, counted: readonly KeptCredit[], states: TakerStates) => Decision<Result>,
): Promise<Result> {
  for (let tries = 0; tries < TRIES; tries++) {
    const original = await read();
    const states = original ? await statesOf(invoices, original) : NONE;
    const counted = original ? countedShares(original, states, now()) : [];
    const { list, result } = decide(original, counted, states);
    if (original === null || list === null) return result;
    if (await invoices.keepCredits(original, original.credits.version, list)) return result;
  }
  throw serviceError('internal_error', 'Too many credit notes of this invoice at once. Try again.', null, 503);
}

/** Reads the states of the documents for which an invoice keeps shares, and of those that wait for these. */
export async function statesOf(
  invoices: States,
  { credits: { list } }: Pick<Invoice, 'credits'>,
): Promise<TakerStates> {
  const ids = list.flatMap(({ creditNoteId, replacingId, insteadOf }) => [
    creditNoteId,
    ...(replacingId ? [replacingId] : []),
    ...(insteadOf ? [insteadOf] : []),
  ]);
  if (ids.length === 0) return NONE;
  const of = await invoices.correctionStatesOf(ids);
  return { of, undone: await undoneOf(invoices, of) };
}

/** Returns which of these documents are final invoices that accepted credit notes have credited completely. */
export async function undoneOf(
  invoices: States,
  states: ReadonlyMap<string, CorrectionState>,
): Promise<ReadonlySet<string>> {
  const credited = [...states].flatMap(([id, { deduction }]) =>
    deduction && deduction.credits.length > 0 ? [{ id, ...deduction }] : [],
  );
  if (credited.length === 0) return NONE.undone;
  const notes = await invoices.correctionStatesOf(
    credited.flatMap(({ credits }) => credits.map(({ creditNoteId }) => creditNoteId)),
  );
  const undone = credited.filter(({ id, rates, credits }) => {
    const accepted = credits.filter(({ creditNoteId }) => {
      const note = notes.get(creditNoteId);
      return note?.status === 'accepted' && note.originalId === id;
    });
    return rates.every(({ rate, base }) => {
      const shares = accepted.flatMap((share) => share.rates.filter((each) => each.rate === rate));
      return shares.reduce((sum, each) => sum + each.base, 0) >= base;
    });
  });
  return new Set(undone.map(({ id }) => id));
}

/** Returns the shares that count: of stored documents that are not rejected, and of those about to be stored. */
export function countedShares(
  { id, credits: { list } }: Pick<Invoice, 'id' | 'credits'>,
  states: TakerStates,
  now: Date,
): KeptCredit[] {
  return list.filter((share) => {
    if (isDeduction(share)) {
      const { creditNoteId, insteadOf } = share;
      return (
        isDeducting(id, creditNoteId, states, share.at, now) ||
        (insteadOf !== undefined && isDeducting(id, insteadOf, states, null, now))
      );
    }
    return isCrediting(id, share, states.of, now);
  });
}

function isCrediting(
  id: string,
  { creditNoteId, replacingId, at }: KeptCredit,
  states: TakerStates['of'],
  now: Date,
): boolean {
  const state = states.get(creditNoteId);
  if (state === undefined) {
    if (isYoung(at, now)) return true;
    // The process that continues the replacing invoice stores its credit note.
    const replacing = replacingId === undefined ? undefined : states.get(replacingId);
    return replacing?.replaces?.creditNoteId === creditNoteId && replacing.status !== 'rejected';
  }
  // Two requests with one key took shares of two invoices, and only one of them stored its credit note.
  return state.originalId === id && isInForce(state);
}

/**
 * Whether a final invoice deducts this deposit, or is about to be stored. It no longer does once it is credited
 * completely.
 * @param at when it took its share; null if it was stored before
 */
export function isDeducting(
  depositId: string,
  finalId: string,
  { of, undone }: TakerStates,
  at: Date | null,
  now: Date,
): boolean {
  const state = of.get(finalId);
  if (state === undefined) return at !== null && isYoung(at, now);
  return (state.deduction?.depositIds.includes(depositId) ?? false) && isInForce(state) && !undone.has(finalId);
}

function isYoung(at: Date, now: Date): boolean {
  return now.getTime() - at.getTime() < UNSTORED_MS;
}

/** The authority holds another document under the id of an abandoned document, which may have the same share. */
function isInForce({ status, rejectionReason }: CorrectionState): boolean {
  return status !== 'rejected' || isAbandonment(rejectionReason);
}

/** Returns the list with this share, in its place or at the end: readers see the credit notes in this order. */
export function placed(list: readonly KeptCredit[], share: KeptCredit): readonly KeptCredit[] {
  const isOwn = ({ creditNoteId }: KeptCredit) => creditNoteId === share.creditNoteId;
  return list.some(isOwn) ? list.map((each) => (isOwn(each) ? share : each)) : [...list, share];
}

/** Whether the rest of an invoice covers this share. */
export function fits(original: Invoice, others: readonly CreditShare[], share: CreditShare): boolean {
  if (others.length >= MOST_SHARES) return false;
  const left = leftOf(original, others);
  return (
    share.amount <= left.amount &&
    share.rates.every(({ rate, base, tax }) => {
      const most = left.rates.find((each) => each.rate === rate) ?? { base: 0, tax: 0 };
      // A share that takes the rest of a base also takes the rest of its VAT, so that no centime is left over.
      return base <= most.base && tax <= most.tax && (base < most.base || tax === most.tax);
    })
  );
}

export function isSame(a: CreditShare, b: CreditShare): boolean {
  const textOf = ({ rates, amount }: CreditShare) =>
    JSON.stringify([amount, rates.map((e) => [e.rate, e.base, e.tax])]);
  return textOf(a) === textOf(b);
}
