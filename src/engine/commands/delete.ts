import { CommandError } from '../errors.ts';
import { isNumber } from '../query/numbers.ts';
import type { Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Query } from '../store/read.ts';
import { checkCollation, checkFields } from './arguments.ts';
import type { Context, Parts } from './command.ts';
import { hintOf } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { checkRetryable, entriesOf, partsOf, statementsCommand } from './statements.ts';

const STATEMENT = ['q', 'limit', 'collation', 'hint'];

export const remove = statementsCommand(['deletes', 'let'], (context) => {
  const { args } = context;
  const statements = entriesOf(args, 'deletes', (each) => checkFields(each, 'delete.deletes', STATEMENT));
  checkBatchSize(statements.count);
  // Read here, so that an invalid name fails the whole command and not a single statement.
  args.collection();
  return {
    count: statements.count,
    isOrdered: args.flag('ordered', true),
    counts: { n: 0 },
    begin: () => (index) => deleteParts(context, statements.at(index)),
  };
});

function deleteParts(context: Context, statement: Doc): Steps<Parts> {
  const { store } = context;
  const query = deleteQuery(context, statement);
  checkRetryable(context, query.limit === 0);
  return partsOf(context, query, (collection) => ({ rid, doc }) => {
    store.documents.remove(collection, rid, doc);
    return { n: 1 };
  });
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
