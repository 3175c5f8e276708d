import { moroccanDate } from '../morocco/time.ts';
import { completedProfile } from '../tenant/tenant.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { Invoice } from './invoice.ts';
import { KINDS, type Kind } from './kinds.ts';
import type { LegalInvoice } from './ports.ts';
import type { Replaces } from './replacement.ts';
import { type LegalTerms, NO_TERMS, termsOf } from './terms.ts';
import { totalsOfInvoice } from './totals.ts';

/**
 * Returns a document's file name, such as `facture-2026-000123.pdf` or `avoir-AV-2026-000123.pdf`. Other characters of
 * a client's own number become `_`.
 */
export function documentFileName(kind: Kind, number: string, document: DocumentKind): string {
  return DOCUMENTS[document].fileName(KINDS[kind].fileName, number.replaceAll(/[^\w.-]/g, '_'));
}

/**
 * Returns the content of an invoice's legal document with this number. It depends only on the stored invoice, so it is
 * always the same.
 */
export function legalInvoice(invoice: Invoice, number: string): LegalInvoice {
  const totals = totalsOfInvoice(invoice);
  const { seller, specimen } = completedProfile(invoice.seller);
  return {
    id: invoice.id,
    kind: invoice.kind,
    isDeposit: invoice.isDeposit ?? false,
    deduction: invoice.deduction,
    credit: invoice.credit,
    replaces: invoice.replaces && namedReplaced(invoice.replaces),
    tenantId: invoice.tenantId,
    environment: invoice.environment,
    number,
    issueDate: moroccanDate(invoice.createdAt),
    terms: legalTerms(invoice, number),
    currency: invoice.currency,
    seller,
    specimen,
    customer: invoice.customer,
    lines: invoice.lines,
    totals,
    amount: invoice.amount,
    references: invoice.references,
    servicePeriod: invoice.servicePeriod,
    foreignValue: invoice.foreignValue,
    withholding: invoice.withholding,
  };
}

/** Documents name only invoices that can be found, so none that was rejected before it got its number. */
export function namedReplaced({ invoice: { number, ...invoice } }: Replaces): LegalInvoice['replaces'] {
  return number === null ? null : { ...invoice, number };
}

/** A credit note asks for no payment, so it has only the payment mode of the seller. */
function legalTerms(invoice: Invoice, number: string): LegalTerms {
  const terms = termsOf({ ...invoice, number });
  return invoice.kind === 'invoice' ? terms : { ...NO_TERMS, paymentMode: terms.paymentMode };
}
