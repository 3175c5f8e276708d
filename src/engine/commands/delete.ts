import { CommandError } from '../errors.ts';
import { isNumber } from '../query/numbers.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { type Match, matchesToWrite, type Query } from '../store/read.ts';
import { checkCollation, checkFields } from './arguments.ts';
import type { Context } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { checkRetryable, entriesOf, partsOf, statementsCommand } from './statements.ts';

const STATEMENT = ['q', 'limit', 'collation', 'hint'];

export const remove = statementsCommand(['deletes', 'let'], (context) => {
  const statements = entriesOf(context.args, 'deletes', (each) => checkFields(each, 'delete.deletes', STATEMENT));
  checkBatchSize(statements.count);
  const name = context.args.collection();
  const all = {
    count: statements.count,
    isOrdered: context.args.flag('ordered', true),
    counts: { n: 0 },
    begin: () => (index: number) => ({ counts: { n: runDelete(context, name, statements.at(index)) } }),
  };
  return statements.count === 1 ? partsOf(context, all, () => preparedDelete(context, statements.at(0))) : all;
});

function preparedDelete(context: Context, statement: Doc) {
  const { store } = context;
  const query = deleteQuery(context, statement);
  checkRetryable(context, query.limit === 0);
  const writing = (collection: Collection) => (match: Match) => {
    store.documents.remove(collection, match.rid, match.doc);
    return { n: 1 };
  };
  return { query, writing };
}

/** Validates one entry of `deletes`. */
function deleteQuery({ args }: Context, statement: Doc): Query {
  const filter = asDoc(statement.q);
  const limit = isNumber(statement.limit) ? Number(statement.limit) : Number.NaN;
  if (!filter) throw new CommandError('FailedToParse', "a delete needs a filter 'q'");
  if (limit !== 0 && limit !== 1)
    throw new CommandError(
      'FailedToParse',
      'The limit field in delete objects must be 0 or 1. Got ' + String(statement.limit),
    );
  checkCollation(statement.collation);
  return { filter, sort: {}, skip: 0, limit, hint: hintOf(statement.hint), variables: args.variables() };
}

function runDelete(context: Context, name: string, statement: Doc): number {
  const { store, db, deadline } = context;
  const query = deleteQuery(context, statement);
  checkRetryable(context, query.limit === 0);
  const collection = store.catalog.find(db, name);
  if (!collection) {
    validateQuery(query);
    return 0;
  }
  let removed = 0;
  for (const { rid, doc } of matchesToWrite(store, collection, query, deadline)) {
    store.documents.remove(collection, rid, doc);
    removed++;
  }
  return removed;
}
