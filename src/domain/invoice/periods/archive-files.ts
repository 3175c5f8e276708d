import { moroccanClock } from '../../morocco/time.ts';
import { legalXml } from '../documents.ts';
import type { StoredDocument } from '../invoice.ts';
import { documentFileName } from '../legal-invoice.ts';
import type { FiledDocument } from './ports.ts';

/** The files of a document in an archive: its legal XML and its PDF. */
const ARCHIVED = ['xml', 'pdf'] as const;

/** A file of an archive. */
export interface ArchivedFile {
  readonly documentId: string;
  readonly kind: (typeof ARCHIVED)[number];
  /** Of ASCII characters: `2026-11/facture-2026-000123.pdf`. */
  readonly path: string;
  /** The creation of the document in Morocco's local time, whose parts are stored as if in UTC. */
  readonly modified: Date;
  /** Null while it does not exist. */
  readonly stored: StoredDocument | null;
}

/**
 * Returns the files of a document. A name made from a client's own number also contains the document's id, because such
 * numbers may differ only in case, or in characters that a file name cannot contain.
 * @param folder the folder of all files
 */
export function archivedFiles(folder: string, document: FiledDocument): ArchivedFile[] {
  const { id, kind, createdAt, number, ownNumber } = document;
  const stored = { xml: legalXml(document), pdf: document.pdf };
  const named = ownNumber === null ? (number ?? id) : `${ownNumber}_${id}`;
  return ARCHIVED.map((each) => ({
    documentId: id,
    kind: each,
    path: `${folder}/${documentFileName(kind, named, each)}`,
    modified: moroccanClock(createdAt),
    stored: stored[each],
  }));
}

/** The header of the manifest, a CSV file that is the same in every language. */
export const MANIFEST_HEAD = 'file,sha256,bytes,id,missing\r\n';

/** Returns a file's line in the manifest. None of its values needs quotes. */
export function manifestLine({ path, stored, documentId, kind }: ArchivedFile): string {
  const facts = stored === null ? `,,${documentId},${MISSING[kind]}` : `${stored.sha256},${stored.size},${documentId},`;
  return `${path},${facts}\r\n`;
}

/** Why a file is missing. */
const MISSING = { xml: 'not_returned_by_the_authority', pdf: 'not_rendered_yet' } as const;
