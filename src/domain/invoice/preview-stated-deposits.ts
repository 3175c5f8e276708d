import type { Member } from '../principal.ts';
import type { AskedCustomer } from './customer-key.ts';
import { type DepositInvoices, type DepositsPreview, previewDeposits } from './take-deposits.ts';

/** The parts of a draft that determine what it deducts. */
interface StatedDeposits {
  readonly deposits?: readonly string[] | null | undefined;
  readonly customer?: AskedCustomer | null | undefined;
}

/**
 * Returns what an invoice that is not created yet would deduct now. Null if it names no deposits, or its customer is
 * not stated: then it is not known whose deposits may be deducted. Nothing is written.
 */
export async function previewStatedDeposits(
  invoices: Pick<DepositInvoices, 'find' | 'correctionStatesOf'>,
  owner: Member,
  { deposits: depositIds, customer }: StatedDeposits,
  now: Date,
): Promise<DepositsPreview | null> {
  if (!depositIds || customer?.name === undefined) return null;
  return previewDeposits(invoices, owner, { finalId: null, insteadOf: null, depositIds, customer }, now);
}
