import { ObjectId } from 'bson';
import { CommandError } from '../errors.ts';
import { compileValidator } from '../store/validator.ts';
import { decodeDocument, withElementFirst, withIdFirst } from '../wire/bson.ts';
import { MAX_BATCH } from './hello.ts';
import { statementsCommand } from './statements.ts';

export const insert = statementsCommand(['documents', 'bypassDocumentValidation'], ({ store, db, args }) => {
  const documents = args.rawDocuments('documents');
  checkBatchSize(documents.length);
  const name = args.collection();
  const skipsValidation = args.flag('bypassDocumentValidation');
  return {
    count: documents.length,
    isOrdered: args.flag('ordered', true),
    counts: { n: 0 },
    begin() {
      const collection = store.collectionForWrite(db, name);
      const validate = compileValidator(collection, skipsValidation);
      return (index) => {
        const given = documents[index] as Uint8Array;
        const bytes = withIdFirst(given) ?? withElementFirst('_id', new ObjectId(), given);
        store.documents.insert(collection, decodeDocument(bytes), bytes, validate);
        return { counts: ONE };
      };
    },
  };
});

const ONE = { n: 1 };

/** Error 16 unless a write command has 1 to 100,000 statements. */
export function checkBatchSize(size: number): void {
  if (size >= 1 && size <= MAX_BATCH) return;
  throw new CommandError(
    'InvalidLength',
    `Write batch sizes must be between 1 and ${MAX_BATCH}. Got ${size} operations.`,
  );
}
