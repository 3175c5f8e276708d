import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { GridFSBucket, MongoClient, MongoRuntimeError } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let bucket: GridFSBucket;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
  bucket = new GridFSBucket(client.db(freshDbName('gridfs')), { bucketName: 'files' });
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

async function upload(name: string, bytes: Buffer, metadata = {}): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  bucket.openUploadStream(name, { metadata }).on('error', reject).on('finish', resolve).end(bytes);
  await promise;
}

test.each([0, 1, 255 * 1024, 3_000_000])('a file of %i bytes is read as it was stored', async (size) => {
  const bytes = randomBytes(size);
  await upload(`file-${size}`, bytes, { size });
  const [file] = await bucket.find({ filename: `file-${size}` }).toArray();
  expect(file).toMatchObject({ length: size, metadata: { size } });
  expect((await buffer(bucket.openDownloadStreamByName(`file-${size}`))).equals(bytes)).toBe(true);
});

test('a range of a file can be read', async () => {
  const bytes = randomBytes(600_000);
  await upload('part', bytes);
  const part = await buffer(bucket.openDownloadStreamByName('part', { start: 250_000, end: 300_000 }));
  expect(part.equals(bytes.subarray(250_000, 300_000))).toBe(true);
});

test('deleting a file removes its chunks', async () => {
  await upload('gone', randomBytes(300_000));
  const [file] = await bucket.find({ filename: 'gone' }).toArray();
  await bucket.delete(file!._id);
  await expect(buffer(bucket.openDownloadStream(file!._id))).rejects.toThrow(MongoRuntimeError);
});
