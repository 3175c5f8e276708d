import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import type { Steps } from '../query/pause.ts';
import { compileProjection } from '../query/projection.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { type Match, type Query, rowToWrite } from '../store/read.ts';
import { compileValidator } from '../store/validator.ts';
import { compileChange, insertNew, updateMatch } from '../store/write.ts';
import { checkCollation } from './arguments.ts';
import type { Command, Context, Parts } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { onlyStatement, runAtOnce, single } from './statements.ts';

export const findAndModify: Command = {
  options: [
    'query',
    'sort',
    'remove',
    'update',
    'new',
    'fields',
    'upsert',
    'bypassDocumentValidation',
    'collation',
    'arrayFilters',
    'hint',
    'let',
    'stmtId',
  ],
  writes: true,
  transactional: true,
  retryable: true,
  statements: (context) => onlyStatement(() => search(context)),
  run: (context) => runAtOnce(onlyStatement(() => search(context))),
};

function* search(context: Context): Steps<Parts> {
  const { store, db, args, deadline } = context;
  checkOptions(context);
  const query: Query = {
    filter: args.document('query') ?? {},
    sort: args.document('sort') ?? {},
    skip: 0,
    limit: 1,
    hint: hintOf(args.body.hint),
    variables: args.variables(),
  };
  const upsert = args.flag('upsert');
  const name = args.collection();
  const found = store.catalog.find(db, name);
  if (!found) validateQuery(query);
  const match = found && (yield* rowToWrite(store, found, query, deadline));
  const project = projection(args.document('fields') ?? {}, query);
  return single(() => {
    const collection = upsert ? store.collectionForWrite(db, name) : store.catalog.find(db, name);
    const reply = args.flag('remove')
      ? removeOne(context, collection, match, project)
      : updateOne(context, query, collection, match, project);
    return { counts: {}, reply };
  });
}

type Project = (doc: Doc) => Doc;

function removeOne(
  { store }: Context,
  collection: Collection | undefined,
  match: Match | undefined,
  project: Project,
): Doc {
  if (!collection || !match) return { lastErrorObject: { n: new Int32(0) }, value: null };
  store.documents.remove(collection, match.rid, match.doc);
  return { lastErrorObject: { n: new Int32(1) }, value: project(match.doc) };
}

function updateOne(
  { store, args }: Context,
  query: Query,
  collection: Collection | undefined,
  match: Match | undefined,
  project: Project,
): Doc {
  const update = args.body.update;
  const spec = Array.isArray(update) ? (update as Doc[]) : asDoc(update);
  if (!spec) throw new CommandError('FailedToParse', 'Either an update or remove=true must be specified');
  const change = compileChange(query.filter, spec, args.body.arrayFilters, args.variables());
  const validate = collection && compileValidator(collection, args.flag('bypassDocumentValidation'));
  const returnNew = args.flag('new');
  if (collection && match) {
    const { doc } = updateMatch(store, collection, change, match, validate);
    return {
      lastErrorObject: { n: new Int32(1), updatedExisting: true },
      value: project(returnNew ? doc : match.doc),
    };
  }
  if (!collection || !args.flag('upsert')) {
    return { lastErrorObject: { n: new Int32(0), updatedExisting: false }, value: null };
  }
  const doc = insertNew(store, collection, change, validate);
  return {
    lastErrorObject: { n: new Int32(1), updatedExisting: false, upserted: doc._id },
    value: returnNew ? project(doc) : null,
  };
}

function checkOptions({ args }: Context): void {
  checkCollation(args.body.collation);
  if (!args.flag('remove')) return;
  if (args.has('update')) throw new CommandError('FailedToParse', 'Cannot specify both an update and remove=true');
  if (args.flag('new'))
    throw new CommandError(
      'FailedToParse',
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    );
  if (args.flag('upsert')) throw new CommandError('FailedToParse', 'Cannot specify both upsert=true and remove=true');
}

function projection(spec: Doc, { filter, variables = {} }: Query): Project {
  return Object.keys(spec).length > 0 ? compileProjection(spec, { filter, variables }) : (doc) => doc;
}
