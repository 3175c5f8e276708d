import type { Collection, Filter } from 'mongodb';
import type { CreditKeeping } from '../domain/invoice/credit-keeping.ts';
import type { Invoice } from '../domain/invoice/invoice.ts';
import { FINAL_STATUSES } from '../domain/invoice/lifecycle.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** Stores in an invoice which shares of it credit notes take, and which invoice replaces it. */
export function creditKeepingOf(invoices: Collection<InvoiceDocument>): CreditKeeping {
  /** Changes an invoice if it meets a condition. @returns whether it met the condition */
  async function change(
    { id, tenantId, environment }: Pick<Invoice, 'id' | 'tenantId' | 'environment'>,
    condition: object,
    $set: object,
  ): Promise<boolean> {
    const asRead = { _id: id, tenantId, environment, kind: 'invoice', ...condition } as Filter<InvoiceDocument>;
    const { matchedCount } = await invoices.updateOne(asRead, { $set }, { hint: { _id: 1 } });
    return matchedCount > 0;
  }

  return {
    keepCredits(invoice, version, list) {
      const condition = { status: 'accepted', 'credits.version': version === 0 ? { $exists: false } : version };
      return change(invoice, condition, { credits: { version: version + 1, list } });
    },

    keepReplacement(invoice, link) {
      const version = invoice.replacedBy?.version ?? 0;
      const condition = {
        status: { $in: FINAL_STATUSES },
        'replacedBy.version': version === 0 ? { $exists: false } : version,
      };
      return change(invoice, condition, { replacedBy: { ...link, version: version + 1 } });
    },

    async correctionStatesOf(ids) {
      const found = invoices.find({ _id: { $in: [...ids] } }, { hint: { _id: 1 } });
      const fields = {
        status: 1,
        rejectionReason: 1,
        'credit.original.id': 1,
        'replaces.invoice.id': 1,
        'replaces.credited': 1,
        'deduction.rates': 1,
        'deduction.deposits.invoice.id': 1,
        'credits.list.creditNoteId': 1,
        'credits.list.rates': 1,
      } as const;
      type Row = Pick<
        InvoiceDocument,
        '_id' | 'status' | 'rejectionReason' | 'credit' | 'replaces' | 'deduction' | 'credits'
      >;
      const rows = await found.project<Row>(fields).toArray();
      return new Map(
        rows.map(({ _id, status, rejectionReason, credit, replaces, deduction, credits }) => {
          const originalId = credit?.original.id ?? null;
          const replaced = replaces && {
            invoiceId: replaces.invoice.id,
            creditNoteId: replaces.credited?.creditNoteId ?? null,
          };
          const deducts = deduction && {
            depositIds: deduction.deposits.map(({ invoice }) => invoice.id),
            rates: deduction.rates,
            credits: credits?.list ?? [],
          };
          return [_id, { status, rejectionReason, originalId, replaces: replaced ?? null, deduction: deducts ?? null }];
        }),
      );
    },
  };
}
