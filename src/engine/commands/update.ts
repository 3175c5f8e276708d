import { CommandError } from '../errors.ts';
import type { Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import type { Match, Query } from '../store/read.ts';
import { compileValidator } from '../store/validator.ts';
import { type Change, compileChange, insertNew, updateMatch } from '../store/write.ts';
import { checkCollation, checkFields, flagIn } from './arguments.ts';
import type { Context, Parts } from './command.ts';
import { hintOf } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { checkRetryable, entriesOf, partsOf, statementsCommand } from './statements.ts';

const STATEMENT = ['q', 'u', 'c', 'multi', 'upsert', 'collation', 'arrayFilters', 'hint'];

export const update = statementsCommand(['updates', 'bypassDocumentValidation', 'let'], (context) => {
  const { args } = context;
  const statements = entriesOf(args, 'updates', (each) => checkFields(each, 'update.updates', STATEMENT));
  checkBatchSize(statements.count);
  // Read here, so that an invalid name fails the whole command and not a single statement.
  args.collection();
  const skipsValidation = args.flag('bypassDocumentValidation');
  return {
    count: statements.count,
    isOrdered: args.flag('ordered', true),
    counts: { n: 0, nModified: 0 },
    begin: () => (index) => updateParts(context, statements.at(index), skipsValidation),
  };
});

function updateParts(context: Context, statement: Doc, skipsValidation: boolean): Steps<Parts> {
  const { store, db, args } = context;
  const { query, change, multi } = updateStatement(statement, args.variables());
  checkRetryable(context, multi);
  const writing = (collection: Collection) => {
    const validate = compileValidator(collection, skipsValidation);
    return (match: Match) => {
      const { changed } = updateMatch(store, collection, change, match, validate);
      return { n: 1, nModified: changed ? 1 : 0 };
    };
  };
  const upsert = () => {
    const collection = store.collectionForWrite(db, args.collection());
    const validate = compileValidator(collection, skipsValidation);
    return { counts: { n: 1 }, upserted: insertNew(store, collection, change, validate)._id };
  };
  return partsOf(context, query, writing, flagIn(statement, 'update.updates', 'upsert') ? upsert : undefined);
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
