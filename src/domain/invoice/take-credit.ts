import { problem, ServiceError, serviceError } from '../errors.ts';
import type { CreditShare, KeptCredit, KeptCredits } from './credit.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { type CreditRequest, creditOf, leftOf } from './credit-share.ts';
import { isDeduction } from './deduction.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';
import { countedShares, fits, isSame, keeping, MOST_SHARES, placed, statesOf } from './kept-shares.ts';
import { isFinal } from './lifecycle.ts';
import type { NumberedInvoice } from './original.ts';
import type { InvoiceReading } from './repository.ts';

type Invoices = Pick<InvoiceReading, 'find'> & Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>;

/** The share that a credit note takes from its invoice, which the invoice now keeps. */
export interface TakenCredit {
  /** The invoice, which has its number. */
  readonly original: NumberedInvoice;
  readonly lines: readonly InvoiceLine[];
  readonly share: CreditShare;
}

/** The share that was taken, and the list that the invoice keeps since. */
export interface KeptTaking extends TakenCredit {
  readonly kept: KeptCredits;
}

/**
 * Takes a share of an accepted invoice for a credit note that the caller stores right after. The invoice keeps the
 * shares of its credit notes, so they never exceed the invoice, also with concurrent requests. A share no longer counts
 * when its credit note is rejected, or was not stored within five minutes because its process died. {@link
 * confirmCredit} checks the share again before the credit note gets its number.
 * @param find reads the invoice, or throws if it cannot be credited
 * @throws {ServiceError} credit_exceeds_invoice, invalid_request, internal_error (503, also while another request with
 *   the same key is in progress), and the errors of `find`
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
 * Gives back the share of a credit note that could not be stored. Does nothing if the credit note, or the invoice that
 * needs it, is stored nevertheless, or if the invoice has changed since: another request with the same key may have
 * taken the same share. In that case the share counts for five minutes.
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

/**
 * Why nothing was taken for a replacement. `creditNoteId` is the credit note whose credited amount is not certain yet,
 * `finalId` the invoice that deducts the original.
 */
export type Untaken =
  | { readonly why: 'nothing_left' }
  | { readonly why: 'undecided' | 'abandoned'; readonly creditNoteId: string }
  | { readonly why: 'deducted'; readonly finalId: string };

/** The credit note of a replacement, and the invoice that is stored with it. */
export interface RestRequest extends Pick<CreditRequest, 'language'> {
  readonly creditNoteId: string;
  readonly replacingId: string;
}

/**
 * Takes all that is left of an accepted invoice, for the credit note of a replacement. The share counts as long as the
 * replacing invoice is stored and not rejected. Nothing is taken while the credited amounts of other credit notes are
 * uncertain.
 * @throws {ServiceError} credit_exceeds_invoice for too many credit notes; internal_error (503); the errors of `find`
 */
export function takeRest(
  invoices: Invoices,
  find: () => Promise<NumberedInvoice>,
  { creditNoteId, replacingId, language }: RestRequest,
  now: () => Date,
): Promise<KeptTaking | Untaken> {
  return keeping<NumberedInvoice, KeptTaking | Untaken>(invoices, find, now, (original, counted, states) => {
    const others = counted.filter((each) => each.creditNoteId !== creditNoteId);
    const statusOf = ({ creditNoteId: id }: KeptCredit) => states.of.get(id)?.status ?? 'pending';
    const deduction = others.find(isDeduction);
    if (deduction) return { list: null, result: { why: 'deducted', finalId: deduction.creditNoteId } };
    const open = others.find((each) => !isFinal(statusOf(each)));
    if (open) return { list: null, result: { why: 'undecided', creditNoteId: open.creditNoteId } };
    // A rejected credit note in `others` was abandoned; the other rejected ones do not count.
    const abandoned = others.find((each) => statusOf(each) === 'rejected');
    if (abandoned) return { list: null, result: { why: 'abandoned', creditNoteId: abandoned.creditNoteId } };
    if (leftOf(original, others).rates.length === 0) return { list: null, result: { why: 'nothing_left' } };
    const taken = takenOf(original, others, { kind: 'rest', language });
    const list = placed(counted, { creditNoteId, replacingId, at: now(), ...taken.share });
    return { list, result: { ...taken, kept: { version: original.credits.version + 1, list } } };
  });
}

/** Returns the share that a credit note would take from its invoice now, or why it is refused. Nothing is written. */
export async function previewCredit(
  invoices: Pick<CreditKeeping, 'correctionStatesOf'>,
  original: NumberedInvoice,
  request: CreditRequest,
  now: Date,
): Promise<ReturnType<typeof creditOf>> {
  const states = await statesOf(invoices, original);
  return madeOf(original, countedShares(original, states, now), request);
}

/**
 * Ensures that the invoice keeps the share of a stored credit note. The share may be missing if the credit note was
 * stored more than five minutes after it was taken.
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
      // Written even if it is kept: a process that read the list before this credit note was stored may be about to
      // drop it.
      return { list: placed(counted, { creditNoteId: id, at: now(), ...share }), result: true };
    },
  );
}

/** @throws {ServiceError} credit_exceeds_invoice, invalid_request */
function takenOf(original: NumberedInvoice, others: readonly KeptCredit[], request: CreditRequest): TakenCredit {
  const made = madeOf(original, others, request);
  if ('problems' in made) throw new ServiceError(made.problems);
  return { original, ...made };
}

/** Returns the lines and the share of a further credit note, or why it is refused. */
function madeOf(
  original: NumberedInvoice,
  others: readonly KeptCredit[],
  request: CreditRequest,
): ReturnType<typeof creditOf> {
  const deduction = others.find(isDeduction);
  if (deduction && leftOf(original, others).rates.length === 0) {
    const message = `Deposit invoice ${original.number} is deducted in invoice ${deduction.creditNoteId}. Credit that one instead, or first.`;
    return { problems: [problem('credit_exceeds_invoice', message)] };
  }
  if (others.length < MOST_SHARES) return creditOf(original, others, request);
  const message = `Invoice ${original.number} has ${MOST_SHARES} credit notes, the maximum. Nothing more can be credited.`;
  return { problems: [problem('credit_exceeds_invoice', message)] };
}
