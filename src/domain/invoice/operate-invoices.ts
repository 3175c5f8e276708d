import { type AuditPlace, INSTALLATION } from '../audit-entry.ts';
import type { LedgerCopy } from '../authority/reconciliation.ts';
import { serviceError } from '../errors.ts';
import type { OperatorChange, OperatorUseCase } from '../use-case.ts';
import { type Abandonment, createAbandonInvoice } from './abandon-invoice.ts';
import type { Invoice } from './invoice.ts';
import { calledById, isDocumentId } from './kinds.ts';
import type { InvoiceReading, InvoiceTransitions } from './repository.ts';

interface Needs {
  readonly invoices: Pick<InvoiceReading, 'find' | 'findEvenWithheld'> &
    Pick<InvoiceTransitions, 'retryNow' | 'changeWaiting'>;
  readonly ledgerCopy: Pick<LedgerCopy, 'find'>;
  readonly now: () => Date;
}

/** What operators do with invoices and credit notes of all tenants. */
export const INVOICE_OPERATIONS = {
  /**
   * Makes an invoice's work due now.
   * @throws {ServiceError} resource_not_found; invalid_request if its processing has ended
   */
  retryInvoice: {
    audit: 'invoice.retried',
    async run({ invoices }: Needs, { record }: OperatorChange, invoiceId: string): Promise<void> {
      const invoice = isDocumentId(invoiceId) ? await invoices.find(invoiceId) : null;
      const isDue = isDocumentId(invoiceId) && (await invoices.retryNow(invoiceId));
      const called = calledById(invoiceId);
      if (!isDue && invoice === null)
        throw serviceError('resource_not_found', `There is no ${called} '${invoiceId}'.`, 'invoice');
      if (!isDue) throw serviceError('invalid_request', `The processing of this ${called} has ended.`, 'invoice');
      await record(placeOf(invoice), { subject: invoiceId });
    },
  },

  /**
   * Rejects an invoice whose id the authority holds with another document. An abandoned one is not changed.
   * @param reason one line, which clients see
   * @throws {NotAbandoned}
   */
  abandonInvoice: {
    audit: 'invoice.abandoned',
    async run(
      { invoices, ledgerCopy, now }: Needs,
      { record }: OperatorChange,
      invoiceId: string,
      reason: string,
    ): Promise<Abandonment> {
      const abandonment = await createAbandonInvoice(invoices, ledgerCopy, now)(invoiceId, reason);
      if (abandonment.isNew)
        await record(placeOf(await invoices.find(invoiceId)), { subject: invoiceId, details: { reason } });
      return abandonment;
    },
  },
} as const satisfies Readonly<Record<string, OperatorUseCase>>;

/**
 * The invoice of an erased tenant is still processed, but cannot be found, and the log of the tenant no longer exists.
 * The entry then goes to the installation's log.
 */
function placeOf(invoice: Pick<Invoice, 'tenantId' | 'environment'> | null): AuditPlace {
  return invoice ? { tenantId: invoice.tenantId, environment: invoice.environment } : { tenantId: INSTALLATION };
}
