import { EJSON } from 'bson';
import fc from 'fast-check';
import { type Collection, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { changed, grouped, matches, sorted } from '../support/naive-model.ts';
import { compareValues, isNaNumber, rank } from '../support/naive-order.ts';
import { deviates } from '../support/reference-deviations.ts';
import { sampled } from '../support/samples.ts';
import { scalar, smallValue, value } from '../unit/engine/arbitraries.ts';

/**
 * Random documents of every BSON type in two collections, one of them with indexes. Every answer must equal that of the
 * naive model, whether an index was used or not.
 */
type Stored = Document & { _id: number };

let mongo: TestMongo;
let client: MongoClient;
let both: Collection<Stored>[];
const seed = Number(process.env.TEST_SEED ?? 41);
const any = fc.oneof({ weight: 2, arbitrary: value }, smallValue);
const single = fc.oneof(
  scalar,
  smallValue.filter((each) => rank(each) < 5),
);
/** `a` and `b` hold any value; `c` holds no container, so that it can be indexed together with one of them. */
const stored = fc.record({ a: any, b: any, c: single }, { requiredKeys: [], noNullPrototype: true });
const documents: Stored[] = fc
  .sample(stored, { numRuns: 220, seed })
  .filter((doc) => !deviates.value(doc))
  .map((doc, _id) => ({ _id, ...doc }));

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri, { promoteValues: false, promoteLongs: false, bsonRegExp: true }).connect();
  const db = client.db(freshDbName());
  both = [db.collection<Stored>('plain'), db.collection<Stored>('indexed')];
  await both[1]!.createIndexes([
    { key: { a: 1 } },
    { key: { b: -1, c: 1 } },
    { key: { c: 1, a: -1 } },
    { key: { 'a.b': 1 } },
    { key: { 'b.a': 1 }, sparse: true },
    { key: { c: -1 }, partialFilterExpression: { c: { $exists: true } } },
  ]);
  for (const collection of both) await collection.insertMany(documents);
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

const path = fc.constantFrom('a', 'b', 'c', 'a.b', 'b.a', 'a.a');
/** Values that occur in documents are more frequent than random ones. */
const operand = fc
  .oneof(
    single,
    any,
    fc.constantFrom(...documents.flatMap(({ a, b, c }) => [a, b, c]).filter((each) => each !== undefined)),
  )
  // A regular expression as an operand would be a pattern.
  .filter((each) => rank(each) !== 12);
const condition: fc.Arbitrary<Document> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte', '$ne'), operand)
      .map(([op, other]) => ({ [op]: other })),
  },
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(operand, { maxLength: 3 })).map(([op, list]) => ({ [op]: list })),
  fc.boolean().map((exists) => ({ $exists: exists })),
  fc.tuple(operand, operand).map(([low, high]) => ({ $gte: low, $lt: high })),
  fc.tuple(fc.constantFrom('$eq', '$gt', '$lte'), operand).map(([op, other]) => ({ $not: { [op]: other } })),
);
const clause = fc.tuple(path, condition).map(([name, test]): Document => ({ [name]: test }));
const filter: fc.Arbitrary<Document> = fc.oneof(
  { weight: 3, arbitrary: clause },
  fc.tuple(clause, clause).map(([one, other]) => ({ ...one, ...other })),
  fc
    .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(clause, { minLength: 1, maxLength: 3 }))
    .map(([op, list]) => ({ [op]: list })),
);
const direction = fc.constantFrom<1 | -1>(1, -1);
/** In one array, each element gives its values for all of the paths together, which the model does not implement. */
const sort = fc
  .uniqueArray(path, { minLength: 1, maxLength: 2, selector: (name) => name.split('.')[0] })
  .chain((paths) =>
    fc
      .tuple(...paths.map(() => direction))
      .map((directions) => Object.fromEntries(paths.map((name, n) => [name, directions[n]!]))),
  );
const show = (shown: unknown): string => EJSON.stringify(shown, { relaxed: false });
const ids = (docs: readonly Document[]): number[] => docs.map((doc) => Number(doc._id));

test('finds and counts', { timeout: 180_000 }, async () => {
  let found = 0;
  for (const query of fc.sample(filter, { numRuns: sampled(500), seed })) {
    if (deviates.value(query)) continue;
    const expected = ids(documents.filter((doc) => matches(query, doc)));
    if (expected.length > 0) found++;
    const label = show(query);
    for (const collection of both) {
      expect(ids(await collection.find(query).sort({ _id: 1 }).toArray()), label).toEqual(expected);
      expect(Number(await collection.countDocuments(query)), label).toBe(expected.length);
    }
  }
  expect(found).toBeGreaterThan(sampled(150));
});

test('sorts, with skip and limit', async () => {
  const cases = fc.tuple(filter, sort, fc.nat(20), fc.nat(20));
  for (const [query, by, skip, limit] of fc.sample(cases, { numRuns: sampled(250), seed })) {
    if (deviates.value(query)) continue;
    const order = { ...by, _id: 1 as const };
    const matching = documents.filter((doc) => matches(query, doc));
    const parallel = matching.some((doc) => hasParallelArrays(doc, Object.keys(by)));
    if (parallel && deviates.parallelArrays) continue;
    const all = parallel ? 'error' : ids(sorted(matching, order));
    const expected = all === 'error' ? all : all.slice(skip, limit > 0 ? skip + limit : undefined);
    for (const collection of both) {
      const answer = await collection
        .find(query)
        .sort(order)
        .skip(skip)
        .limit(limit)
        .toArray()
        .then(ids, () => 'error');
      expect([show({ query, order, skip, limit }), answer]).toEqual([show({ query, order, skip, limit }), expected]);
    }
  }
});

test('groups and distinct values', async () => {
  for (const query of fc.sample(filter, { numRuns: sampled(60), seed: seed + 1 })) {
    if (deviates.value(query)) continue;
    const matching = documents.filter((doc) => matches(query, doc));
    const expected = grouped(matching, 'c').map((group) => ({
      n: group.length,
      first: group[0]!._id,
      most: Math.max(...ids(group)),
      least: show(sorted(group, { a: 1, _id: 1 })[0]!._id),
    }));
    for (const collection of both) {
      const groups = await collection
        .aggregate([
          { $match: query },
          { $sort: { _id: 1 } },
          { $group: { _id: '$c', n: { $sum: 1 }, first: { $first: '$_id' }, most: { $max: '$_id' } } },
          { $sort: { first: 1 } },
        ])
        .toArray();
      expect([show(query), groups.map(({ n, first, most }) => [Number(n), Number(first), Number(most)])]).toEqual([
        show(query),
        expected.map(({ n, first, most }) => [n, first, most]),
      ]);
      const values = (await collection.distinct('c', query)) as unknown[];
      const present = grouped(
        matching.filter(({ c }) => c !== undefined),
        'c',
      ).map(([doc]) => doc!.c);
      expect(values.length, show(query)).toBe(present.length);
      expect(present.every((each) => values.some((other) => compareValues(each, other) === 0))).toBe(true);
    }
  }
});

test('updates and findAndModify', async () => {
  const operation = fc.tuple(
    fc.constantFrom('$set', '$unset', '$min', '$max', '$push', '$addToSet'),
    fc.constantFrom('a', 'b', 'c', 'd'),
    any,
    single,
  );
  const cases = fc.tuple(filter, sort, operation, fc.boolean());
  const current = documents.map((doc) => ({ ...doc }));
  let applied = 0;
  for (const [query, by, [op, name, container, plain], remove] of fc.sample(cases, {
    numRuns: sampled(300),
    seed: seed + 2,
  })) {
    if (deviates.value(query)) continue;
    const update = { [op]: { [name]: op === '$unset' ? '' : name === 'c' ? plain : container } };
    const order = { ...by, _id: 1 as const };
    const matching = current.filter((doc) => matches(query, doc));
    if (deviates.value(update)) continue;
    if (matching.length === 0 || matching.some((doc) => hasParallelArrays(doc, Object.keys(by)))) continue;
    const before = sorted(matching, order)[0] as Stored;
    const after = remove && applied % 10 === 9 ? null : changed(before, update);
    // An array in `c` could not be indexed together with another one.
    if (after && Array.isArray(after.c)) continue;
    const label = show({ query, order, before, update });
    for (const collection of both) {
      const answer =
        after === null
          ? await collection.findOneAndDelete(query, { sort: order })
          : await collection
              .findOneAndUpdate(query, update, { sort: order, returnDocument: 'after' })
              .catch(() => 'error');
      expect([label, show(normal(answer))]).toEqual([
        label,
        show(normal(after === null ? before : (after ?? 'error'))),
      ]);
    }
    if (after === undefined) continue;
    applied++;
    const at = current.indexOf(before);
    if (after === null) current.splice(at, 1);
    else current[at] = after as Stored;
  }
  expect(applied).toBeGreaterThan(sampled(60));
  for (const collection of both) {
    const left = await collection.find().sort({ _id: 1 }).toArray();
    expect(left.map((doc) => show(normal(doc)))).toEqual(current.map((doc) => show(normal(doc))));
  }
});

/** A document as it is read back: `_id` as a plain number, without the sign of a NaN and similar details. */
function normal(doc: unknown): unknown {
  if (typeof doc !== 'object' || doc === null) return doc;
  const made: Document = { ...(doc as Document), _id: Number((doc as Document)._id) };
  for (const [name, each] of Object.entries(made)) if (isNaNumber(each)) made[name] = 'NaN';
  return made;
}

/** Whether two of the paths lead through arrays of different fields. */
function hasParallelArrays(doc: Document, paths: string[]): boolean {
  const heads = new Set(paths.map((each) => each.split('.')[0] as string));
  return (
    [...heads].filter((head) => paths.some((each) => each.split('.')[0] === head && leadsThroughArray(doc, each)))
      .length > 1
  );
}

function leadsThroughArray(doc: unknown, at: string): boolean {
  const [head, ...rest] = at.split('.') as [string, ...string[]];
  const next = rank(doc) === 5 ? (doc as Document)[head] : undefined;
  return Array.isArray(next) || (rest.length > 0 && leadsThroughArray(next, rest.join('.')));
}
