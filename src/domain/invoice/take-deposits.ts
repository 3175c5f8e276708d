import { type Problem, problem, ServiceError } from '../errors.ts';
import type { Member } from '../principal.ts';
import type { CreditShare, KeptCredit } from './credit.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { leftOf } from './credit-share.ts';
import { type AskedCustomer, differencesOf } from './customer-key.ts';
import { type DeductedDeposit, isDeduction } from './deduction.ts';
import { findOwnInvoice } from './find-own-invoice.ts';
import type { Invoice } from './invoice.ts';
import {
  countedShares,
  fits,
  isDeducting,
  isSame,
  keeping,
  MOST_SHARES,
  placed,
  statesOf,
  type TakerStates,
} from './kept-shares.ts';
import { isAccepted, type NumberedInvoice, originalOf } from './original.ts';
import type { InvoiceReading } from './repository.ts';

export type DepositInvoices = Pick<InvoiceReading, 'find'> & Pick<CreditKeeping, 'keepCredits' | 'correctionStatesOf'>;

/** The deduction that a final invoice requests. */
export interface DepositRequest {
  /** The final invoice; null if it is not to be created. */
  readonly finalId: string | null;
  /** The accepted final invoice that it replaces, whose deductions pass to it; null if there is none. */
  readonly insteadOf: string | null;
  /** Each once. */
  readonly depositIds: readonly string[];
  readonly customer: AskedCustomer;
}

/** The deductions that a final invoice would make, and why some are not possible. */
export interface DepositsPreview {
  readonly deposits: readonly DeductedDeposit[];
  readonly problems: readonly Problem[];
}

/** Returns what a final invoice would deduct now, and why some of it cannot be. Nothing is written. */
export async function previewDeposits(
  invoices: Pick<DepositInvoices, 'find' | 'correctionStatesOf'>,
  owner: Member,
  request: DepositRequest,
  now: Date,
): Promise<DepositsPreview> {
  const each = await Promise.all(
    request.depositIds.map(async (id, index) => {
      try {
        const deposit = await depositOf(invoices, owner, request, id, index);
        const states = await statesOf(invoices, deposit);
        const counted = countedShares(deposit, states, now);
        return {
          deposits: [deductedOf(deposit, shareOf(deposit, counted, states, request, index, now))],
          problems: [],
        };
      } catch (error) {
        if (error instanceof ServiceError) return { deposits: [], problems: error.problems };
        throw error;
      }
    }),
  );
  return {
    deposits: each.flatMap(({ deposits }) => deposits),
    problems: each.flatMap(({ problems }) => problems),
  };
}

/** The taken shares, in the order of the request. */
export interface TakenDeposits {
  readonly deposits: readonly DeductedDeposit[];
  /**
   * Gives the shares back at once if the final invoice is not stored and no deposit has changed since. Otherwise they
   * count for five minutes.
   */
  readonly giveBack: () => Promise<void>;
}

/**
 * Takes all that is left of each deposit for a final invoice that is stored right after. The deposits keep it beside
 * the shares of their credit notes, so their credits and deductions never exceed them, also with concurrent requests.
 * If one of them is refused, those taken before it are given back. {@link confirmDeposits} checks them again before the
 * final invoice gets its number.
 * @throws {ServiceError} resource_not_found, invoice_not_accepted, deposit_not_deductible; internal_error (503), also
 *   while another request with the same key is under way
 */
export async function takeDeposits(
  invoices: DepositInvoices,
  owner: Member,
  request: DepositRequest & { readonly finalId: string },
  now: () => Date,
): Promise<TakenDeposits> {
  const taken = new Map<string, Taken>();
  const giveBack = async () => {
    if ((await invoices.correctionStatesOf([request.finalId])).size > 0) return;
    for (const { deposit, before } of taken.values())
      await invoices.keepCredits(deposit, deposit.credits.version + 1, before);
  };
  try {
    // In the same order for all requests, so that one of several invoices with the same deposits gets all of them.
    for (const id of request.depositIds.toSorted())
      taken.set(id, await takeDeposit(invoices, owner, request, request.depositIds.indexOf(id), now));
  } catch (error) {
    await giveBack().catch(() => undefined);
    throw error;
  }
  return { deposits: request.depositIds.flatMap((id) => taken.get(id)?.deducted ?? []), giveBack };
}

interface Taken {
  /** As it was read. */
  readonly deposit: NumberedInvoice;
  readonly deducted: DeductedDeposit;
  /** The shares that the deposit kept before. */
  readonly before: readonly KeptCredit[];
}

function takeDeposit(
  invoices: DepositInvoices,
  owner: Member,
  request: DepositRequest & { readonly finalId: string },
  index: number,
  now: () => Date,
): Promise<Taken> {
  const find = () => depositOf(invoices, owner, request, request.depositIds[index] ?? '', index);
  return keeping(invoices, find, now, (deposit, counted, states) => {
    const { others, inherited, ...share } = shareOf(deposit, counted, states, request, index, now());
    const own = counted.find(({ creditNoteId }) => creditNoteId === request.finalId);
    if (own && !isSame(own, share)) {
      const message = 'Another request with this idempotency key is under way. Send this one again later.';
      throw new ServiceError([{ ...problem('internal_error', message), status: 503 }]);
    }
    const kept = {
      creditNoteId: request.finalId,
      at: now(),
      ...share,
      ...(inherited && request.insteadOf !== null && { insteadOf: request.insteadOf }),
    };
    const result = { deposit, deducted: deductedOf(deposit, share), before: counted };
    return { list: [...others, kept], result };
  });
}

/**
 * Makes sure that the deposits keep the shares of a stored final invoice. They may be missing if more than five minutes
 * passed before it was stored.
 * @returns false if a deposit no longer has that much left
 */
export async function confirmDeposits(
  invoices: DepositInvoices,
  { id, deduction }: Pick<Invoice, 'id' | 'deduction'>,
  now: () => Date,
): Promise<boolean> {
  for (const { invoice, rates, amount } of deduction?.deposits ?? []) {
    const share = { rates, amount };
    const isKept = await keeping<Invoice | null, boolean>(
      invoices,
      () => invoices.find(invoice.id),
      now,
      (deposit, counted) => {
        const own = deposit?.credits.list.find((each) => each.creditNoteId === id && isSame(each, share));
        const others = counted.filter((each) => each.creditNoteId !== id);
        if (deposit === null || (own === undefined && !fits(deposit, others, share)))
          return { list: null, result: false };
        // Written even if it is kept: a process that read the list before this invoice was stored may be about to drop
        // it.
        return { list: placed(counted, { ...own, creditNoteId: id, at: now(), ...share }), result: true };
      },
    );
    if (!isKept) return false;
  }
  return true;
}

interface DepositShare extends CreditShare {
  /** The shares of other documents. */
  readonly others: readonly KeptCredit[];
  /** Whether it is the share of the invoice that the final invoice replaces. */
  readonly inherited: boolean;
}

/** @throws {ServiceError} deposit_not_deductible if nothing is left */
function shareOf(
  deposit: NumberedInvoice,
  counted: readonly KeptCredit[],
  states: TakerStates,
  { finalId, insteadOf }: DepositRequest,
  index: number,
  now: Date,
): DepositShare {
  const isOf = (share: KeptCredit, id: string | null) =>
    id !== null && (share.creditNoteId === id || share.insteadOf === id);
  // Exactly the share of the replaced invoice passes on: if this invoice is rejected, the replaced one has it again.
  const before = counted.find(
    (share) =>
      isOf(share, insteadOf) &&
      ([finalId, insteadOf].includes(share.creditNoteId) ||
        !isDeducting(deposit.id, share.creditNoteId, states, share.at, now)),
  );
  const others = counted.filter((share) => share !== before && share.creditNoteId !== finalId);
  if (before) return { rates: before.rates, amount: before.amount, others, inherited: true };
  const left = leftOf(deposit, others);
  if (left.rates.length > 0 && others.length < MOST_SHARES) return { ...left, others, inherited: false };
  const final = others.find(isDeduction);
  const why = final
    ? `it is deducted in invoice ${final.creditNoteId} already, or about to be. It can be deducted again once that invoice is rejected, replaced or credited completely`
    : 'nothing is left of it: it is credited completely, or has too many credit notes';
  throw refusal(index, `Deposit invoice ${deposit.number} cannot be deducted: ${why}.`);
}

function deductedOf(deposit: NumberedInvoice, { rates, amount }: CreditShare): DeductedDeposit {
  return { invoice: originalOf(deposit), rates, amount };
}

/** Finds a deposit invoice of the same customer. @throws {ServiceError} */
async function depositOf(
  invoices: Pick<InvoiceReading, 'find'>,
  owner: Member,
  { customer }: DepositRequest,
  id: string,
  index: number,
): Promise<NumberedInvoice> {
  const deposit = await findOwnInvoice(invoices, owner, id, paramOf(index));
  if (!deposit.isDeposit) throw refusal(index, `Invoice ${id} is not a deposit invoice.`);
  const differences = differencesOf(deposit.customer, customer);
  if (differences.length > 0) throw refusal(index, anotherCustomer(deposit, differences));
  if (isAccepted(deposit)) return deposit;
  const message = `Deposit invoice ${id} is ${deposit.status}. Only an accepted one can be deducted.`;
  throw new ServiceError([problem('invoice_not_accepted', message, paramOf(index))]);
}

/** Says what differs, without the data of a customer that only some callers may see. */
function anotherCustomer({ id, customer: { kind, name } }: Invoice, differences: readonly string[]): string {
  const message = `Deposit invoice ${id} is of another customer: ${name}. There, customer has another ${differences.join(', ')}.`;
  if (kind === 'company' || differences.includes('kind')) return message;
  return `${message} Customers without an ICE are the same only if name, country, taxNumber, email and address are.`;
}

function refusal(index: number, message: string): ServiceError {
  return new ServiceError([problem('deposit_not_deductible', message, paramOf(index))]);
}

function paramOf(index: number): string {
  return `deposits.${index}`;
}
