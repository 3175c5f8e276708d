import { CommandError } from '../errors.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { type Match, matchesToWrite, type Query } from '../store/read.ts';
import { compileValidator } from '../store/validator.ts';
import { type Change, compileChange, insertNew, updateMatch } from '../store/write.ts';
import { checkCollation, checkFields, flagIn } from './arguments.ts';
import type { Context, StatementOutcome } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { checkRetryable, entriesOf, partsOf, statementsCommand } from './statements.ts';

const STATEMENT = ['q', 'u', 'c', 'multi', 'upsert', 'collation', 'arrayFilters', 'hint'];

export const update = statementsCommand(['updates', 'bypassDocumentValidation', 'let'], (context) => {
  const statements = entriesOf(context.args, 'updates', (each) => checkFields(each, 'update.updates', STATEMENT));
  checkBatchSize(statements.count);
  const name = context.args.collection();
  const skipsValidation = context.args.flag('bypassDocumentValidation');
  const all = {
    count: statements.count,
    isOrdered: context.args.flag('ordered', true),
    counts: { n: 0, nModified: 0 },
    begin: () => (index: number) => runUpdate(context, name, statements.at(index), skipsValidation),
  };
  return statements.count === 1
    ? partsOf(context, all, () => preparedUpdate(context, statements.at(0), skipsValidation))
    : all;
});

function preparedUpdate(context: Context, statement: Doc, skipsValidation: boolean) {
  const { store, args } = context;
  const { query, change, multi } = updateStatement(statement, args.variables());
  checkRetryable(context, multi);
  const upsert = flagIn(statement, 'update.updates', 'upsert');
  return {
    query,
    writing(collection: Collection) {
      const validate = compileValidator(collection, skipsValidation);
      return (match: Match) => {
        const { changed } = updateMatch(store, collection, change, match, validate);
        return { n: 1, nModified: changed ? 1 : 0 };
      };
    },
    ...(upsert && {
      otherwise(collection: Collection) {
        const validate = compileValidator(collection, skipsValidation);
        return { counts: { n: 1 }, upserted: insertNew(store, collection, change, validate)._id };
      },
    }),
  };
}

function runUpdate(context: Context, name: string, statement: Doc, skipsValidation: boolean): StatementOutcome {
  const { store, db, deadline, args } = context;
  const { query, change, multi } = updateStatement(statement, args.variables());
  checkRetryable(context, multi);
  const upsert = flagIn(statement, 'update.updates', 'upsert');
  const collection = upsert ? store.collectionForWrite(db, name) : store.catalog.find(db, name);
  if (!collection) {
    validateQuery(query);
    return { counts: {} };
  }
  const validate = compileValidator(collection, skipsValidation);
  let n = 0;
  let nModified = 0;
  for (const match of matchesToWrite(store, collection, query, deadline)) {
    n++;
    if (updateMatch(store, collection, change, match, validate).changed) nModified++;
  }
  if (n > 0 || !upsert) return { counts: { n, nModified } };
  return { counts: { n: 1 }, upserted: insertNew(store, collection, change, validate)._id };
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
