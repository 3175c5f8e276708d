import { DOCUMENT_FIELDS, type DocumentField } from '../invoice/documents.ts';
import { answeredFields, restWriter } from '../invoice/field-table.ts';
import { INVOICE } from '../invoice/fields.ts';
import type { Invoice, StoredDocument } from '../invoice/invoice.ts';
import type { DocumentStore } from '../invoice/repository.ts';
import { DOCUMENT_NAMES, documentFolder } from './export-paths.ts';
import type { ExportTarget } from './ports.ts';

const writeAnswer = restWriter(answeredFields(INVOICE));

/** A document in an export. */
interface ExportedDocument extends Pick<StoredDocument, 'sha256' | 'size'> {
  readonly kind: DocumentField;
  readonly path: string;
}

type Documented = Pick<Invoice, 'id' | 'environment' | 'createdAt' | 'number' | 'ownNumber' | DocumentField>;

/**
 * Writes the stored documents of an invoice.
 * @throws when the stored bytes are not those that the invoice names
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
 * An invoice as REST answers it, with paths of the export as the URLs of its documents, and in `details` what REST does
 * not show.
 */
export function exportedInvoice(invoice: Invoice, documents: readonly ExportedDocument[]): Record<string, unknown> {
  const pathOf = (kind: DocumentField) => documents.find((each) => each.kind === kind)?.path ?? null;
  const isAccepted = invoice.status === 'accepted';
  const legal = invoice.cleared === null ? 'xml' : 'cleared';
  const urls = isAccepted ? { xml: { url: pathOf(legal) }, pdf: { url: pathOf('pdf') } } : null;
  const { id, ...answer } = writeAnswer({ ...invoice, documents: urls });
  const { number, environment, customer, seller, terms, events, email } = invoice;
  const { problems, authorityWarnings, authorityAttempts, heldAs } = invoice;
  const details = {
    ...{ number, environment, customer, seller, terms, events, email },
    ...{ problems, authorityWarnings, authorityAttempts, heldAs, documents },
  };
  return { id, object: 'invoice', ...answer, details };
}
