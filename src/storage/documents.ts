import { createHash } from 'node:crypto';
import { type Db, GridFSBucket, ObjectId } from 'mongodb';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import type { DocumentRange, DocumentStore } from '../domain/invoice/repository.ts';

/** One chunk for nearly every document: fewer round trips, still below the 16 MB of a MongoDB document. */
const CHUNK_BYTES = 4 * 1024 * 1024;

export const DOCUMENTS_BUCKET = 'documents';

/** Documents' bytes in GridFS, bucket `documents`. A file is never changed: a new version is a new file. */
export function createDocumentStore(db: Db): DocumentStore {
  const bucket = new GridFSBucket(db, { bucketName: DOCUMENTS_BUCKET, chunkSizeBytes: CHUNK_BYTES });
  return {
    put(bytes, name, contentType) {
      return new Promise((resolve, reject) => {
        const upload = bucket.openUploadStream(name, { metadata: { contentType } });
        upload.once('error', reject);
        // Not the callback of `end`, which is called for a failed upload too.
        upload.once('finish', () => {
          resolve({
            file: upload.id.toHexString(),
            sha256: createHash('sha256').update(bytes).digest('hex'),
            size: bytes.byteLength,
          });
        });
        upload.end(bytes);
      });
    },
    read: (document, range) => bucket.openDownloadStream(idOf(document), partOf(range)),
    async get(document) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of bucket.openDownloadStream(idOf(document))) {
        chunks.push(chunk as Uint8Array);
      }
      return Buffer.concat(chunks);
    },
  };
}

function idOf(document: StoredDocument): ObjectId {
  return ObjectId.createFromHexString(document.file);
}

/** GridFS counts the end as the first byte that is left out. */
function partOf(range: DocumentRange | undefined): { start: number; end: number } | undefined {
  return range && { start: range.first, end: range.last + 1 };
}
