import { createHash } from 'node:crypto';
import { Binary, type Document, GridFSBucket, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/domain/invoice/invoice.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { CHUNK_BYTES, createDocumentStore } from '../../src/storage/documents.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { firstOf } from '../support/samples.ts';

const MEBIBYTE = 1024 * 1024;
/** The bytes of a document of three chunks. */
const LARGE = Buffer.alloc(9 * MEBIBYTE, 'abcdefg');

let mongo: TestMongo;
let store: Store;
/** It, stored once for those that only read it. */
let large: StoredDocument;

beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('documents'), true);
  large = await createDocumentStore(store.db).put(LARGE, 'a.pdf', 'application/pdf');
});
afterAll(async () => {
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
});

/** What `act` sends to the store, each by command and collection. */
async function commandsDuring<Result>(act: () => Promise<Result>): Promise<{ result: Result; commands: string[] }> {
  const commands: string[] = [];
  const note = ({ commandName, command }: { commandName: string; command: Document }) => {
    commands.push(`${commandName} ${command[commandName]}`);
  };
  store.client.on('commandStarted', note);
  const result = await act().finally(() => store.client.off('commandStarted', note));
  return { result, commands };
}

it('returns the stored bytes, also of several chunks', async () => {
  const documents = createDocumentStore(store.db);
  for (const size of [0, 1, 5 * 1024 * 1024]) {
    const bytes = Buffer.alloc(size, 'é€');
    const stored = await documents.put(bytes, 'a.xml', 'application/xml');
    expect(stored).toMatchObject({ size, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(Buffer.compare(await documents.get(stored), bytes)).toBe(0);
  }
});

it('reads those that are asked for at the same time with one command', async () => {
  const documents = createDocumentStore(store.db);
  const texts = Array.from({ length: 20 }, (_, n) => `<a n="${n}"/>`);
  const stored = await Promise.all(texts.map((text) => documents.put(Buffer.from(text), 'a.xml', 'application/xml')));
  const asked = [...stored, stored[3]!];
  const { result: read, commands } = await commandsDuring(() => Promise.all(asked.map(documents.get)));
  expect(commands).toEqual(['find documents.chunks']);
  expect(read.map(String)).toEqual([...texts, texts[3]]);
});

it.each([
  ['the first bytes', 0, 9],
  ['bytes on both sides of the end of a chunk', 4 * MEBIBYTE - 2, 4 * MEBIBYTE + 1],
  ['the last byte of a chunk', 4 * MEBIBYTE - 1, 4 * MEBIBYTE - 1],
  ['the first byte of a chunk', 4 * MEBIBYTE, 4 * MEBIBYTE],
  ['more than one whole chunk', 1, 8 * MEBIBYTE + 1],
  ['the last bytes', 9 * MEBIBYTE - 5, 9 * MEBIBYTE - 1],
])('streams a part: %s', async (_name, first, last) => {
  const parts = await Array.fromAsync(createDocumentStore(store.db).read(large, { first, last }));
  expect(Buffer.compare(Buffer.concat(parts), LARGE.subarray(first, last + 1))).toBe(0);
});

it('reads a large document piece by piece, each when it is asked for', async () => {
  const pieces = createDocumentStore(store.db).read(large)[Symbol.asyncIterator]();
  const { result, commands } = await commandsDuring(() => pieces.next());
  expect(commands).toEqual(['find documents.chunks']);
  expect(result.value?.length).toBe(CHUNK_BYTES);
});

it.each(firstOf([2, 0, 1]))('never returns a document that lacks its chunk %i, whole or in part', async (n) => {
  const documents = createDocumentStore(store.db);
  const stored = await documents.put(BYTES, 'a.pdf', 'application/pdf');
  const small = await documents.put(Buffer.from('<a/>'), 'a.xml', 'application/xml');
  await store.db.collection('documents.chunks').deleteOne({ files_id: new ObjectId(stored.file), n });
  await expectRefused(documents, stored, small);
});

it.each(firstOf([0, 1, 2]))('never returns a document whose chunk %i has other bytes than it should', async (n) => {
  const documents = createDocumentStore(store.db);
  const stored = await documents.put(BYTES, 'a.pdf', 'application/pdf');
  const small = await documents.put(Buffer.from('<a/>'), 'a.xml', 'application/xml');
  await store.db
    .collection('documents.chunks')
    .updateOne({ files_id: new ObjectId(stored.file), n }, { $set: { data: new Binary(Buffer.alloc(999)) } });
  await expectRefused(documents, stored, small);
});

it('fails for a document without a file alone, not for those that are read beside it', async () => {
  const documents = createDocumentStore(store.db);
  const good = await documents.put(Buffer.from('<a/>'), 'a.xml', 'application/xml');
  const removed = { ...good, file: new ObjectId().toHexString() };
  const [broken, gone, read] = await Promise.allSettled([{ ...good, file: 'zz' }, removed, good].map(documents.get));
  expect([broken?.status, gone?.status, read?.status]).toEqual(['rejected', 'rejected', 'fulfilled']);
});

/** Three chunks with different bytes. */
const BYTES = Buffer.concat(['a', 'b', 'c'].map((each, n) => Buffer.alloc(n < 2 ? CHUNK_BYTES : 1000, each)));

/** `stored` is not returned, and a stream of it ends with an error after right bytes only; `small` is read. */
async function expectRefused(
  documents: ReturnType<typeof createDocumentStore>,
  stored: StoredDocument,
  small: StoredDocument,
): Promise<void> {
  const [lacking, complete] = await Promise.allSettled([documents.get(stored), documents.get(small)]);
  expect(lacking).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining(stored.file) } });
  expect(complete).toMatchObject({ status: 'fulfilled' });
  let at = 0;
  const reading = (async () => {
    for await (const part of documents.read(stored)) {
      expect(Buffer.compare(part, BYTES.subarray(at, at + part.length))).toBe(0);
      at += part.length;
    }
  })();
  await expect(reading).rejects.toThrow(stored.file);
}

it.each(['files', 'chunks'])(
  'says so when the store refuses a write to its %s: nothing counts as stored',
  async (part) => {
    // A second write violates the unique index on every server.
    const other = store.client.db(`${store.db.databaseName}_${part}`);
    const collection = other.collection(`documents.${part}`);
    await collection.insertOne({ refused: 1 });
    await collection.createIndex({ always_missing: 1 }, { unique: true });
    try {
      await expect(createDocumentStore(other).put(Buffer.from('<a/>'), 'a.xml', 'application/xml')).rejects.toThrow(
        /E11000/,
      );
    } finally {
      await other.dropDatabase();
    }
  },
);

it('writes those that are put at the same time together: one command for their chunks, one for their files', async () => {
  const documents = createDocumentStore(store.db);
  const texts = Array.from({ length: 64 }, (_, n) => `<a n="${n}"/>`);
  const put = (text: string) => documents.put(Buffer.from(text), 'a.xml', 'application/xml');
  const { result: stored, commands } = await commandsDuring(() => Promise.all(texts.map(put)));
  expect(commands).toEqual(['insert documents.chunks', 'insert documents.files']);
  for (const [n, each] of stored.entries()) expect(String(await documents.get(each))).toBe(texts[n]);
});

it('stores documents in the format of the driver', async () => {
  const bytes = Buffer.alloc(5 * 1024 * 1024, 'é');
  const { file } = await createDocumentStore(store.db).put(bytes, 'ours.xml', 'application/xml');
  const bucket = new GridFSBucket(store.db, { bucketName: 'documents', chunkSizeBytes: CHUNK_BYTES });
  const upload = bucket.openUploadStream('theirs.xml', { metadata: { contentType: 'application/xml' } });
  await new Promise((resolve, reject) => upload.once('finish', resolve).once('error', reject).end(bytes));
  const entriesOf = async (name: string) => {
    const entry = await store.db.collection('documents.files').findOne({ filename: name });
    const chunks = await store.db
      .collection('documents.chunks')
      .find({ files_id: entry?._id })
      .sort({ n: 1 })
      .toArray();
    const anyOf = (each: Document | null) => ({ ...each, _id: each?._id?._bsontype });
    return {
      entry: { ...anyOf(entry), filename: '', uploadDate: entry?.uploadDate instanceof Date },
      chunks: chunks.map(({ data, ...each }) => ({
        ...anyOf(each),
        files_id: each.files_id.equals(entry?._id),
        // An assertion would look at each of the millions of bytes.
        data: [data._bsontype, data.sub_type, data.length(), createHash('sha256').update(data.buffer).digest('hex')],
      })),
    };
  };
  const [ours, theirs] = [await entriesOf('ours.xml'), await entriesOf('theirs.xml')];
  expect(Object.keys(ours.entry)).toEqual(Object.keys(theirs.entry));
  expect(ours).toEqual(theirs);
  expect(file).toHaveLength(24);
});

it.each([
  ['files', 'filename'],
  ['chunks', 'data'],
])('of those put together, only the one fails that the store refuses, by its %s', async (part, field) => {
  const other = store.client.db(`${store.db.databaseName}_one_${part}`);
  await other.collection(`documents.${part}`).createIndex({ [field]: 1 }, { unique: true });
  try {
    const documents = createDocumentStore(other);
    const put = (text: string) => documents.put(Buffer.from(text), `${text}.xml`, 'application/xml');
    const results = await Promise.allSettled(['a', 'b', 'a', 'c'].map(put));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    const files = await other.collection('documents.files').find().toArray();
    expect(files.map(({ filename }) => filename).sort()).toEqual(['a.xml', 'b.xml', 'c.xml']);
    for (const each of results) {
      if (each.status === 'fulfilled') expect(await documents.get(each.value)).toHaveLength(1);
      else expect(String(each.reason)).toMatch(/E11000/);
    }
  } finally {
    await other.dropDatabase();
  }
});
