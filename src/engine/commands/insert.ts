import { Int32, ObjectId } from 'bson';
import { CommandError } from '../errors.ts';
import { compileValidator } from '../store/validator.ts';
import { decodeDocument, withElementFirst, withIdFirst } from '../wire/bson.ts';
import type { Command } from './command.ts';
import { MAX_BATCH } from './hello.ts';
import { runStatements } from './write-errors.ts';

export const insert: Command = {
  options: ['documents', 'ordered', 'bypassDocumentValidation', 'stmtId', 'stmtIds'],
  writes: true,
  transactional: true,
  retryable: true,
  run: ({ store, db, args }) => {
    const documents = args.rawDocuments('documents');
    checkBatchSize(documents.length);
    const collection = store.collectionForWrite(db, args.collection());
    const validate = compileValidator(collection, args.flag('bypassDocumentValidation'));
    let n = 0;
    const errors = runStatements(documents, args.flag('ordered', true), (given) => {
      const bytes = withIdFirst(given) ?? withElementFirst('_id', new ObjectId(), given);
      const doc = decodeDocument(bytes);
      store.documents.insert(collection, doc, bytes, validate);
      n++;
    });
    return { n: new Int32(n), ...errors };
  },
};

/** Error 16 unless a write command has 1 to 100,000 statements. */
export function checkBatchSize(size: number): void {
  if (size >= 1 && size <= MAX_BATCH) return;
  throw new CommandError(
    'InvalidLength',
    `Write batch sizes must be between 1 and ${MAX_BATCH}. Got ${size} operations.`,
  );
}
