import type { Collection, Filter } from 'mongodb';
import type { CreditKeeping } from '../domain/invoice/repository.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** Keeps with an invoice which shares of it credit notes take. */
export function creditKeepingOf(invoices: Collection<InvoiceDocument>): CreditKeeping {
  return {
    async keepCredits({ id, tenantId, environment }, version, list) {
      const asRead = {
        _id: id,
        tenantId,
        environment,
        kind: 'invoice',
        status: 'accepted',
        'credits.version': version === 0 ? { $exists: false } : version,
      } as Filter<InvoiceDocument>;
      const credits = { version: version + 1, list };
      const { matchedCount } = await invoices.updateOne(asRead, { $set: { credits } }, { hint: { _id: 1 } });
      return matchedCount > 0;
    },

    async creditStatesOf(ids) {
      const found = invoices.find({ _id: { $in: [...ids] } }, { hint: { _id: 1 } });
      const fields = { status: 1, rejectionReason: 1, 'credit.original.id': 1 } as const;
      type Row = Pick<InvoiceDocument, '_id' | 'status' | 'rejectionReason' | 'credit'>;
      const rows = await found.project<Row>(fields).toArray();
      return new Map(
        rows.map(({ _id, status, rejectionReason, credit }) => {
          return [_id, { status, rejectionReason, originalId: credit?.original.id ?? null }];
        }),
      );
    },
  };
}
