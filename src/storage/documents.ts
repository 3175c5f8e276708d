import { createHash } from 'node:crypto';
import { Binary, type Db, GridFSBucket, ObjectId } from 'mongodb';
import { createGroup, type Outcome, type Through } from '../domain/grouped.ts';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import type { DocumentRange, DocumentStore } from '../domain/invoice/repository.ts';
import { insertEach } from './insert-each.ts';

/** Large enough for nearly every document, to save round trips, and below MongoDB's limit of 16 MB per document. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Maximum number of documents in a group, and of their bytes together; a larger document goes alone. */
const GROUP = { maxItems: 64, maxWeight: CHUNK_BYTES } as const;

export const DOCUMENTS_BUCKET = 'documents';

/** An entry of GridFS's collection `files`. */
interface FileEntry {
  readonly _id: ObjectId;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
  readonly metadata: { readonly contentType: string };
}

/** An entry of GridFS's collection `chunks`. */
interface ChunkEntry {
  readonly _id: ObjectId;
  readonly files_id: ObjectId;
  /** Place of the chunk in its file, from 0. */
  readonly n: number;
  readonly data: Binary;
}

/** A file with its bytes. */
interface NewFile {
  readonly entry: FileEntry;
  readonly bytes: Uint8Array;
}

/**
 * The bytes of documents in GridFS, bucket `documents`. Files are immutable: a new version is a new file. Small documents
 * that are put at the same time are written together: first all their chunks, then the entries of the files whose chunks
 * are complete, so that an interrupted write leaves only chunks without a file, which are removed later.
 */
export function createDocumentStore(db: Db, background?: Through): DocumentStore {
  const bucket = new GridFSBucket(db, { bucketName: DOCUMENTS_BUCKET, chunkSizeBytes: CHUNK_BYTES });
  const files = db.collection<FileEntry>(`${DOCUMENTS_BUCKET}.files`);
  const chunks = db.collection<ChunkEntry>(`${DOCUMENTS_BUCKET}.chunks`);

  /** Writes the chunks of all files with one command. @returns the files' errors */
  async function writeChunks(given: readonly NewFile[]): Promise<ReadonlyMap<NewFile, unknown>> {
    const parts = given.flatMap((file) => chunksOf(file).map((chunk) => ({ file, chunk })));
    const outcomes = await insertEach(
      chunks,
      parts.map(({ chunk }) => chunk),
    );
    return errorsOf(
      parts.map(({ file }) => file),
      outcomes,
    );
  }

  const write = createGroup<NewFile, null>(
    async (given) => {
      const failed = new Map(await writeChunks(given));
      const complete = given.filter((file) => !failed.has(file));
      const outcomes = await insertEach(
        files,
        complete.map(({ entry }) => entry),
      );
      for (const [file, error] of errorsOf(complete, outcomes)) failed.set(file, error);
      return given.map((file) => (failed.has(file) ? { error: failed.get(file) } : { result: null }));
    },
    { ...GROUP, weightOf: ({ bytes }) => bytes.byteLength, ...(background && { through: background }) },
  );

  return {
    async put(bytes, name, contentType) {
      const entry: FileEntry = {
        ...{ _id: new ObjectId(), length: bytes.byteLength, chunkSize: CHUNK_BYTES },
        ...{ uploadDate: new Date(), filename: name, metadata: { contentType } },
      };
      await write({ entry, bytes });
      return {
        file: entry._id.toHexString(),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        size: bytes.byteLength,
      };
    },
    read: (document, range) => bucket.openDownloadStream(idOf(document), gridFsRange(range)),
    async get(document) {
      const parts: Uint8Array[] = [];
      for await (const part of bucket.openDownloadStream(idOf(document))) {
        parts.push(part as Uint8Array);
      }
      return Buffer.concat(parts);
    },
  };
}

/** The chunks of a file; none if it is empty. */
function chunksOf({ entry, bytes }: NewFile): ChunkEntry[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / CHUNK_BYTES) }, (_, n) => ({
    ...{ _id: new ObjectId(), files_id: entry._id, n },
    data: new Binary(bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES)),
  }));
}

/** The errors of those that have an outcome which is one. */
function errorsOf(given: readonly NewFile[], outcomes: readonly Outcome<null>[]): ReadonlyMap<NewFile, unknown> {
  return new Map(
    given.flatMap((file, index) => {
      const outcome = outcomes[index];
      return outcome && 'error' in outcome ? [[file, outcome.error] as const] : [];
    }),
  );
}

function idOf(document: StoredDocument): ObjectId {
  return ObjectId.createFromHexString(document.file);
}

/** The `end` of a GridFS range is exclusive. */
function gridFsRange(range: DocumentRange | undefined): { start: number; end: number } | undefined {
  return range && { start: range.first, end: range.last + 1 };
}
