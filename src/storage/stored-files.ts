import type { Collection, Db, ObjectId } from 'mongodb';
import { DOCUMENTS } from '../domain/invoice/documents.ts';
import { DOCUMENTS_BUCKET } from './documents.ts';

interface FileEntry {
  _id: ObjectId;
  filename: string;
}

/** The collections of the document store. */
export interface FileCollections {
  readonly files: Collection<FileEntry>;
  readonly chunks: Collection<{ _id: ObjectId; files_id: ObjectId }>;
}

export function fileCollections(db: Pick<Db, 'collection'>): FileCollections {
  return { files: db.collection(`${DOCUMENTS_BUCKET}.files`), chunks: db.collection(`${DOCUMENTS_BUCKET}.chunks`) };
}

const SUFFIXES = [...new Set(Object.values(DOCUMENTS).map(({ suffix }) => suffix))];

/**
 * Returns the names under which documents of these invoices may be stored, including documents that no invoice refers
 * to.
 */
export function fileNames(invoiceIds: readonly string[], isWanted: (suffix: string) => boolean = () => true): string[] {
  return invoiceIds.flatMap((id) => SUFFIXES.filter(isWanted).map((suffix) => `${id}.${suffix}`));
}

/**
 * Removes the files with these names. The chunks go first: after a crash in between, the next call finds the file by
 * its entry.
 */
export async function removeFiles({ files, chunks }: FileCollections, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const found = await files.find({ filename: { $in: [...names] } }, { projection: { _id: 1 } }).toArray();
  const ids = found.map(({ _id }) => _id);
  if (ids.length === 0) return;
  await chunks.deleteMany({ files_id: { $in: ids } });
  await files.deleteMany({ _id: { $in: ids } });
}
