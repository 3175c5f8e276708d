import { CommandError } from '../errors.ts';
import { compileFilter } from '../query/match.ts';
import { mapped } from '../query/pause.ts';
import { compileProjection, inclusionOf } from '../query/projection.ts';
import { compileSort } from '../query/sort.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { type Match, newReadStats, prepareQuery, type Query } from '../store/read.ts';
import { compileCopy, compileFields, encodeDocument } from '../wire/bson.ts';
import { checkCollation } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { firstBatch } from './cursors.ts';

const FIND_OPTIONS = [
  'filter',
  'sort',
  'projection',
  'hint',
  'skip',
  'limit',
  'batchSize',
  'singleBatch',
  'noCursorTimeout',
  'allowPartialResults',
  'allowDiskUse',
  'collation',
  'let',
  'min',
  'max',
  'returnKey',
  'showRecordId',
  'tailable',
  'awaitData',
  'oplogReplay',
];
const UNSUPPORTED = ['min', 'max', 'returnKey', 'showRecordId', 'tailable', 'awaitData'];

export const find: Command = {
  options: FIND_OPTIONS,
  transactional: true,
  readsSnapshots: true,
  run: (context) => {
    const { store, db, args } = context;
    const name = args.collection();
    const query = findQuery(context);
    const projection = args.document('projection') ?? {};
    const project = Object.keys(projection).length > 0 ? projector(projection, query) : (match: Match) => match.bytes;
    const ns = `${db}.${name}`;
    const collection = store.catalog.find(db, name);
    if (!collection) {
      validateQuery(query);
      return firstBatch(context, ns, [], { batchSize: 1 });
    }
    const matches = prepareQuery(store, collection, query).run({ ...newReadStats(), deadline: context.deadline });
    return firstBatch(context, ns, mapped(matches, project), {
      batchSize: args.count('batchSize'),
      singleBatch: args.flag('singleBatch'),
      noTimeout: args.flag('noCursorTimeout'),
    });
  },
};

/** Validates the arguments of a find command, and returns its query. */
export function findQuery({ args }: Context): Query {
  for (const option of UNSUPPORTED) {
    if (args.isEnabled(option))
      throw new CommandError('NotImplemented', `find's option '${option}' is not supported by this server`);
  }
  checkCollation(args.body.collation);
  return {
    filter: args.document('filter') ?? {},
    sort: args.document('sort') ?? {},
    skip: args.count('skip') ?? 0,
    limit: args.count('limit') ?? 0,
    hint: hintOf(args.body.hint),
    variables: args.variables(),
    allowDiskUse: args.body.allowDiskUse !== false,
  };
}

/**
 * Checks a hint and returns it; undefined for null and for an empty document. Error 9 if it is neither a name nor a
 * document.
 */
export function hintOf(hint: unknown): unknown {
  if (hint === undefined || hint === null) return undefined;
  if (typeof hint !== 'string' && !asDoc(hint))
    throw new CommandError('FailedToParse', 'Hint must be a string or an object');
  return typeof hint === 'object' && Object.keys(hint).length === 0 ? undefined : hint;
}

/**
 * Validates a query on a collection that does not exist, so that an invalid one fails with the same errors as
 * elsewhere.
 */
export function validateQuery({ filter, sort, variables }: Query): void {
  compileFilter(filter, variables);
  if (Object.keys(sort).length > 0 && !('$natural' in sort)) compileSort(sort);
}

function projector(projection: Doc, { filter, variables = {} }: Query): (match: Match) => Uint8Array {
  const project = compileProjection(projection, { filter, variables });
  const inclusion = inclusionOf(projection, Object.keys(variables));
  if (!inclusion) return (match) => encodeDocument(project(match.doc));
  const { names, isWhole } = inclusion;
  if (isWhole) {
    const copy = compileCopy(names);
    return ({ bytes }) => copy(bytes);
  }
  const read = compileFields(names);
  return ({ bytes }) => encodeDocument(project(read(bytes)));
}
