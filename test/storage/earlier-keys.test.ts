import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { createInvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { hasEarlierKeys, keepEarlierKeys } from '../../src/storage/earlier-keys.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const ids = createInvoiceIds('secret');
const MARK = 'the fingerprint of the first request';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('earlier_keys', true);
});
afterAll(() => store.close());

const invoices = () => store.db.collection<InvoiceDocument>('invoices');
const indexNames = async () => (await invoices().listIndexes().toArray()).map(({ name }) => name);

/** Stores invoices as an earlier version did: with random ids, and keys that a unique index keeps. */
async function storeEarlier(keys: readonly string[]): Promise<string[]> {
  await invoices().createIndex(
    { tenantId: 1, environment: 1, 'idempotency.key': 1 },
    { name: 'idempotency', unique: true, partialFilterExpression: { 'idempotency.key': { $exists: true } } },
  );
  const documents = keys.map((key) =>
    documentOf(pendingInvoice({ id: newId('inv') }), newCreationMoment().order, { key, fingerprint: MARK }),
  );
  await invoices().insertMany(documents);
  return documents.map(({ _id }) => _id);
}

async function repository() {
  await keepEarlierKeys(store.db, ids);
  return createInvoiceRepository(store.db, undefined, await hasEarlierKeys(store.db));
}

function create(repo: Awaited<ReturnType<typeof repository>>, key: string, fingerprint = 'of another request') {
  const invoice = pendingInvoice({});
  return repo.insert({ ...invoice, id: ids.ofKey(invoice, key) }, newCreationMoment().order, { key, fingerprint });
}

it('a new store has no earlier keys', async () => {
  await keepEarlierKeys(store.db, ids);
  expect(await hasEarlierKeys(store.db)).toBe(false);
});

it('keys of an earlier version still replay, also if the upgrade was interrupted, ran twice at once, or that version ran again', async () => {
  const keys = Array.from({ length: 1100 }, (_, n) => `key ${n}`);
  const [first, ...rest] = await storeEarlier(keys);
  // What an interrupted upgrade did.
  const owner = { tenantId: 'ten_test', environment: 'test' } as const;
  await store.db
    .collection('earlier_idempotency_keys')
    .insertOne({ _id: ids.ofKey(owner, 'key 0') as never, invoiceId: first });
  expect(await indexNames()).toContain('idempotency');
  await Promise.all([keepEarlierKeys(store.db, ids), keepEarlierKeys(store.db, ids)]);
  expect(await hasEarlierKeys(store.db)).toBe(true);
  expect(await indexNames()).not.toContain('idempotency');

  const repo = await repository();
  expect(await create(repo, 'key 0')).toMatchObject({ invoice: { id: first }, earlier: { fingerprint: MARK } });
  expect(await create(repo, 'key 1099')).toMatchObject({
    invoice: { id: rest.at(-1) },
    earlier: { fingerprint: MARK },
  });
  expect((await repo.findCreatedAs(ids.ofKey(owner, 'key 7')))?.id).toBe(rest[6]);
  expect(await create(repo, 'a new key', 'f')).toMatchObject({ earlier: null });
  expect(await create(repo, 'a new key')).toMatchObject({ earlier: { fingerprint: 'f' } });
  expect((await repo.findCreatedAs(ids.ofKey(owner, 'a new key')))?.id).toBe(ids.ofKey(owner, 'a new key'));
  expect(await repo.findCreatedAs(ids.ofKey(owner, 'an unknown key'))).toBeNull();

  const [later] = await storeEarlier(['later']);
  expect(await create(await repository(), 'later')).toMatchObject({
    invoice: { id: later },
    earlier: { fingerprint: MARK },
  });
  expect(await create(await repository(), 'a new key')).toMatchObject({ earlier: { fingerprint: 'f' } });
  expect(await invoices().countDocuments()).toBe(keys.length + 2);
  expect(await store.db.collection('earlier_idempotency_keys').countDocuments()).toBe(keys.length + 1);
});
