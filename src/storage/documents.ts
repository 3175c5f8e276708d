import { createHash } from 'node:crypto';
import { Binary, type Db, ObjectId } from 'mongodb';
import type { DocumentStore } from '../domain/invoice/document-store.ts';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import { createGroup, type Outcome, type Through } from '../domain/kit/group.ts';
import { insertEach } from './insert-each.ts';

/**
 * Large enough that nearly every document is one chunk, which saves round trips. A client that reads a larger document
 * slowly holds two chunks in memory.
 */
export const CHUNK_BYTES = 256 * 1024;
/** Maximum number of documents in a group, and of their bytes together. A larger document is written alone. */
const GROUP = { maxItems: 64, maxWeight: 4 * 1024 * 1024 } as const;

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
  /** Index of the chunk in its file, from 0. */
  readonly n: number;
  readonly data: Binary;
}

/** A document whose bytes a caller requests. */
interface WantedFile {
  readonly document: StoredDocument;
  readonly id: ObjectId;
}

/** A file with its bytes. */
interface NewFile {
  readonly entry: FileEntry;
  readonly bytes: Uint8Array;
}

/**
 * Stores the bytes of documents in GridFS, bucket `documents`. Files are immutable: a new version is a new file. Small
 * documents that are put at the same time are written together: first all their chunks, then the entries of the files
 * whose chunks are complete. So an interrupted write leaves only chunks without a file, which are removed later.
 * Callers know the size of a document, so a read fetches only its chunks, those of small documents together. The
 * driver's `GridFSBucket` needs two commands for each document.
 */
export function createDocumentStore(db: Db, background?: Through): DocumentStore {
  const files = db.collection<FileEntry>(`${DOCUMENTS_BUCKET}.files`);
  const chunks = db.collection<ChunkEntry>(`${DOCUMENTS_BUCKET}.chunks`);

  /** Writes the chunks of all files with one command. @returns the errors of the files that failed */
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

  /** Reads the chunks of all documents with one command. */
  const readWhole = createGroup<WantedFile, Uint8Array>(
    async (wanted) => {
      const parts = new Map<string, Uint8Array[]>(wanted.map(({ document }) => [document.file, []]));
      const filter = { files_id: { $in: wanted.map(({ id }) => id) } };
      for await (const { files_id, data } of chunks.find(filter, { sort: { files_id: 1, n: 1 } }))
        parts.get(files_id.toHexString())?.push(data.value());
      return wanted.map(({ document }) => {
        const bytes = Buffer.concat(parts.get(document.file) ?? []);
        return bytes.byteLength === document.size ? { result: bytes } : { error: incomplete(document) };
      });
    },
    { ...GROUP, weightOf: ({ document }) => document.size },
  );

  return {
    async put(bytes, name, contentType) {
      const entry: FileEntry = {
        _id: new ObjectId(),
        length: bytes.byteLength,
        chunkSize: CHUNK_BYTES,
        uploadDate: new Date(),
        filename: name,
        metadata: { contentType },
      };
      await write({ entry, bytes });
      return {
        file: entry._id.toHexString(),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        size: bytes.byteLength,
      };
    },
    get: async (document) => readWhole({ document, id: idOf(document) }),
    async *read(document, { first, last } = { first: 0, last: document.size - 1 }) {
      const { from, until } = chunksWith(first, last);
      // Each with a command of its own: a slow reader keeps no cursor, and no batch of chunks.
      for (let n = from; n < until; n++) {
        const start = n * CHUNK_BYTES;
        const chunk = await chunks.findOne({ files_id: idOf(document), n });
        if (!chunk || chunk.data.length() !== Math.min(CHUNK_BYTES, document.size - start)) throw incomplete(document);
        yield chunk.data.value().subarray(Math.max(first - start, 0), last + 1 - start);
      }
    },
  };
}

/** Splits a file into chunks; an empty file has none. */
function chunksOf({ entry, bytes }: NewFile): ChunkEntry[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / CHUNK_BYTES) }, (_, n) => ({
    _id: new ObjectId(),
    files_id: entry._id,
    n,
    data: new Binary(bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES)),
  }));
}

/** Returns the errors of the files whose outcome is an error. */
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

/** Returns the range of chunks that hold these bytes of a file, `until` excluded. Empty for an empty file. */
function chunksWith(first: number, last: number): { readonly from: number; readonly until: number } {
  return { from: Math.floor(first / CHUNK_BYTES), until: Math.floor(last / CHUNK_BYTES) + 1 };
}

function incomplete({ file, size }: StoredDocument): Error {
  return new Error(`the store does not have all ${size} bytes of document ${file}`);
}
