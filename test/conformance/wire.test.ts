import { serialize } from 'bson';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crc32c } from '../../src/engine/wire/crc32c.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { opMsg, WireClient } from '../support/wire-client.ts';

let mongo: TestMongo;
const clients: WireClient[] = [];

beforeAll(async () => {
  mongo = await startTestMongo();
});

afterAll(async () => {
  for (const client of clients) client.close();
  await mongo.close();
});

async function client(): Promise<WireClient> {
  const made = await WireClient.connect(mongo.uri);
  clients.push(made);
  return made;
}

/** Other servers may be less strict about bytes that no driver sends. */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

const ping = { ping: 1, $db: 'admin' };

describe('OP_MSG', () => {
  test('document sequences carry the documents of a write', async () => {
    const db = freshDbName();
    const wire = await client();
    const reply = await wire.command(
      { insert: 'c', $db: db },
      {
        sequences: {
          documents: [
            { _id: 1, a: 'x' },
            { a: 'y', _id: 2 },
          ],
        },
      },
    );
    expect(reply).toMatchObject({ ok: 1, n: 2 });
    const { cursor } = await wire.command({ find: 'c', sort: { _id: 1 }, $db: db });
    expect(cursor.firstBatch).toEqual([
      { _id: 1, a: 'x' },
      { _id: 2, a: 'y' },
    ]);
    expect(Object.keys(cursor.firstBatch[1])).toEqual(['_id', 'a']);
  });

  test.skipIf(elsewhere)('a checksum is verified', async () => {
    const trailer = (message: Buffer): Buffer => {
      const sum = Buffer.alloc(4);
      sum.writeUInt32LE(crc32c(message));
      return sum;
    };
    const good = await client();
    expect(await good.command(ping, { flags: 1, trailer })).toMatchObject({ ok: 1 });
    const bad = await client();
    bad.send(bad.message(ping, { flags: 1, trailer: () => Buffer.alloc(4) }));
    await bad.closed();
  });

  test('moreToCome gets no answer, and its write is executed', async () => {
    const db = freshDbName();
    const wire = await client();
    wire.send(wire.message({ insert: 'c', documents: [{ _id: 1 }], writeConcern: { w: 0 }, $db: db }, { flags: 2 }));
    expect(await wire.command({ count: 'c', $db: db })).toMatchObject({ n: 1 });
  });

  test('requests sent at once are answered in order', async () => {
    const db = freshDbName();
    const wire = await client();
    wire.send(Buffer.concat([1, 2, 3].map((_id) => wire.message({ insert: 'c', documents: [{ _id }], $db: db }))));
    wire.send(wire.message({ count: 'c', $db: db }));
    const replies = [await wire.reply(), await wire.reply(), await wire.reply(), await wire.reply()];
    expect(replies.map((reply) => reply.n)).toEqual([1, 1, 1, 3]);
  });

  test('a message that arrives byte by byte is read as one message', async () => {
    const wire = await client();
    for (const byte of wire.message(ping)) {
      wire.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await wire.reply()).toMatchObject({ ok: 1 });
  });
});

test('the legacy handshake is answered with OP_REPLY', async () => {
  const wire = await client();
  const query = Buffer.concat([
    Buffer.alloc(20),
    Buffer.from('admin.$cmd\0'),
    Buffer.alloc(8),
    serialize({ ismaster: 1, helloOk: true }),
  ]);
  query.writeInt32LE(query.length, 0);
  query.writeInt32LE(7, 4);
  query.writeInt32LE(2004, 12);
  query.writeInt32LE(-1, query.length - serialize({ ismaster: 1, helloOk: true }).length - 4);
  wire.send(query);
  expect(await wire.reply()).toMatchObject({ ok: 1, ismaster: true, helloOk: true });
});

describe.skipIf(elsewhere)('an invalid message closes its connection, and no other', () => {
  const header = (length: number, opcode: number): Buffer => {
    const bytes = Buffer.alloc(Math.max(16, Math.min(length, 64)));
    bytes.writeInt32LE(length, 0);
    bytes.writeInt32LE(opcode, 12);
    return bytes;
  };
  const cases: [string, Buffer][] = [
    ['a negative length', header(-5, 2013)],
    ['a length beyond the limit', header(48_000_001, 2013)],
    ['a length below the header', header(8, 2013)],
    ['an unknown opcode', header(32, 4711)],
    ['a body that is longer than its message', opMsg(1, ping).fill(0x7f, 21, 23)],
    ['unknown required flags', opMsg(1, ping, { flags: 1 << 7 })],
    ['an unknown section', opMsg(1, ping).fill(9, 20, 21)],
    ['malformed BSON', opMsg(1, ping).fill(0xee, 25, 26)],
  ];
  test.each(cases)('%s', async (_, bytes) => {
    const other = await client();
    const wire = await client();
    wire.send(bytes);
    await wire.closed();
    expect(await other.command(ping)).toMatchObject({ ok: 1 });
  });
});

test('unknown commands and options are MongoDB errors, and the connection stays open', async () => {
  const wire = await client();
  expect(await wire.command({ nonsense: 'c', $db: 'test' })).toMatchObject({
    ok: 0,
    code: 59,
    codeName: 'CommandNotFound',
  });
  expect(await wire.command({ ping: 1, nonsense: 1, $db: 'test' })).toMatchObject({ ok: 0, code: 40415 });
  expect(await wire.command(ping)).toMatchObject({ ok: 1 });
});

test('half-open and idle connections do not block two hundred others', async () => {
  const half = await client();
  half.send(opMsg(1, ping).subarray(0, 30));
  const many = await Promise.all(Array.from({ length: 200 }, client));
  const replies = await Promise.all(many.map((wire) => wire.command(ping)));
  expect(replies.every((reply) => reply.ok === 1)).toBe(true);
});

test('a document above 16 MiB is refused, one of 16 MiB is not', async () => {
  const mongoClient = await new MongoClient(mongo.uri).connect();
  try {
    const collection = mongoClient.db(freshDbName()).collection<{ _id: number; s: string }>('c');
    const overhead = serialize({ _id: 1, s: '' }).length;
    const s = 'x'.repeat(16 * 1024 * 1024 - overhead);
    await collection.insertOne({ _id: 1, s });
    expect((await collection.findOne({ _id: 1 }))?.s.length).toBe(s.length);
    await expect(collection.updateOne({ _id: 1 }, { $set: { t: 1 } })).rejects.toThrow(/large|size/i);
  } finally {
    await mongoClient.close();
  }
});
