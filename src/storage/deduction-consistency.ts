import type { Db } from 'mongodb';
import type { KeptCredit } from '../domain/invoice/credit.ts';
import type { DeductedDeposit } from '../domain/invoice/deduction.ts';
import { undoneOf } from '../domain/invoice/kept-shares.ts';
import { creditKeepingOf } from './credit-keeping.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { presentTenants } from './present-documents.ts';

/** The fields of an invoice that say which deposits it deducts. */
export const DEDUCTING_FIELDS = ['deduction.deposits.invoice.id'] as const;

export type Deducting = Pick<InvoiceDocument, '_id' | 'tenantId' | 'status'> & {
  readonly deduction?: { readonly deposits: readonly { readonly invoice: Pick<DeductedDeposit['invoice'], 'id'> }[] };
};

interface Deposit {
  readonly _id: string;
  readonly credits?: { readonly list: readonly Pick<KeptCredit, 'creditNoteId' | 'insteadOf'>[] };
}

/**
 * Returns the final invoices with a deposit that does not keep their deduction, so that it could be deducted or
 * credited again. Ignores pending invoices, whose deduction may not be kept yet, rejected ones, which deduct nothing,
 * and completely credited ones, whose deposits are free again. Skips erased tenants, because an erasure may remove an
 * invoice before or after those that deduct it.
 */
export async function unkeptDeductions(
  db: Db,
  documents: readonly Deducting[],
): Promise<{ readonly id: string; readonly text: string }[]> {
  const deductions = documents.flatMap(({ _id, tenantId, status, deduction }) =>
    status === 'pending' || status === 'rejected'
      ? []
      : (deduction?.deposits ?? []).map(({ invoice }) => ({ _id, tenantId, depositId: invoice.id })),
  );
  if (deductions.length === 0) return [];
  const invoices = db.collection<InvoiceDocument>('invoices');
  const found = await invoices
    .find({ _id: { $in: [...new Set(deductions.map(({ depositId }) => depositId))] } })
    .project<Deposit>({ 'credits.list.creditNoteId': 1, 'credits.list.insteadOf': 1 })
    .toArray();
  const deposits = new Map(found.map((each) => [each._id, each.credits?.list ?? []]));
  const unkept = deductions.filter(
    ({ _id, depositId }) =>
      !deposits.get(depositId)?.some(({ creditNoteId, insteadOf }) => creditNoteId === _id || insteadOf === _id),
  );
  if (unkept.length === 0) return [];
  const keeping = creditKeepingOf(invoices);
  const undone = await undoneOf(keeping, await keeping.correctionStatesOf(unkept.map(({ _id }) => _id)));
  const faulty = unkept.filter(({ _id }) => !undone.has(_id));
  if (faulty.length === 0) return [];
  // Read last: an erasure marks its tenant before it removes anything.
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, depositId }) => {
      const missing = deposits.has(depositId) ? 'does not keep its deduction' : 'does not exist';
      return { id: _id, text: `its deposit invoice ${depositId} ${missing}` };
    });
}
