import { type Db, type Document, MongoClient, type MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

/** The reference server does not bound the details, and accepts what it cannot evaluate. */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;
/** Error 121, DocumentValidationFailure. */
const FAILED = 121;

let mongo: TestMongo;
let client: MongoClient;
let db: Db;

type Item = Document & { _id: number };

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(async () => {
  db = client.db(freshDbName('validators'));
  await db.createCollection('items', { validator: { n: { $gt: 0 } } });
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

const items = () => db.collection<Item>('items');
const stored = () => items().find().sort({ _id: 1 }).toArray();
const failure = async (work: Promise<unknown>): Promise<MongoServerError> => {
  try {
    await work;
  } catch (error) {
    return error as MongoServerError;
  }
  throw new Error('nothing failed');
};
const explained = async (validator: Document, doc: Document): Promise<Document> => {
  const name = freshDbName('explained');
  await db.createCollection(name, { validator });
  const { errInfo } = await failure(db.collection(name).insertOne({ _id: 1 as never, ...doc }));
  return (errInfo as Document).details;
};

test('a document that the validator does not match is refused, and the answer says which and why', async () => {
  const error = await failure(items().insertOne({ _id: 1, n: -5 }));
  expect(error).toMatchObject({
    code: FAILED,
    errInfo: {
      failingDocumentId: 1,
      details: {
        operatorName: '$gt',
        specifiedAs: { n: { $gt: 0 } },
        reason: 'comparison failed',
        consideredValue: -5,
      },
    },
  });
  expect(error.message).toContain('Document failed validation');
  expect(await stored()).toEqual([]);
});

test('an unordered insert stores the others', async () => {
  const documents = [{ _id: 1, n: 1 }, { _id: 2, n: 0 }, { _id: 3 }, { _id: 4, n: 4 }] as Item[];
  const error = await failure(items().insertMany(documents, { ordered: false }));
  expect(error.writeErrors).toMatchObject([
    { index: 1, code: FAILED },
    { index: 2, code: FAILED },
  ]);
  expect((await stored()).map(({ _id }) => _id)).toEqual([1, 4]);
});

test('updates, replacements, upserts and findAndModify are validated, and change nothing when they fail', async () => {
  await items().insertOne({ _id: 1, n: 1 });
  for (const work of [
    () => items().updateOne({ _id: 1 }, { $set: { n: 0 } }),
    () => items().updateMany({}, { $unset: { n: '' } }),
    () => items().updateOne({ _id: 1 }, [{ $set: { n: -1 } }]),
    () => items().replaceOne({ _id: 1 }, { other: 1 }),
    () => items().updateOne({ _id: 2 }, { $set: { n: 0 } }, { upsert: true }),
    () => items().findOneAndUpdate({ _id: 1 }, { $inc: { n: -1 } }),
    () => items().findOneAndReplace({ _id: 3 }, { n: 0 } as never, { upsert: true }),
    () => items().bulkWrite([{ updateOne: { filter: { _id: 1 }, update: { $set: { n: 0 } } } }]),
  ])
    expect(await failure(work()), work.toString()).toMatchObject({ code: FAILED });
  expect(await stored()).toEqual([{ _id: 1, n: 1 }]);
  await items().updateOne({ _id: 1 }, { $inc: { n: 1 } });
  await items().updateOne({ _id: 2 }, { $set: { n: 7 } }, { upsert: true });
  expect(await stored()).toEqual([
    { _id: 1, n: 2 },
    { _id: 2, n: 7 },
  ]);
});

test('findAndModify tells the same details as a write', async () => {
  await items().insertOne({ _id: 1, n: 1 });
  const error = await failure(items().findOneAndUpdate({ _id: 1 }, { $set: { n: 0 } }));
  expect(error.errInfo).toMatchObject({ failingDocumentId: 1, details: { operatorName: '$gt' } });
});

test('bypassDocumentValidation passes the validator over', async () => {
  const bypassing = { bypassDocumentValidation: true };
  await items().insertOne({ _id: 1, n: 0 }, bypassing);
  await items().updateOne({ _id: 1 }, { $set: { n: -1 } }, bypassing);
  await items().findOneAndUpdate({ _id: 1 }, { $inc: { n: -1 } }, bypassing);
  await items().updateOne({ _id: 2 }, { $set: { n: 0 } }, { ...bypassing, upsert: true });
  expect(await stored()).toEqual([
    { _id: 1, n: -2 },
    { _id: 2, n: 0 },
  ]);
});

test('$merge and $out are validated, too, and may pass it over', async () => {
  await db.collection<Item>('source').insertMany([
    { _id: 1, n: 1 },
    { _id: 2, n: -2 },
  ]);
  const run = (stage: Document, bypassDocumentValidation = false) =>
    db.collection('source').aggregate([stage], { bypassDocumentValidation }).toArray();
  expect(await failure(run({ $merge: 'items' }))).toMatchObject({ code: FAILED });
  expect(await failure(run({ $out: 'items' }))).toMatchObject({ code: FAILED });
  expect(await items().countDocuments({ n: { $lte: 0 } })).toBe(0);
  expect(await failure(items().insertOne({ _id: 3, n: 0 }))).toMatchObject({ code: FAILED });
  await run({ $merge: 'items' }, true);
  expect(await stored()).toHaveLength(2);
  await db.collection<Item>('source').deleteOne({ _id: 2 });
  await run({ $out: 'items' });
  expect(await stored()).toHaveLength(1);
  expect(await failure(items().insertOne({ _id: 2, n: 0 }))).toMatchObject({ code: FAILED });
});

test('with the level moderate, documents that did not match before may stay so', async () => {
  await items().insertOne({ _id: 1, n: 0 }, { bypassDocumentValidation: true });
  expect(await failure(items().updateOne({ _id: 1 }, { $set: { a: 1 } }))).toMatchObject({ code: FAILED });
  await db.command({ collMod: 'items', validationLevel: 'moderate' });
  await items().updateOne({ _id: 1 }, { $set: { a: 1 } });
  await items().insertOne({ _id: 2, n: 2 });
  expect(await failure(items().updateOne({ _id: 2 }, { $set: { n: 0 } }))).toMatchObject({ code: FAILED });
  expect(await failure(items().insertOne({ _id: 3, n: 0 }))).toMatchObject({ code: FAILED });
});

test('collMod sets, switches off and removes a validator; a stored document is not looked at', async () => {
  await db.collection<Item>('later').insertOne({ _id: 1 });
  await db.command({ collMod: 'later', validator: { name: { $type: 'string' } } });
  expect(await failure(db.collection('later').insertOne({ name: 1 }))).toMatchObject({ code: FAILED });
  await db.command({ collMod: 'later', validationLevel: 'off' });
  await db.collection('later').insertOne({ name: 1 });
  await db.command({ collMod: 'later', validationLevel: 'strict' });
  expect(await failure(db.collection('later').insertOne({ name: 1 }))).toMatchObject({ code: FAILED });
  await db.command({ collMod: 'later', validator: {} });
  await db.collection('later').insertOne({ name: 1 });
});

test('listCollections shows the options, and an unknown operator, level or action is refused', async () => {
  await db.createCollection('strict', { validator: { a: 1 }, validationLevel: 'strict', validationAction: 'error' });
  expect(await db.listCollections({ name: 'strict' }).toArray()).toMatchObject([
    { options: { validator: { a: 1 }, validationLevel: 'strict', validationAction: 'error' } },
  ]);
  const created = (options: Document) => failure(db.createCollection('wrong', options));
  expect((await created({ validator: { a: { $unknown: 1 } } })).code).toBe(2);
  expect((await created({ validator: 'text' })).code).toBe(14);
  expect((await created({ validator: { a: 1 }, validationLevel: 'some' })).code).toBe(2);
  expect((await created({ validator: { a: 1 }, validationAction: 'some' })).code).toBe(2);
  expect(await db.listCollections({ name: 'wrong' }).toArray()).toEqual([]);
});

test('a transaction fails with the write, and leaves nothing', async () => {
  const session = client.startSession();
  try {
    session.startTransaction();
    await items().insertOne({ _id: 1, n: 1 }, { session });
    expect(await failure(items().insertOne({ _id: 2, n: 0 }, { session }))).toMatchObject({ code: FAILED });
    await session.abortTransaction();
  } finally {
    await session.endSession();
  }
  expect(await stored()).toEqual([]);
});

test('the details name the conditions that are not met, by their places', async () => {
  expect(await explained({ a: 1, b: { $gt: 1, $lt: 9 }, c: { $exists: true } }, { a: 1, b: 10 })).toMatchObject({
    operatorName: '$and',
    clausesNotSatisfied: [
      { index: 2, details: { operatorName: '$lt', reason: 'comparison failed', consideredValue: 10 } },
      { index: 3, details: { operatorName: '$exists', reason: 'path does not exist' } },
    ],
  });
  expect(await explained({ $or: [{ a: 1 }, { 'b.c': { $in: [1, 2] } }] }, { b: { c: 3 } })).toMatchObject({
    operatorName: '$or',
    clausesNotSatisfied: [
      { index: 0, details: { operatorName: '$eq', specifiedAs: { a: 1 }, reason: 'field was missing' } },
      { index: 1, details: { operatorName: '$in', reason: 'no matching value found in array', consideredValue: 3 } },
    ],
  });
  expect(await explained({ $nor: [{ a: 1 }, { b: 1 }] }, { b: 1 })).toMatchObject({
    operatorName: '$nor',
    clausesSatisfied: [{ index: 1 }],
  });
  expect(await explained({ $expr: { $lt: ['$a', '$b'] } }, { a: 2, b: 1 })).toMatchObject({
    operatorName: '$expr',
    specifiedAs: { $expr: { $lt: ['$a', '$b'] } },
    reason: 'expression did not match',
  });
  expect(await explained({ name: { $regex: '^a', $options: 'i' } }, { name: 'b' })).toMatchObject({
    operatorName: '$regex',
    specifiedAs: { name: { $regex: '^a', $options: 'i' } },
    consideredValue: 'b',
  });
  expect(await explained({ n: { $type: 'string' } }, { n: 1 })).toMatchObject({
    operatorName: '$type',
    consideredType: 'int',
  });
});

test.skipIf(elsewhere)('the details stay small, however large the document and many the conditions', async () => {
  const validator = { $and: Array.from({ length: 1000 }, (_, n) => ({ text: `${n}` })) };
  const details = await explained(validator, { text: 'x'.repeat(900_000) });
  expect(details.operatorName).toBe('$and');
  expect(JSON.stringify(details).length).toBeLessThan(16_000_000);
  await db.createCollection('wide', { validator: { $or: Array.from({ length: 20_000 }, (_, n) => ({ a: n })) } });
  const update = db.collection('wide').findOneAndUpdate({ a: -1 }, { $set: { b: 1 } }, { upsert: true });
  expect(await failure(update)).toMatchObject({ code: FAILED });
});

test('many refused documents are all told of, and the valid ones are stored', async () => {
  const invalid = Array.from({ length: 40 }, (_, n) => ({ _id: n, n: ['x'.repeat(450_000)] }));
  const documents = [{ _id: 100, n: 1 }, ...invalid] as Item[];
  const error = await failure(items().insertMany(documents, { ordered: false }));
  expect((error.writeErrors as Document[]).map(({ code }) => code)).toEqual(invalid.map(() => FAILED));
  expect((await stored()).map(({ _id }) => _id)).toEqual([100]);
});

test.skipIf(elsewhere)('a condition that cannot be evaluated is not met', async () => {
  await db.createCollection('quotients', {
    validator: { n: { $type: 'int' }, $expr: { $gt: [{ $divide: [1, '$n'] }, 0] } },
  });
  const quotients = db.collection<Item>('quotients');
  for (const n of [0, 'text'])
    expect(await failure(quotients.insertOne({ _id: 1, n }))).toMatchObject({ code: FAILED });
  await quotients.insertOne({ _id: 1, n: 0 }, { bypassDocumentValidation: true });
  await db.command({ collMod: 'quotients', validationLevel: 'moderate' });
  await quotients.updateOne({ _id: 1 }, { $set: { other: 1 } });
  await quotients.updateOne({ _id: 1 }, { $set: { n: 2 } });
  expect(await failure(quotients.updateOne({ _id: 1 }, { $set: { n: -2 } }))).toMatchObject({ code: FAILED });
});

test('arrays are considered by their elements, and a missing field is named', async () => {
  expect(await explained({ a: { $gt: 5 } }, { a: [1, 2] })).toMatchObject({ consideredValues: [1, 2] });
  expect(await explained({ a: { $ne: null } }, {})).toMatchObject({ operatorName: '$ne', reason: 'field was missing' });
  expect(await explained({ a: { $size: 1 } }, { a: [1, 2] })).toMatchObject({ consideredValue: [1, 2] });
});

test('an invalid _id is told before the validator', async () => {
  expect((await failure(items().insertOne({ _id: [1] as never, n: 0 }))).code).not.toBe(FAILED);
});

test('a collMod that fails leaves the validator as it was', async () => {
  const change = { collMod: 'items', validator: { n: { $lt: 0 } }, index: { name: 'none', hidden: true } };
  expect(await failure(db.command(change))).toMatchObject({ code: 27 });
  await items().insertOne({ _id: 1, n: 1 });
  expect(await failure(items().insertOne({ _id: 2, n: -1 }))).toMatchObject({ code: FAILED });
});
