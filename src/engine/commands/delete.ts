import { CommandError } from '../errors.ts';
import { isNumber } from '../query/numbers.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { matchesToWrite } from '../store/read.ts';
import { checkCollation, checkFields } from './arguments.ts';
import type { Context } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { checkBatchSize } from './insert.ts';
import { statementsCommand } from './statements.ts';

export const remove = statementsCommand(['deletes', 'let'], (context) => {
  const statements = context.args.documents('deletes');
  checkBatchSize(statements.length);
  for (const statement of statements) checkFields(statement, 'delete.deletes', ['q', 'limit', 'collation', 'hint']);
  const name = context.args.collection();
  return {
    count: statements.length,
    isOrdered: context.args.flag('ordered', true),
    counts: { n: 0 },
    begin: () => (index) => ({ counts: { n: runDelete(context, name, statements[index] as Doc) } }),
  };
});

function runDelete({ store, db, deadline, args }: Context, name: string, statement: Doc): number {
  const filter = asDoc(statement.q);
  const limit = isNumber(statement.limit) ? Number(statement.limit) : Number.NaN;
  if (!filter) throw new CommandError('FailedToParse', "a delete needs a filter 'q'");
  if (limit !== 0 && limit !== 1)
    throw new CommandError(
      'FailedToParse',
      'The limit field in delete objects must be 0 or 1. Got ' + String(statement.limit),
    );
  checkCollation(statement.collation);
  const query = { filter, sort: {}, skip: 0, limit, hint: hintOf(statement.hint), variables: args.variables() };
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
