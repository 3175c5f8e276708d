import type { Document } from 'mongodb';
import type { Credit } from '../domain/invoice/credit.ts';
import { DOCUMENT_FIELDS } from '../domain/invoice/documents.ts';
import { moroccanYear } from '../domain/morocco/time.ts';
import type { KeptInvoice } from '../domain/tenant-data/erasure.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';

/** The collection of the invoices of erased tenants, reduced to what the law requires to keep. */
export const KEPT_COLLECTION = 'kept_invoices';

/** The fields of an invoice that are kept, with the same names as in the collection of invoices. */
const KEPT_FIELDS = [
  '_id',
  'tenantId',
  'environment',
  'kind',
  'status',
  'series',
  'ownNumber',
  'dgiId',
  'rejectionReason',
  'problems',
  'authorityWarnings',
  'heldAs',
  'createdAt',
  'updatedAt',
  'events',
  'awaitsCleared',
  ...DOCUMENT_FIELDS,
] as const satisfies readonly (keyof InvoiceDocument)[];

type KeptFields = Pick<InvoiceDocument, (typeof KEPT_FIELDS)[number]> & {
  /** Absent for an invoice. Without the reason in words, which may contain anything about the buyer. */
  credit?: Pick<Credit, 'original'>;
};

/** A kept invoice. It refers to its PDF until the PDF is removed. */
export type KeptDocument = KeptFields & {
  issueYear: number;
  keptThrough: number;
};

export const KEPT_PROJECTION: Document = Object.fromEntries(
  [...KEPT_FIELDS, 'credit.original'].map((field) => [field, 1]),
);

/** @param invoice read with {@link KEPT_PROJECTION} */
export function keptDocument(invoice: KeptFields, retentionYears: number): KeptDocument {
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
  const { id, tenantId, environment, kind, credit, status, number, ownNumber, dgiId, rejectionReason, problems } =
    invoice;
  const { authorityWarnings, heldAs, createdAt, updatedAt, events, xml, receipt, cleared } = invoice;
  return {
    id,
    tenantId,
    environment,
    kind,
    original: credit?.original ?? null,
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
