import type { Db } from 'mongodb';
import type { KeptCredit, Original } from '../domain/invoice/credit.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { presentTenants } from './present-documents.ts';

/** The fields of a document that say which invoice it corrects. */
export const CREDITING_FIELDS = ['credit.original.id'] as const;

export type Crediting = Pick<InvoiceDocument, '_id' | 'tenantId' | 'status'> & {
  readonly credit?: { readonly original: Pick<Original, 'id'> };
};

interface Credited {
  readonly _id: string;
  readonly credits?: { readonly list: readonly Pick<KeptCredit, 'creditNoteId'>[] };
}

/**
 * Returns the credit notes whose shares their invoices do not keep, so that the invoice could be credited twice. A
 * pending one may not be kept yet, and a rejected one takes nothing. Skips erased tenants, because an erasure removes
 * an invoice before its credit notes or after them.
 */
export async function unkeptCredits(
  db: Db,
  documents: readonly Crediting[],
): Promise<{ readonly id: string; readonly text: string }[]> {
  const notes = documents.flatMap(({ _id, tenantId, status, credit }) => {
    const originalId = credit?.original.id ?? null;
    return originalId === null || status === 'pending' || status === 'rejected' ? [] : [{ _id, tenantId, originalId }];
  });
  if (notes.length === 0) return [];
  const invoices = db.collection<Credited>('invoices');
  const found = await invoices
    .find(
      { _id: { $in: notes.map(({ originalId }) => originalId) } },
      { projection: { 'credits.list.creditNoteId': 1 } },
    )
    .toArray();
  const kept = new Map(found.map(({ _id, credits }) => [_id, credits?.list.map(({ creditNoteId }) => creditNoteId)]));
  const faulty = notes.filter(({ _id, originalId }) => !kept.get(originalId)?.includes(_id));
  if (faulty.length === 0) return [];
  // Read last: an erasure marks its tenant before it removes anything.
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, originalId }) => ({
      id: _id,
      text: kept.has(originalId)
        ? `its invoice ${originalId} does not keep its share`
        : `its invoice ${originalId} does not exist`,
    }));
}
