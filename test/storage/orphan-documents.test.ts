import { ObjectId } from 'mongodb';
import { beforeEach, expect, it } from 'vitest';
import type { Store } from '../../src/storage/connect.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { createOrphanCollector } from '../../src/storage/orphan-documents.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeEach(async () => {
  store = await openTestStore('orphans');
  return () => store.close();
});

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const files = () => store.db.collection('documents.files').countDocuments();
const chunks = () => store.db.collection('documents.chunks').countDocuments();

/** An invoice with a recorded XML and PDF, and a stored PDF that was never recorded. */
async function invoiceWithOrphan(id: string) {
  const documents = createDocumentStore(store.db);
  const xml = await documents.put(Buffer.from('<a/>'), `${id}.xml`, 'application/xml');
  const orphan = await documents.put(Buffer.from('%PDF lost'), `${id}.pdf`, 'application/pdf');
  const pdf = await documents.put(Buffer.from('%PDF'), `${id}.pdf`, 'application/pdf');
  await store.db.collection<{ _id: string; xml: object; pdf: object }>('invoices').insertOne({ _id: id, xml, pdf });
  return { xml, pdf, orphan };
}

it('removes files that were never recorded, and none that an invoice refers to', async () => {
  const kept = await Promise.all(['inv_1', 'inv_2'].map(invoiceWithOrphan));
  expect(await createOrphanCollector(store.db).collect(inMinutes(61))).toBe(2);
  const documents = createDocumentStore(store.db);
  for (const { xml, pdf, orphan } of kept) {
    expect(String(await documents.get(xml))).toBe('<a/>');
    expect(String(await documents.get(pdf))).toBe('%PDF');
    await expect(documents.get(orphan)).rejects.toThrow(orphan.file);
  }
  expect([await files(), await chunks()]).toEqual([4, 4]);
});

it('keeps the receipt and the cleared document that an invoice refers to, and removes others', async () => {
  const documents = createDocumentStore(store.db);
  const put = (suffix: string) => documents.put(Buffer.from('<a/>'), `inv_1.${suffix}`, 'application/xml');
  const [receipt, cleared] = [await put('receipt.xml'), await put('cleared.xml')];
  await put('receipt.xml');
  await put('cleared.xml');
  const invoices = store.db.collection<{ _id: string; receipt: unknown; cleared: unknown }>('invoices');
  await invoices.insertOne({ _id: 'inv_1', receipt, cleared });
  expect(await createOrphanCollector(store.db).collect(inMinutes(61))).toBe(2);
  for (const kept of [receipt, cleared]) expect(String(await documents.get(kept))).toBe('<a/>');
});

it('keeps a file for an hour, while it may still be recorded', async () => {
  await invoiceWithOrphan('inv_1');
  const collector = createOrphanCollector(store.db);
  expect(await collector.collect(inMinutes(59))).toBe(0);
  expect(await files()).toBe(3);
  expect(await collector.collect(inMinutes(61))).toBe(1);
});

it('removes the chunks of an incomplete file', async () => {
  await invoiceWithOrphan('inv_1');
  await store.db
    .collection('documents.chunks')
    .insertOne({ files_id: new ObjectId(), n: 0, data: Buffer.from('half') });
  expect(await createOrphanCollector(store.db).collect(inMinutes(61))).toBe(2);
  expect([await files(), await chunks()]).toEqual([2, 2]);
});

it('keeps documents whose invoice does not exist', async () => {
  await createDocumentStore(store.db).put(Buffer.from('%PDF'), 'inv_unknown.pdf', 'application/pdf');
  expect(await createOrphanCollector(store.db).collect(inMinutes(61))).toBe(0);
  expect(await files()).toBe(1);
});

it('checks each file once, by an index', async () => {
  await invoiceWithOrphan('inv_1');
  await createOrphanCollector(store.db).collect(inMinutes(61));
  // A second check would remove this file.
  await store.db.collection('invoices').updateMany({}, { $set: { pdf: null } });
  expect(await createOrphanCollector(store.db).collect(inMinutes(62))).toBe(0);
  const plan = await store.db
    .collection('documents.chunks')
    .find({ files_id: { $gt: new ObjectId(), $lt: new ObjectId() } })
    .sort({ files_id: 1, n: 1 })
    .explain('queryPlanner');
  expect(JSON.stringify(plan)).toContain('IXSCAN');
});
