import { Binary, type Db } from 'mongodb';
import type { ImportFiles } from '../domain/imports/import-store.ts';

interface PieceDocument {
  /** `<import> <nth>`, so that the pieces of a file are neighbours. */
  _id: string;
  tenantId: string;
  environment: string;
  data: Binary;
  expiresAt: Date;
}

/**
 * Stores uploaded files in the collection `import_files`. Not in GridFS: each piece expires by itself, also one of an
 * upload that a process did not finish.
 */
export function createImportFiles(db: Db): ImportFiles {
  const pieces = db.collection<PieceDocument>('import_files');
  return {
    async put({ tenantId, environment }, importId, nth, piece, expiresAt) {
      const _id = `${importId} ${String(nth).padStart(6, '0')}`;
      await pieces.insertOne({ _id, tenantId, environment, data: new Binary(piece), expiresAt });
    },
    async *read(importId) {
      let after = `${importId} `;
      // Each with a command of its own, so that one piece is in memory.
      for (;;) {
        const [next] = await pieces.find(ofFile(importId, after)).sort({ _id: 1 }).limit(1).toArray();
        if (!next) return;
        yield next.data.value();
        after = next._id;
      }
    },
    async remove(importId) {
      await pieces.deleteMany(ofFile(importId, `${importId} `));
    },
  };
}

/** The pieces of a file after one of them. */
function ofFile(importId: string, after: string) {
  return { _id: { $gt: after, $lt: `${importId}!` } };
}
