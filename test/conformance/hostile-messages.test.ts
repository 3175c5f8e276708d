import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EJSON, serialize } from 'bson';
import fc from 'fast-check';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { firstOf, sampled } from '../support/samples.ts';
import { opMsg, WireClient } from '../support/wire-client.ts';
import { value } from '../unit/engine/arbitraries.ts';

/** Runs the embedded engine in its own process against hostile clients. */
let folder: string;
let engine: EngineProcess;
let friend: MongoClient;
const clients: WireClient[] = [];
const ping = { ping: 1, $db: 'admin' };
const internalError = 1;
const seed = Number(process.env.TEST_SEED ?? 7);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngineProcess(folder);
  friend = await new MongoClient(engine.uri).connect();
});

afterAll(async () => {
  for (const client of clients) client.close();
  await friend.close();
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

async function client(): Promise<WireClient> {
  const made = await WireClient.connect(engine.uri);
  clients.push(made);
  return made;
}

type Mutation = (bytes: Buffer) => Buffer;

/** Nests `levels` documents or arrays without recursion: `{a: {a: … {}}}`. */
function nested(levels: number, type: 3 | 4 = 3): Buffer {
  const name = Buffer.from(type === 3 ? 'a\0' : '0\0');
  const size = (level: number): number => 5 + level * (7 + 1);
  const head = (level: number): Buffer => {
    const bytes = Buffer.alloc(7);
    bytes.writeInt32LE(size(level), 0);
    bytes[4] = type;
    name.copy(bytes, 5);
    return bytes;
  };
  const heads = Array.from({ length: levels }, (_, n) => head(levels - n));
  return Buffer.concat([...heads, Buffer.from([5, 0, 0, 0, 0]), Buffer.alloc(levels)]);
}

/** An OP_MSG whose body is `body` with one additional field of raw bytes. */
function withField(body: Document, type: number, name: string, value: Buffer): Buffer {
  const start = serialize(body).subarray(4, -1);
  const field = Buffer.concat([Buffer.from([type]), Buffer.from(`${name}\0`), value]);
  const whole = Buffer.concat([Buffer.alloc(25), start, field, Buffer.alloc(1)]);
  whole.writeInt32LE(whole.length, 0);
  whole.writeInt32LE(2013, 12);
  whole.writeInt32LE(whole.length - 21, 21);
  return whole;
}

describe('hostile input', { timeout: 180_000 }, () => {
  const lsid = { id: new Uint8Array(16) };
  const valid = [
    opMsg(
      1,
      { insert: 'c', $db: 'fuzz' },
      { sequences: { documents: [{ n: 1, list: [1, 'x', { y: 2.5 }] }, { n: 2 }] } },
    ),
    opMsg(2, { insert: 'c', documents: [{ _id: 'text', when: new Date(0), list: [[], {}] }], $db: 'fuzz', lsid }),
    opMsg(3, {
      update: 'c',
      updates: [{ q: { n: 1 }, u: { $inc: { m: 1 }, $push: { list: 3 } }, upsert: true }],
      $db: 'fuzz',
    }),
    opMsg(4, {
      find: 'c',
      filter: { 'list.y': { $gt: 1, $ne: null } },
      sort: { n: -1 },
      limit: 5,
      batchSize: 2,
      $db: 'fuzz',
    }),
    opMsg(5, {
      aggregate: 'c',
      pipeline: [{ $group: { _id: '$n', k: { $sum: 1 } } }, { $sort: { k: 1 } }],
      cursor: {},
      $db: 'fuzz',
    }),
    opMsg(6, {
      findAndModify: 'c',
      query: { n: 2 },
      update: { $set: { 'a.b': 1 } },
      new: true,
      upsert: true,
      $db: 'fuzz',
    }),
    opMsg(7, { createIndexes: 'c', indexes: [{ key: { n: 1, m: -1 }, name: 'n_m' }], $db: 'fuzz' }),
    opMsg(8, { delete: 'c', deletes: [{ q: { n: { $in: [1, 2] } }, limit: 1 }], txnNumber: 1, lsid, $db: 'fuzz' }),
    opMsg(9, { getMore: 7, collection: 'c', batchSize: 3, $db: 'fuzz' }),
    opMsg(10, { hello: 1, helloOk: true, client: { driver: { name: 'x' } }, $db: 'admin' }),
  ];
  const position = fc.nat(10_000);
  const mutation: fc.Arbitrary<Mutation> = fc.oneof(
    fc.tuple(position, fc.nat(255)).map(
      ([at, byte]) =>
        (bytes: Buffer) =>
          bytes.fill(byte, at % bytes.length, (at % bytes.length) + 1),
    ),
    fc.tuple(position, fc.nat(7)).map(([at, bit]) => (bytes: Buffer) => {
      const place = 16 + (at % Math.max(1, bytes.length - 16));
      bytes[place] = bytes[place]! ^ (1 << bit);
      return bytes;
    }),
    fc
      .tuple(position, fc.constantFrom(-1, 0, 1, 4, 5, 2 ** 31 - 1, -(2 ** 31)))
      .map(([at, number]) => (bytes: Buffer) => {
        if (bytes.length < 20) return bytes;
        bytes.writeInt32LE(number, 16 + (at % Math.max(1, bytes.length - 20)));
        return bytes;
      }),
    position.map((at) => (bytes: Buffer) => bytes.subarray(0, 16 + (at % Math.max(1, bytes.length - 16)))),
    fc.tuple(position, fc.uint8Array({ minLength: 1, maxLength: 20 })).map(([at, more]) => (bytes: Buffer) => {
      const place = 16 + (at % Math.max(1, bytes.length - 16));
      return Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)]);
    }),
  );
  /** A message with some bytes changed. Its length field is usually corrected, so that the content is parsed. */
  const hostile = fc
    .tuple(fc.constantFrom(...valid), fc.array(mutation, { minLength: 1, maxLength: 2 }), fc.nat(9))
    .map(([message, mutations, honest]) => {
      const bytes = mutations.reduce<Buffer>((made, change) => change(made), Buffer.from(message));
      if (honest > 0) bytes.writeInt32LE(bytes.length, 0);
      return bytes;
    });

  async function answeredElsewhere(times: number): Promise<void> {
    for (let n = 0; n < times; n++) await friend.db('admin').command({ ping: 1 });
  }

  test('gets an error or a closed connection; stored data is intact', async () => {
    const messages = [
      ...fc.sample(hostile, { numRuns: sampled(1200), seed }),
      ...fc
        .sample(fc.uint8Array({ minLength: 16, maxLength: 100 }), { numRuns: sampled(200), seed })
        .map((each) => Buffer.from(each)),
    ];
    const outcomes = { answered: 0, closed: 0 };
    const send = async (bytes: Buffer): Promise<[WireClient, Buffer]> => {
      const wire = await client();
      wire.send(bytes);
      wire.send(wire.message(ping));
      return [wire, bytes];
    };
    const judge = async ([wire, bytes]: [WireClient, Buffer], silent: Promise<void>): Promise<void> => {
      const reply = await Promise.race([wire.reply().catch(() => 'closed'), silent]);
      if (reply === 'closed') outcomes.closed++;
      else if (typeof reply === 'object') {
        outcomes.answered++;
        expect(reply.code, `${bytes.toString('base64')}: ${reply.errmsg}`).not.toBe(internalError);
      }
      wire.close();
    };
    while (messages.length > 0) {
      const sent = await Promise.all(messages.splice(0, 150).map(send));
      // After a message that claims to be longer than it is, the server waits for more bytes, and the ping may be read
      // as a part of it and never be answered. Once another connection has been answered many times, no more answers
      // are to come on these.
      const silent = answeredElsewhere(50);
      await Promise.all(sent.map((each) => judge(each, silent)));
    }
    expect(outcomes.answered).toBeGreaterThan(sampled(100));
    expect(outcomes.closed).toBeGreaterThan(sampled(100));

    for (const { name: database } of (await friend.db('admin').admin().listDatabases()).databases) {
      for (const { name } of await friend.db(database).listCollections().toArray()) {
        await friend.db(database).collection(name).find().toArray();
        expect(await friend.db(database).command({ validate: name })).toMatchObject({ valid: true, errors: [] });
      }
    }
  });

  test('in well-formed commands is answered with an error that states the cause', async () => {
    const commands: Document[] = [
      { insert: 'c', documents: [{ n: 1 }], ordered: true },
      { update: 'c', updates: [{ q: { n: 1 }, u: { $set: { a: 1 } }, multi: true, upsert: false, arrayFilters: [] }] },
      { delete: 'c', deletes: [{ q: { n: 1 }, limit: 0, hint: 'n_1' }], let: {} },
      {
        find: 'c',
        filter: { n: { $in: [1] } },
        sort: { n: 1 },
        projection: { n: 1 },
        skip: 0,
        limit: 1,
        hint: { _id: 1 },
      },
      { findAndModify: 'c', query: { n: 1 }, sort: { n: 1 }, update: { $inc: { n: 1 } }, fields: { n: 1 }, new: true },
      {
        aggregate: 'c',
        pipeline: [{ $match: { n: 1 } }, { $group: { _id: '$n', s: { $sum: 1 } } }],
        cursor: { batchSize: 1 },
      },
      {
        aggregate: 'c',
        pipeline: [{ $changeStream: { fullDocument: 'updateLookup', resumeAfter: { _data: '82' } } }],
        cursor: {},
      },
      { count: 'c', query: { n: 1 }, limit: 1, skip: 1 },
      { distinct: 'c', key: 'n', query: { n: 1 } },
      { explain: { find: 'c', filter: { n: 1 } }, verbosity: 'queryPlanner' },
      {
        createIndexes: 'd',
        indexes: [
          { key: { n: 1 }, name: 'n_1', unique: false, partialFilterExpression: { n: 1 }, expireAfterSeconds: 9 },
        ],
      },
      { collMod: 'c', index: { name: 'n_1', expireAfterSeconds: 10 } },
      { create: 'e', capped: false },
      { dropIndexes: 'd', index: 'n_1' },
      { listCollections: 1, filter: { name: 'c' }, nameOnly: true },
      { listIndexes: 'c', cursor: { batchSize: 1 } },
      { getMore: 1, collection: 'c', batchSize: 1, maxTimeMS: 1 },
      { killCursors: 'c', cursors: [1] },
      { endSessions: [{ id: 1 }] },
      { validate: 'c', full: true },
      { renameCollection: 'nonsense.e', to: 'nonsense.f', dropTarget: true },
      { listDatabases: 1, filter: { name: 'c' } },
      { getParameter: 1, x: 1 },
      { drop: 'e' },
    ];
    const common = {
      lsid: { id: 1 },
      txnNumber: 1,
      readConcern: { level: 'local' },
      writeConcern: { w: 1 },
      maxTimeMS: 1000,
    };
    /** The command with one of its values replaced. */
    const spoilt = (made: unknown, way: number, spoil: unknown): unknown => {
      if (typeof made !== 'object' || made === null || Object.keys(made).length === 0) return spoil;
      const keys = Object.keys(made);
      const key = keys[way % keys.length]!;
      const inner = way % 3 === 0 ? spoil : spoilt((made as Document)[key], Math.floor(way / keys.length), spoil);
      return Array.isArray(made)
        ? made.map((item, n) => (String(n) === key ? inner : item))
        : { ...made, [key]: inner };
    };
    const wire = await client();
    let refused = 0;
    const defects = new Map<string, string>();
    const cases = fc.tuple(fc.constantFrom(...commands), fc.nat(), value, fc.boolean());
    for (const [command, way, spoil, more] of fc.sample(cases, { numRuns: sampled(2500), seed })) {
      const base = more ? { ...command, ...common } : command;
      const body = { ...(spoilt(base, way, spoil) as Document), $db: 'nonsense' };
      const reply = await wire.command(
        'renameCollection' in body || 'listDatabases' in body ? { ...body, $db: 'admin' } : body,
      );
      if (reply.code === internalError) defects.set(reply.errmsg, EJSON.stringify(body));
      if (reply.ok === 0) refused++;
    }
    expect(Object.fromEntries(defects)).toEqual({});
    expect(refused).toBeGreaterThan(sampled(800));
  });

  test('nested too deeply is error 15 in a command, an insert and an update', async () => {
    const wire = await client();
    for (const [levels, ok] of [
      [170, 1],
      [250, 0],
      [200_000, 0],
    ] as const) {
      const answer = ok ? { ok } : { ok, code: 15, codeName: 'Overflow' };
      wire.send(withField({ find: 'c', $db: 'deep' }, 3, 'filter', nested(levels)));
      expect(await wire.reply()).toMatchObject(answer);
      wire.send(withField({ aggregate: 'c', cursor: {}, $db: 'deep' }, 4, 'pipeline', nested(levels, 4)));
      expect(await wire.reply()).toMatchObject(ok ? { ok: 0, code: 14 } : answer);
    }
    const collection = friend.db('deep').collection<Document>('c');
    const deep = (levels: number): Document => {
      let made: Document = {};
      for (let level = 0; level < levels; level++) made = level % 2 ? { a: made } : { a: [made] };
      return made;
    };
    await collection.insertOne({ _id: 1, ...deep(110) } as Document);
    await expect(collection.insertOne({ _id: 2, ...deep(125) } as Document)).rejects.toMatchObject({ code: 15 });
    const path = Array.from({ length: 190 }, () => 'b').join('.');
    await expect(collection.updateOne({ _id: 1 } as Document, { $set: { [path]: 1 } })).rejects.toMatchObject({
      code: 15,
    });
    expect(await collection.countDocuments()).toBe(1);
    expect(await wire.command(ping)).toMatchObject({ ok: 1 });
  });

  test('of huge arrays is answered', async () => {
    const collection = friend.db('huge').collection<{ _id: number; a: number }>('c');
    await collection.createIndex({ a: 1 });
    await collection.insertMany(Array.from({ length: 100 }, (_, _id) => ({ _id, a: _id })));
    const many = Array.from({ length: 100_000 }, (_, n) => n);
    expect(await collection.countDocuments({ a: { $in: many } })).toBe(100);
    expect(await collection.countDocuments({ a: { $nin: many } })).toBe(0);
    const clauses = Array.from({ length: 5000 }, (_, a) => ({ a }));
    expect(await collection.countDocuments({ $or: clauses })).toBe(100);
    await collection.updateOne({ _id: 0 }, { $set: { list: many } as Document });
    await collection.updateOne({ _id: 0 }, { $addToSet: { list: { $each: [1, 2, -1] } } as Document });
    expect((await collection.findOne<Document>({ _id: 0 }))?.list).toHaveLength(100_001);
  });

  test('of expressions that allocate without limit is error 146 and uses bounded memory', async () => {
    const collection = friend.db('expressions').collection<{ _id: number }>('c');
    await collection.insertOne({ _id: 1 });
    const made = (expression: Document): Promise<Document[]> =>
      collection.aggregate([{ $project: { n: { $size: expression } } }]).toArray();
    const range = (n: number): Document => ({ $range: [0, n] });
    const doubled = { $concatArrays: ['$$value', '$$value'] };
    for (const expression of firstOf(
      [
        range(2_000_000_000),
        { $reduce: { input: range(60), initialValue: [1], in: doubled } },
        { $map: { input: range(100_000), in: range(100_000) } },
        { $range: [0, -2_000_000_000, -1] },
        { $map: { input: range(1000), in: { $map: { input: range(100_000), as: 'inner', in: '$$inner' } } } },
      ],
      4,
    )) {
      await expect(made(expression)).rejects.toMatchObject({ code: 146 });
    }
    const text = { $reduce: { input: range(60), initialValue: 'x', in: { $concat: ['$$value', '$$value'] } } };
    await expect(made({ $split: [text, 'y'] })).rejects.toMatchObject({ code: 146 });
    expect(await made(range(1_000_000))).toEqual([{ _id: 1, n: 1_000_000 }]);
  });
});
