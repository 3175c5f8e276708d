import type { Document } from 'mongodb';
import { DOCUMENT_FIELDS } from '../domain/invoice/documents.ts';
import { moroccanYear } from '../domain/morocco/time.ts';
import type { KeptInvoice } from '../domain/tenant-data/erasure.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';

/** The collection with what the law requires to keep of the invoices of erased tenants. */
export const KEPT_COLLECTION = 'kept_invoices';

/** The fields of an invoice that are kept, with the same names as in the collection of invoices. */
const KEPT_FIELDS = [
  ...(['_id', 'tenantId', 'environment', 'status', 'series', 'ownNumber', 'dgiId', 'rejectionReason'] as const),
  ...(['problems', 'authorityWarnings', 'heldAs', 'createdAt', 'updatedAt', 'events', 'awaitsCleared'] as const),
  ...DOCUMENT_FIELDS,
] as const satisfies readonly (keyof InvoiceDocument)[];

/** A kept invoice. It refers to its PDF until the PDF is removed. */
export type KeptDocument = Pick<InvoiceDocument, (typeof KEPT_FIELDS)[number]> & {
  issueYear: number;
  keptThrough: number;
};

export const KEPT_PROJECTION: Document = Object.fromEntries(KEPT_FIELDS.map((field) => [field, 1]));

/** @param invoice read with {@link KEPT_PROJECTION} */
export function keptDocument(
  invoice: Pick<InvoiceDocument, (typeof KEPT_FIELDS)[number]>,
  retentionYears: number,
): KeptDocument {
  const issueYear = moroccanYear(invoice.createdAt);
  return { ...invoice, issueYear, keptThrough: issueYear + retentionYears };
}

export function keptOf({ issueYear, keptThrough, ...stored }: KeptDocument): KeptInvoice {
  // Only the kept fields are used below: the document has no others.
  const invoice = invoiceOf({
    ...stored,
    metadata: [],
    customer: {},
    lines: [],
    seller: {},
  } as unknown as InvoiceDocument);
  const { id, tenantId, environment, status, number, ownNumber, dgiId, rejectionReason, problems } = invoice;
  const { authorityWarnings, heldAs, createdAt, updatedAt, events, xml, receipt, cleared } = invoice;
  return {
    id,
    tenantId,
    environment,
    status,
    number,
    ownNumber,
    dgiId,
    rejectionReason,
    problems,
    issueYear,
    keptThrough,
    authorityWarnings,
    heldAs,
    createdAt,
    updatedAt,
    events,
    xml,
    receipt,
    cleared,
  };
}
