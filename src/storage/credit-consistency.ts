import type { Db } from 'mongodb';
import type { KeptCredit, Original } from '../domain/invoice/credit.ts';
import type { KeptReplacement, Replaced } from '../domain/invoice/replacement.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { presentTenants } from './present-documents.ts';

/** The fields of a document that say which invoice it corrects. */
export const CORRECTING_FIELDS = ['credit.original.id', 'replaces.invoice.id'] as const;

export type Correcting = Pick<InvoiceDocument, '_id' | 'tenantId' | 'status'> & {
  readonly credit?: { readonly original: Pick<Original, 'id'> };
  readonly replaces?: { readonly invoice: Pick<Replaced, 'id'> };
};

interface Corrected {
  readonly _id: string;
  readonly credits?: { readonly list: readonly Pick<KeptCredit, 'creditNoteId'>[] };
  readonly replacedBy?: Pick<KeptReplacement, 'invoiceId'>;
}

/**
 * Returns the credit notes whose shares their invoices do not keep, so that the invoice could be credited twice, and the
 * invoices to which those that they replace have no link, so that these could be replaced twice. What is pending may
 * not be kept yet, and what is rejected takes nothing. Skips erased tenants, because an erasure removes an invoice
 * before its corrections or after them.
 */
export async function unkeptCorrections(
  db: Db,
  documents: readonly Correcting[],
): Promise<{ readonly id: string; readonly text: string }[]> {
  const corrections = documents.flatMap(({ _id, tenantId, status, credit, replaces }) => {
    const originalId = credit?.original.id ?? replaces?.invoice.id ?? null;
    if (originalId === null || status === 'pending' || status === 'rejected') return [];
    return [{ _id, tenantId, originalId, isCredit: credit !== undefined }];
  });
  if (corrections.length === 0) return [];
  const found = await db
    .collection<Corrected>('invoices')
    .find(
      { _id: { $in: corrections.map(({ originalId }) => originalId) } },
      { projection: { 'credits.list.creditNoteId': 1, 'replacedBy.invoiceId': 1 } },
    )
    .toArray();
  const corrected = new Map(found.map((each) => [each._id, each]));
  const faulty = corrections.filter(({ _id, originalId, isCredit }) => {
    const { credits, replacedBy } = corrected.get(originalId) ?? {};
    return isCredit ? !credits?.list.some(({ creditNoteId }) => creditNoteId === _id) : replacedBy?.invoiceId !== _id;
  });
  if (faulty.length === 0) return [];
  // Read last: an erasure marks its tenant before it removes anything.
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, originalId, isCredit }) => {
      const missing = isCredit ? 'does not keep its share' : 'has no link to it';
      return { id: _id, text: `its invoice ${originalId} ${corrected.has(originalId) ? missing : 'does not exist'}` };
    });
}
