import type { Db } from 'mongodb';
import { MINUTE_MS } from '../domain/durations.ts';
import type { KeptCredit, Original } from '../domain/invoice/credit.ts';
import { UNSTORED_MS } from '../domain/invoice/kept-shares.ts';
import { calledById } from '../domain/invoice/kinds.ts';
import type { KeptReplacement, Replaced } from '../domain/invoice/replacement.ts';
import { creditKeepingOf } from './credit-keeping.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { presentTenants } from './present-documents.ts';

/** The fields of a document that name the invoice it corrects. */
export const CORRECTING_FIELDS = ['credit.original.id', 'replaces.invoice.id'] as const;

export type Correcting = Pick<InvoiceDocument, '_id' | 'tenantId' | 'status'> & {
  readonly credit?: { readonly original: Pick<Original, 'id'> };
  readonly replaces?: { readonly invoice: Pick<Replaced, 'id'> };
};

/** The fields of an invoice that name the credit notes whose shares it keeps. */
export const KEEPING_FIELDS = ['creditNoteId', 'replacingId', 'insteadOf', 'at'].map((name) => `credits.list.${name}`);

export type Keeping = Pick<InvoiceDocument, '_id' | 'tenantId'> & {
  readonly credits?: {
    readonly list: readonly Pick<KeptCredit, 'creditNoteId' | 'replacingId' | 'insteadOf' | 'at'>[];
  };
};

/** How long a share without its credit note is no fault, milliseconds. Allows for clocks that differ. */
const UNSTORED_YET_MS = UNSTORED_MS + MINUTE_MS;

interface Corrected {
  readonly _id: string;
  readonly credits?: { readonly list: readonly Pick<KeptCredit, 'creditNoteId'>[] };
  readonly replacedBy?: Pick<KeptReplacement, 'invoiceId'>;
}

/**
 * Returns two kinds of faulty documents: credit notes whose share their invoice does not keep, so that the invoice
 * could be credited twice; and replacing invoices that the replaced invoice has no link to, so that it could be
 * replaced twice. Ignores pending documents, whose share may not be kept yet, and rejected ones, which take no share.
 * Skips erased tenants, because an erasure removes an invoice before or after its corrections.
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
  // Read last, because an erasure marks its tenant before it removes anything.
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, originalId, isCredit }) => {
      const missing = isCredit ? 'does not keep its share' : 'has no link to it';
      return { id: _id, text: `its invoice ${originalId} ${corrected.has(originalId) ? missing : 'does not exist'}` };
    });
}

/**
 * Returns the invoices that keep a share of a credit note or final invoice that does not exist. Either the document is
 * lost, or the request that took the share died before it stored the document; in the second case the share does not
 * count. Two kinds of shares are no fault: those whose credit note is still to be made for a replacing invoice, and
 * those taken for a rejected replacing invoice.
 */
export async function sharesOfNothing(
  db: Db,
  documents: readonly Keeping[],
): Promise<{ readonly id: string; readonly text: string }[]> {
  const old = Date.now() - UNSTORED_YET_MS;
  const shares = documents.flatMap(({ _id, tenantId, credits }) =>
    (credits?.list ?? []).filter(({ at }) => at.getTime() < old).map((share) => ({ _id, tenantId, ...share })),
  );
  if (shares.length === 0) return [];
  const { correctionStatesOf } = creditKeepingOf(db.collection<InvoiceDocument>('invoices'));
  const states = await correctionStatesOf(
    shares.flatMap(({ creditNoteId, replacingId, insteadOf }) => [
      creditNoteId,
      ...(replacingId ? [replacingId] : []),
      ...(insteadOf ? [insteadOf] : []),
    ]),
  );
  const faulty = shares.filter(({ creditNoteId, replacingId, insteadOf }) => {
    // The invoice from which the deduction was to be passed on still has it.
    if (insteadOf !== undefined && states.has(insteadOf)) return false;
    const replacing = replacingId === undefined ? undefined : states.get(replacingId);
    const isAwaited = replacing?.status === 'pending' || replacing?.status === 'rejected';
    return !states.has(creditNoteId) && !isAwaited;
  });
  if (faulty.length === 0) return [];
  const present = await presentTenants(db, [...new Set(faulty.map(({ tenantId }) => tenantId))]);
  return faulty
    .filter(({ tenantId }) => present.has(tenantId))
    .map(({ _id, creditNoteId }) => ({
      id: _id,
      text: `it keeps a share of ${calledById(creditNoteId)} ${creditNoteId}, which does not exist`,
    }));
}
