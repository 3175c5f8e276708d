import type { DocumentStore } from '../invoice/document-store.ts';
import { DOCUMENT_FIELDS, type DocumentField } from '../invoice/documents.ts';
import { answeredFields, type Field, isAnswered, restWriter, type Stored } from '../invoice/field-table.ts';
import { INVOICE } from '../invoice/fields.ts';
import type { Invoice, StoredDocument } from '../invoice/invoice.ts';
import { DOCUMENT_NAMES, documentFolder } from './export-paths.ts';
import type { ExportTarget } from './ports.ts';

const writeAnswer = restWriter(answeredFields(INVOICE));

/** The fields of the contract that REST does not answer completely. An export has them in `details`, as stored. */
const NOT_ANSWERED = Object.entries<Field>(INVOICE.fields).flatMap(([name, field]) =>
  isWhollyAnswered(field) || field.inputOnly ? [] : [name],
);

function isWhollyAnswered(field: Field): boolean {
  const within = 'record' in field ? field.record : 'list' in field ? field.list : null;
  return isAnswered(field) && (within === null || Object.values<Field>(within.fields).every(isWhollyAnswered));
}

/**
 * The place of each field of processing in an export. The compiler requires an entry for each stored field. `details`:
 * in the export's `details`; `documents`: as files; `left_out`: useful in this store only.
 */
const OF_PROCESSING = {
  tenantId: 'left_out',
  kind: 'details',
  credit: 'details',
  deduction: 'details',
  credits: 'details',
  replaces: 'details',
  replacedBy: 'details',
  seller: 'details',
  ownNumber: 'details',
  events: 'details',
  xml: 'documents',
  pdf: 'documents',
  receipt: 'documents',
  cleared: 'documents',
  // This field is part of the URLs that open documents.
  documentRevision: 'left_out',
  email: 'details',
  authorityAttempts: 'details',
  heldAs: 'details',
  problems: 'details',
  authorityWarnings: 'details',
  awaitsCleared: 'details',
  work: 'left_out',
  traceparent: 'left_out',
} as const satisfies Record<Exclude<keyof Invoice, keyof Stored<typeof INVOICE>>, 'details' | 'documents' | 'left_out'>;

/** The fields of an invoice in `details`, by the domain's names. */
const DETAILS = [
  ...NOT_ANSWERED,
  ...Object.entries(OF_PROCESSING).flatMap(([name, place]) => (place === 'details' ? [name] : [])),
] as readonly (keyof Invoice)[];

/** A document in an export. */
interface ExportedDocument extends Pick<StoredDocument, 'sha256' | 'size'> {
  readonly kind: DocumentField;
  readonly path: string;
}

type Documented = Pick<Invoice, 'id' | 'environment' | 'createdAt' | 'number' | 'ownNumber' | DocumentField>;

/**
 * Writes the stored documents of an invoice into an export.
 * @throws when the stored bytes do not match the invoice's digests
 */
export async function exportDocuments(
  invoice: Documented,
  documents: Pick<DocumentStore, 'read'>,
  target: Pick<ExportTarget, 'write'>,
): Promise<ExportedDocument[]> {
  const written: ExportedDocument[] = [];
  for (const kind of DOCUMENT_FIELDS) {
    const stored = invoice[kind];
    if (stored === null) continue;
    const { sha256, size } = stored;
    const path = `${documentFolder(invoice)}/${DOCUMENT_NAMES[kind]}`;
    const file = await target.write(path, documents.read(stored));
    if (file.sha256 !== sha256 || file.bytes !== size)
      throw new Error(`The bytes of ${kind} of invoice ${invoice.id} are damaged: run the command check.`);
    written.push({ kind, path, sha256, size });
  }
  return written;
}

/**
 * Converts an invoice to REST's form, with paths within the export as the URLs of its documents. `details` contains
 * what REST does not show.
 */
export function exportedInvoice(invoice: Invoice, documents: readonly ExportedDocument[]): Record<string, unknown> {
  const pathOf = (kind: DocumentField) => documents.find((each) => each.kind === kind)?.path ?? null;
  const isAccepted = invoice.status === 'accepted';
  const legal = invoice.cleared === null ? 'xml' : 'cleared';
  const urls = isAccepted ? { xml: { url: pathOf(legal) }, pdf: { url: pathOf('pdf') } } : null;
  const { id, ...answer } = writeAnswer({ ...invoice, documents: urls });
  const details = { ...Object.fromEntries(DETAILS.map((name) => [name, invoice[name]])), documents };
  return { id, object: invoice.kind, ...answer, details };
}
