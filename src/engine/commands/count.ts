import { Int32 } from 'bson';
import { compareValues } from '../query/compare.ts';
import { encodeKey } from '../query/keys.ts';
import { splitPath } from '../query/path.ts';
import { drained, type Steps } from '../query/pause.ts';
import { asDoc, type Doc, getField } from '../query/types.ts';
import { countMatches, newReadStats, prepareQuery, type Query } from '../store/read.ts';
import { checkCollation } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { hintOf, validateQuery } from './find.ts';
import { inSlices } from './slices.ts';

export const count: Command = {
  options: ['query', 'limit', 'skip', 'hint', 'collation', 'fields'],
  run: (context) => {
    const { store, db, args } = context;
    checkCollation(args.body.collation);
    const query: Query = {
      filter: args.document('query') ?? {},
      sort: {},
      skip: args.count('skip') ?? 0,
      limit: Math.abs(args.integer('limit') ?? 0),
      hint: hintOf(args.body.hint),
    };
    const collection = store.catalog.find(db, args.collection());
    if (!collection) {
      validateQuery(query);
      return { n: new Int32(0) };
    }
    return inSlices(context, collection.ns, counted(countMatches(store, collection, query, context.deadline)));
  },
};

function* counted(counting: Steps<number>): Steps<Doc> {
  return { n: new Int32(yield* counting) };
}

export const distinct: Command = {
  options: ['key', 'query', 'collation', 'hint'],
  transactional: true,
  readsSnapshots: true,
  run: (context) => inSlices(context, `${context.db}.${context.args.collection()}`, distinctValues(context)),
};

/** Collects the distinct values of a path in sort order. Each element of an array counts as a value. */
function* distinctValues(context: Context): Steps<Doc> {
  const { store, db, args } = context;
  checkCollation(args.body.collation);
  const query: Query = {
    filter: args.document('query') ?? {},
    sort: {},
    skip: 0,
    limit: 0,
    hint: hintOf(args.body.hint),
  };
  const path = splitPath(args.requiredString('key'));
  const collection = store.catalog.find(db, args.collection());
  if (!collection) {
    validateQuery(query);
    return { values: [] };
  }
  const found = new Map<string, unknown>();
  const matches = prepareQuery(store, collection, query).run({ ...newReadStats(), deadline: context.deadline });
  yield* drained(matches, ({ doc }) => {
    for (const value of valuesAt(doc, path)) found.set(Buffer.from(encodeKey([value], [1])).toString('latin1'), value);
  });
  return { values: [...found.values()].sort(compareValues) };
}

function valuesAt(value: unknown, path: string[]): unknown[] {
  if (Array.isArray(value)) {
    if (path.length === 0) return value;
    const [name] = path as [string];
    const own = /^\d+$/.test(name) && Number(name) < value.length ? valuesAt(value[Number(name)], path.slice(1)) : [];
    return [...own, ...value.flatMap((element) => (asDoc(element) ? valuesAt(element, path) : []))];
  }
  if (path.length === 0) return value === undefined ? [] : [value];
  const doc: Doc | undefined = asDoc(value);
  return doc ? valuesAt(getField(doc, path[0] as string), path.slice(1)) : [];
}
