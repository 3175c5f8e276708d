import { createHash } from 'node:crypto';
import { type Db, GridFSBucket, ObjectId } from 'mongodb';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import type { DocumentRange, DocumentStore } from '../domain/invoice/repository.ts';

/** Large enough for nearly every document, to save round trips, and below MongoDB's limit of 16 MB per document. */
const CHUNK_BYTES = 4 * 1024 * 1024;

export const DOCUMENTS_BUCKET = 'documents';

/** The bytes of documents in GridFS, bucket `documents`. Files are immutable: a new version is a new file. */
export function createDocumentStore(db: Db): DocumentStore {
  const bucket = new GridFSBucket(db, { bucketName: DOCUMENTS_BUCKET, chunkSizeBytes: CHUNK_BYTES });
  return {
    put(bytes, name, contentType) {
      return new Promise((resolve, reject) => {
        const upload = bucket.openUploadStream(name, { metadata: { contentType } });
        upload.once('error', reject);
        // Not the callback of `end`, which is also called for a failed upload.
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
    read: (document, range) => bucket.openDownloadStream(idOf(document), gridFsRange(range)),
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

/** The `end` of a GridFS range is exclusive. */
function gridFsRange(range: DocumentRange | undefined): { start: number; end: number } | undefined {
  return range && { start: range.first, end: range.last + 1 };
}
