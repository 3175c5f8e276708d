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
 * Stores uploaded files in the collection `import_files`. GridFS is not used, because each piece expires on its own,
 * also a piece of an upload that a process did not finish.
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
      // Reads each piece by its own command, so that only one piece is in memory.
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

/** Selects the pieces of a file after a given one. */
function ofFile(importId: string, after: string) {
  return { _id: { $gt: after, $lt: `${importId}!` } };
}
