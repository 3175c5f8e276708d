import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { matchesToWrite, type Query } from '../store/read.ts';
import { compileValidator } from '../store/validator.ts';
import { type Change, compileChange, insertNew, updateMatch } from '../store/write.ts';
import { checkCollation, checkFields, flagIn } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { runStatements } from './write-errors.ts';

const STATEMENT = ['q', 'u', 'c', 'multi', 'upsert', 'collation', 'arrayFilters', 'hint'];

interface Outcome {
  matched: number;
  modified: number;
  /** `_id` of the document that an upsert inserted. */
  upserted: unknown;
}

export const update: Command = {
  options: ['updates', 'ordered', 'bypassDocumentValidation', 'let', 'stmtId', 'stmtIds'],
  writes: true,
  transactional: true,
  retryable: true,
  run: (context) => {
    const statements = context.args.documents('updates');
    checkBatchSize(statements.length);
    for (const statement of statements) checkFields(statement, 'update.updates', STATEMENT);
    const name = context.args.collection();
    const skipsValidation = context.args.flag('bypassDocumentValidation');
    let n = 0;
    let nModified = 0;
    const upserted: Doc[] = [];
    const errors = runStatements(statements, context.args.flag('ordered', true), (statement, index) => {
      const outcome = runUpdate(context, name, statement, skipsValidation);
      n += outcome.matched;
      nModified += outcome.modified;
      if (outcome.upserted === undefined) return;
      n++;
      upserted.push({ index: new Int32(index), _id: outcome.upserted });
    });
    return {
      n: new Int32(n),
      nModified: new Int32(nModified),
      ...(upserted.length > 0 ? { upserted } : {}),
      ...errors,
    };
  },
};

function runUpdate(
  { store, db, deadline, args }: Context,
  name: string,
  statement: Doc,
  skipsValidation: boolean,
): Outcome {
  const { query, change } = updateStatement(statement, args.variables());
  const upsert = flagIn(statement, 'update.updates', 'upsert');
  const collection = upsert ? store.collectionForWrite(db, name) : store.catalog.find(db, name);
  if (!collection) {
    validateQuery(query);
    return { matched: 0, modified: 0, upserted: undefined };
  }
  const validate = compileValidator(collection, skipsValidation);
  let matched = 0;
  let modified = 0;
  for (const match of matchesToWrite(store, collection, query, deadline)) {
    matched++;
    if (updateMatch(store, collection, change, match, validate).changed) modified++;
  }
  if (matched > 0 || !upsert) return { matched, modified, upserted: undefined };
  return { matched, modified, upserted: insertNew(store, collection, change, validate)._id };
}

/** Validates and compiles one entry of `updates`. */
export function updateStatement(statement: Doc, variables: Doc): { query: Query; change: Change; multi: boolean } {
  const filter = asDoc(statement.q);
  const spec = Array.isArray(statement.u) ? (statement.u as Doc[]) : asDoc(statement.u);
  if (!filter || !spec) throw new CommandError('FailedToParse', "an update needs a filter 'q' and an update 'u'");
  if (statement.c !== undefined)
    throw new CommandError('NotImplemented', "update's constants 'c' are not supported by this server");
  checkCollation(statement.collation);
  const multi = flagIn(statement, 'update.updates', 'multi');
  const change = compileChange(filter, spec, statement.arrayFilters, variables);
  if (multi && change.replacement)
    throw new CommandError('FailedToParse', 'multi update is not supported for replacement-style update');
  return {
    query: { filter, sort: {}, skip: 0, limit: multi ? 0 : 1, hint: hintOf(statement.hint), variables },
    change,
    multi,
  };
}
