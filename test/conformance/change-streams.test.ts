import { calculateObjectSize } from 'bson';
import {
  type ChangeStream,
  type ChangeStreamDocument,
  type ChangeStreamOptions,
  type Collection,
  type Db,
  type Document,
  MongoClient,
  MongoServerError,
} from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let db: Db;
/** The reference server looks documents up by the name of the collection, and does not bound what it sends. */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;
let invoices: Collection<{ _id: number; [field: string]: unknown }>;
const open: ChangeStream[] = [];

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(async () => {
  db = client.db(freshDbName('streams'));
  await db.createCollection('invoices');
  invoices = db.collection('invoices');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((stream) => stream.close()));
  await db.dropDatabase();
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

/** Opens a stream and waits until it is open on the server. */
async function opened<S extends ChangeStream>(stream: S): Promise<S> {
  open.push(stream);
  await stream.tryNext();
  return stream;
}

/** Opens a stream from a given position. Unlike `opened`, it does not wait, so the first event is left for the test. */
function resumed(options: ChangeStreamOptions): ChangeStream {
  const stream = invoices.watch([], { ...quick, ...options });
  open.push(stream);
  return stream;
}

async function take(stream: ChangeStream, count: number): Promise<ChangeStreamDocument[]> {
  const events: ChangeStreamDocument[] = [];
  while (events.length < count) events.push(await stream.next());
  return events;
}

const quick = { maxAwaitTimeMS: 50 };
/** Without the insertion just before the stream was opened, which some servers may report, too. */
const UPDATES = [{ $match: { operationType: 'update' } }];

describe('events', () => {
  test('report inserts, updates, replacements and deletes in order', async () => {
    const stream = await opened(invoices.watch([], quick));
    await invoices.insertOne({ _id: 1, status: 'pending', events: ['a'] });
    await invoices.updateOne(
      { _id: 1 },
      { $set: { status: 'signing' }, $push: { events: 'b' as never }, $unset: { gone: 1 } },
    );
    await invoices.replaceOne({ _id: 1 }, { status: 'accepted' });
    await invoices.deleteOne({ _id: 1 });
    const events = await take(stream, 4);
    const common = { ns: { db: db.databaseName, coll: 'invoices' }, documentKey: { _id: 1 } };
    expect(events).toMatchObject([
      { ...common, operationType: 'insert', fullDocument: { _id: 1, status: 'pending', events: ['a'] } },
      {
        ...common,
        operationType: 'update',
        updateDescription: {
          updatedFields: { status: 'signing', 'events.1': 'b' },
          removedFields: [],
          truncatedArrays: [],
        },
      },
      { ...common, operationType: 'replace', fullDocument: { _id: 1, status: 'accepted' } },
      { ...common, operationType: 'delete' },
    ]);
    expect(events[1]).not.toHaveProperty('fullDocument');
  });

  test('an update that changes nothing emits no event', async () => {
    await invoices.insertOne({ _id: 1, a: 1 });
    const stream = await opened(invoices.watch(UPDATES, quick));
    await invoices.updateOne({ _id: 1 }, { $set: { a: 1 } });
    await invoices.updateOne({ _id: 1 }, { $set: { a: 2 } });
    expect(await stream.next()).toMatchObject({
      operationType: 'update',
      updateDescription: { updatedFields: { a: 2 } },
    });
  });

  test('of some types are the same as in the stream of all', async () => {
    const types = ['insert', 'update'];
    const all = await opened(invoices.watch([], quick));
    const some = await opened(invoices.watch([{ $match: { operationType: { $in: types } } }], quick));
    await invoices.insertOne({ _id: 1, lines: [{ amount: 1.5, at: new Date(0) }], text: 'é', serials: { 7: 0 } });
    await invoices.updateOne({ _id: 1 }, { $set: { 'lines.0.amount': 2, 'serials.7': 1 }, $unset: { text: '' } });
    await invoices.replaceOne({ _id: 1 }, { status: 'accepted' });
    await invoices.deleteOne({ _id: 1 });
    await invoices.insertOne({ _id: 2 });
    const events = await take(all, 5);
    expect(events.map(({ operationType }) => operationType)).toEqual([
      'insert',
      'update',
      'replace',
      'delete',
      'insert',
    ]);
    expect(events[1]).toHaveProperty('updateDescription', {
      updatedFields: { 'lines.0.amount': 2, 'serials.7': 1 },
      removedFields: ['text'],
      truncatedArrays: [],
    });
    expect(await take(some, 3)).toEqual(events.filter(({ operationType }) => types.includes(operationType)));
  });

  test('of a collection come in order and without gaps, however many of others lie between them', async () => {
    const others = db.collection<{ _id: number }>('others');
    const stream = await opened(invoices.watch([], quick));
    const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => ({ _id: from + n }));
    for (const from of [0, 300, 600]) {
      await others.insertMany(range(from, 300));
      await invoices.insertMany(range(from, 300));
    }
    await others.insertMany(range(900, 300));
    const keys = (await take(stream, 900)).map(
      (event) => (event as unknown as { documentKey: { _id: number } }).documentKey._id,
    );
    expect(keys).toEqual(range(0, 900).map(({ _id }) => _id));
    expect(await stream.tryNext()).toBeNull();
    const behind = stream.resumeToken;
    await stream.close();
    await invoices.insertOne({ _id: 900 });
    expect(await resumed({ resumeAfter: behind }).next()).toMatchObject({ documentKey: { _id: 900 } });
  });

  test('updateLookup returns the current version of the document', async () => {
    await invoices.insertMany([{ _id: 1 }, { _id: 2 }]);
    const stream = await opened(invoices.watch(UPDATES, { ...quick, fullDocument: 'updateLookup' }));
    await invoices.updateMany({}, { $set: { a: 1 } });
    await invoices.updateOne({ _id: 1 }, { $set: { a: 2 } });
    await invoices.deleteOne({ _id: 2 });
    const [first, second] = await take(stream, 2);
    expect(first).toHaveProperty('fullDocument', { _id: 1, a: 2 });
    expect(second).toHaveProperty('fullDocument', null);
  });

  test.skipIf(elsewhere)(
    'updateLookup does not return a document of a later collection with the same name',
    async () => {
      await invoices.insertOne({ _id: 1 });
      const stream = await opened(db.watch([], { ...quick, fullDocument: 'updateLookup' }));
      await invoices.updateOne({ _id: 1 }, { $set: { a: 1 } });
      await invoices.drop();
      await invoices.insertOne({ _id: 1, of: 'another collection' } as never);
      const [update] = await take(stream, 1);
      expect(update).toMatchObject({ operationType: 'update', fullDocument: null });
    },
  );

  test.skipIf(elsewhere)(
    'an update whose event would be too large is told as a replacement, or refused as a whole',
    async () => {
      const name = 'x'.repeat(1000);
      const big = db.collection<{ _id: number; x: number; [name: string]: unknown }>('big');
      await big.insertOne({ _id: 1, x: 0, [name]: Array.from({ length: 20_000 }, () => ({ v: 0 })) });
      const stream = await opened(big.watch([], quick));
      const more = { $map: { input: `$${name}`, in: { v: { $add: ['$$this.v', 1] } } } };
      await big.updateOne({ _id: 1 }, [{ $set: { x: 1, [name]: more } }]);
      expect(await take(stream, 1)).toMatchObject([{ operationType: 'replace', fullDocument: { _id: 1, x: 1 } }]);
      await db.createCollection('images', { changeStreamPreAndPostImages: { enabled: true } });
      const images = db.collection<{ _id: number; n: number; s: Buffer }>('images');
      await images.insertOne({ _id: 1, n: 0, s: Buffer.alloc(9_000_000) });
      await expect(images.updateOne({ _id: 1 }, { $inc: { n: 1 } })).rejects.toMatchObject({ code: 10334 });
      expect(await images.findOne({ _id: 1 }, { projection: { n: 1 } })).toEqual({ _id: 1, n: 0 });
    },
  );

  test.skipIf(elsewhere)('a batch is bounded by what it sends, also of looked-up documents', async () => {
    const large = db.collection<{ _id: number; n: number; s: string }>('large');
    for (let i = 0; i < 20; i++) await large.insertOne({ _id: i, n: 0, s: 'x'.repeat(1_000_000) });
    const { operationTime } = await db.command({ ping: 1 });
    await large.updateMany({}, { $inc: { n: 1 } });
    const pipeline = [{ $changeStream: { fullDocument: 'updateLookup', startAtOperationTime: operationTime } }];
    const { cursor } = await db.command({ aggregate: 'large', pipeline, cursor: {} });
    expect(calculateObjectSize(cursor)).toBeLessThan(17 * 1024 * 1024);
    await db.command({ killCursors: 'large', cursors: [cursor.id] });
  });

  test('a pipeline filters and transforms events', async () => {
    const stream = await opened(
      invoices.watch([{ $match: { 'fullDocument.n': { $gte: 2 } } }, { $project: { 'fullDocument.n': 1 } }], quick),
    );
    await invoices.insertMany([1, 2, 3].map((n) => ({ _id: n, n, other: true })));
    const events = await take(stream, 2);
    expect(events.map((event) => (event as { fullDocument?: unknown }).fullDocument)).toEqual([{ n: 2 }, { n: 3 }]);
  });

  test('are sent to a waiting client right after the write, not after its timeout', async () => {
    const stream = invoices.watch([], { maxAwaitTimeMS: 100_000 });
    open.push(stream);
    const token = stream.resumeToken;
    let next = stream.next();
    // The first answer carries the position that the stream starts from.
    await expect.poll(() => stream.resumeToken).not.toEqual(token);
    const start = performance.now();
    for (let n = 0; n < 10; n++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await invoices.insertOne({ _id: n });
      expect(await next).toMatchObject({ documentKey: { _id: n } });
      if (n < 9) next = stream.next();
    }
    expect(performance.now() - start).toBeLessThan(50_000);
  });

  test('a stream on a database covers its collections, a stream on the client all databases', async () => {
    const wide = await opened(db.watch([], quick));
    const all = await opened(client.watch([{ $match: { 'ns.db': db.databaseName } }], quick));
    await invoices.insertOne({ _id: 1 });
    await db.collection('tenants').insertOne({ name: 't' });
    for (const stream of [wide, all]) {
      const events = await take(stream, 2);
      expect(events.map((event) => (event as { ns: { coll: string } }).ns.coll)).toEqual(['invoices', 'tenants']);
    }
  });
});

describe('resuming', () => {
  test('resumeAfter continues after the event of the token, whatever was written meanwhile', async () => {
    const stream = await opened(invoices.watch([], quick));
    await invoices.insertMany([1, 2, 3].map((_id) => ({ _id })));
    const [first] = await take(stream, 1);
    await stream.close();
    await invoices.insertOne({ _id: 4 });
    for (const option of ['resumeAfter', 'startAfter'] as const) {
      const next = resumed({ [option]: first!._id });
      expect((await take(next, 3)).map((event) => (event as { documentKey: unknown }).documentKey)).toEqual([
        { _id: 2 },
        { _id: 3 },
        { _id: 4 },
      ]);
    }
  });

  test('a stream without events has a token to resume from', async () => {
    const stream = await opened(invoices.watch([], quick));
    const token = stream.resumeToken;
    await stream.close();
    await invoices.insertOne({ _id: 1 });
    expect(await resumed({ resumeAfter: token }).next()).toMatchObject({ documentKey: { _id: 1 } });
  });

  test('startAtOperationTime includes the event at that time', async () => {
    const stream = await opened(invoices.watch([], quick));
    await invoices.insertMany([1, 2, 3].map((_id) => ({ _id })));
    const events = await take(stream, 3);
    const startAtOperationTime = events[1]!.clusterTime!;
    const again = resumed({ startAtOperationTime });
    expect(await again.next()).toMatchObject({ documentKey: { _id: 2 } });
  });

  test('an invalid token is refused', async () => {
    await expect(resumed({ resumeAfter: { _data: 'nonsense' } }).next()).rejects.toThrow(MongoServerError);
  });
});

test('a stream without further stages compares no texts, so that every collation is accepted; others are not', async () => {
  const stream = await opened(invoices.watch([], { ...quick, collation: { locale: 'fr', strength: 2 } }));
  await invoices.insertOne({ _id: 1 });
  expect(await take(stream, 1)).toMatchObject([{ operationType: 'insert', documentKey: { _id: 1 } }]);
  if (mongo.kind !== 'embedded') return;
  const filtered = invoices.watch([{ $match: { 'fullDocument.name': 'a' } }], { collation: { locale: 'fr' } });
  open.push(filtered);
  await expect(filtered.tryNext()).rejects.toMatchObject({ code: 238 });
});

test('dropping the collection invalidates its stream, and startAfter continues after the invalidate event', async () => {
  const stream = await opened(invoices.watch([], quick));
  await invoices.drop();
  const [drop, invalidate] = await take(stream, 2);
  expect([drop!.operationType, invalidate!.operationType]).toEqual(['drop', 'invalidate']);
  await expect(stream.next()).rejects.toThrow();
  await expect(resumed({ resumeAfter: invalidate!._id }).next()).rejects.toMatchObject({ code: 260 });
  const next = await opened(resumed({ startAfter: invalidate!._id }));
  await invoices.insertOne({ _id: 1 });
  expect(await next.next()).toMatchObject({ operationType: 'insert', documentKey: { _id: 1 } });
});

test('dropping the collection does not close the cursor of its stream before the invalidate event', async () => {
  const { cursor } = await db.command({ aggregate: 'invoices', pipeline: [{ $changeStream: {} }], cursor: {} });
  await invoices.drop();
  const more = await db.command({ getMore: cursor.id, collection: 'invoices' });
  expect(more.cursor.nextBatch.map((event: Document) => event.operationType)).toEqual(['drop', 'invalidate']);
  expect(Number(more.cursor.id)).toBe(0);
});

test('stages that are not allowed in change streams are refused', async () => {
  const stream = invoices.watch([{ $group: { _id: null } }]);
  open.push(stream);
  await expect(stream.next()).rejects.toThrow(/\$group/);
});

test('closing a stream ends its getMore on the server at once', async () => {
  const stream = resumed({ maxAwaitTimeMS: 100_000 });
  const waiting = stream.next().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 200));
  const start = performance.now();
  await stream.close();
  await waiting;
  expect(performance.now() - start).toBeLessThan(30_000);
});

describe('images and expanded events', () => {
  test('a collection with pre- and post-images returns documents before and after each change', async () => {
    const db = client.db(freshDbName('images'));
    await db.createCollection('c', { changeStreamPreAndPostImages: { enabled: true } });
    const items = db.collection<{ _id: number; n: number }>('c');
    await items.insertOne({ _id: 1, n: 1 });
    const stream = items.watch([], { fullDocument: 'required', fullDocumentBeforeChange: 'required' });
    await stream.tryNext();
    const seen = [];
    for (const change of [
      () => items.updateOne({ _id: 1 }, { $inc: { n: 1 } }),
      () => items.updateOne({ _id: 1 }, { $inc: { n: 1 } }),
      () => items.replaceOne({ _id: 1 }, { n: 9 }),
      () => items.deleteOne({ _id: 1 }),
    ]) {
      await change();
      const { fullDocumentBeforeChange, fullDocument }: Document = await stream.next();
      seen.push([fullDocumentBeforeChange?.n, fullDocument?.n]);
    }
    expect(seen).toEqual([
      [1, 2],
      [2, 3],
      [3, 9],
      [9, undefined],
    ]);
    await stream.close();
    expect((await db.listCollections().toArray())[0]).toMatchObject({
      options: { changeStreamPreAndPostImages: { enabled: true } },
    });
  });

  test('without images, whenAvailable returns null and required is error 47', async () => {
    const db = client.db(freshDbName('images'));
    const items = db.collection<{ _id: number; n: number }>('c');
    await items.insertOne({ _id: 1, n: 1 });
    const tolerant = items.watch([], { fullDocument: 'whenAvailable', fullDocumentBeforeChange: 'whenAvailable' });
    const strict = items.watch([], { fullDocument: 'required' });
    await tolerant.tryNext();
    await strict.tryNext();
    await items.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    expect(await tolerant.next()).toMatchObject({ fullDocument: null, fullDocumentBeforeChange: null });
    await expect(strict.next()).rejects.toMatchObject({ code: 47 });
    await tolerant.close();
    await strict.close();
  });

  test('showExpandedEvents adds events of collections and indexes, and disambiguatedPaths', async () => {
    const db = client.db(freshDbName('expanded'));
    await db.collection<{ _id: number }>('first').insertOne({ _id: 1 });
    const stream = db.watch([], { showExpandedEvents: true });
    const plain = db.watch();
    await stream.tryNext();
    await plain.tryNext();
    const items = await db.createCollection<{ _id: number; a?: unknown }>('c');
    await items.createIndex({ n: 1 });
    await items.dropIndex('n_1');
    await items.insertOne({ _id: 1, a: [{ 1: 1 }] });
    await items.updateOne({ _id: 1 }, { $set: { 'a.0.1': 2 } });
    const seen: Document[] = [];
    while (seen.length < 5) seen.push(await stream.next());
    expect(seen.map(({ operationType }) => operationType)).toEqual([
      'create',
      'createIndexes',
      'dropIndexes',
      'insert',
      'update',
    ]);
    expect(seen[1]?.operationDescription.indexes).toMatchObject([{ name: 'n_1', key: { n: 1 } }]);
    expect(seen[4]?.updateDescription.disambiguatedPaths).toEqual({ 'a.0.1': ['a', 0, '1'] });
    expect(seen[3]?.collectionUUID).toEqual(seen[0]?.collectionUUID);
    expect((await plain.next()).operationType).toBe('insert');
    await stream.close();
    await plain.close();
  });
});
