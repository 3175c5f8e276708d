import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { batchesOf } from '../../src/domain/invoice/periods/export-declaration.ts';
import { periodNamed } from '../../src/domain/invoice/periods/period.ts';
import type { PeriodDocuments } from '../../src/domain/invoice/periods/ports.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createPeriodDocuments } from '../../src/storage/period-documents.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openTestStore } from '../support/store.ts';

const JULY = periodNamed('2026-07');

let store: Store;
let documents: PeriodDocuments;
beforeAll(async () => {
  store = await openTestStore('period_documents', true);
  documents = createPeriodDocuments(store.db);
});
afterAll(() => store.close());

/** Stores an accepted invoice. @param aheadMs by how much its key is after its creation */
async function issued(tenantId: string, at: string, changes: Partial<Invoice> = {}, aheadMs = 0): Promise<string> {
  const createdAt = new Date(at);
  const invoice = pendingInvoice({ tenantId, createdAt, work: null, status: 'accepted', ...changes });
  const { order } = newCreationMoment(createdAt.getTime() + aheadMs);
  await invoicesOf(store.db).insert(invoice, order, null);
  return invoice.id;
}

async function acceptedIn(tenantId: string, environment: 'test' | 'live' = 'test'): Promise<string[]> {
  const read = batchesOf((kind, after) => documents.accepted({ tenantId, environment }, kind, JULY, after));
  return (await Array.fromAsync(read)).flat().map(({ id }) => id);
}

it('a period has what was accepted, by the date of issue in Morocco: invoices, then credit notes', async () => {
  const tenantId = newId('ten');
  // Morocco is an hour ahead of UTC in July 2026.
  await issued(tenantId, '2026-06-30T22:59:59.999Z');
  const first = await issued(tenantId, '2026-06-30T23:00:00Z');
  const note = await issued(tenantId, '2026-07-01T12:00:00Z', { id: newId('crn'), kind: 'credit_note' });
  const second = await issued(tenantId, '2026-07-02T12:00:00Z');
  const last = await issued(tenantId, '2026-07-31T22:59:59.999Z', {}, 3_600_000);
  await issued(tenantId, '2026-07-31T23:00:00Z');
  for (const status of ['pending', 'signing', 'transmitted', 'rejected'] as const)
    await issued(tenantId, '2026-07-15T12:00:00Z', { status });
  const live = await issued(tenantId, '2026-07-15T12:00:00Z', { environment: 'live' });
  await issued(newId('ten'), '2026-07-15T12:00:00Z');
  expect(await acceptedIn(tenantId)).toEqual([first, second, last, note]);
  expect(await acceptedIn(tenantId, 'live')).toEqual([live]);
  expect(await acceptedIn(newId('ten'))).toEqual([]);
});

it('the files of a period are those of what was accepted until then, whatever is accepted later', async () => {
  const tenantId = newId('ten');
  const until = new Date('2026-07-20T12:00:00Z');
  const early = await issued(tenantId, '2026-07-15T12:00:00Z', { updatedAt: until });
  await issued(tenantId, '2026-07-16T12:00:00Z', { updatedAt: new Date(until.getTime() + 1) });
  const own = await issued(tenantId, '2026-07-17T12:00:00Z', {
    updatedAt: new Date(0),
    ownNumber: 'F 1',
    number: 'F 1',
  });
  const owner = { tenantId, environment: 'test' } as const;
  const { rows } = await documents.filed(owner, 'invoice', JULY, until, null);
  expect(rows.map(({ id, number, ownNumber, updatedAt }) => [id, number, ownNumber, updatedAt])).toEqual([
    [early, null, null, until],
    [own, 'F 1', 'F 1', new Date(0)],
  ]);
  expect(Object.keys(rows[0] ?? {})).not.toContain('lines');
  const { expectIndexed } = queryPlans(store);
  await expectIndexed(() => documents.filed(owner, 'invoice', JULY, until, null), 3);
});

it('a period is read in batches, by an index, and no document is left out between two', async () => {
  const tenantId = newId('ten');
  const owner = { tenantId, environment: 'test' } as const;
  const first = await issued(tenantId, '2026-07-15T12:00:00Z');
  const stored = store.db.collection<InvoiceDocument>('invoices');
  const one = (await stored.findOne({ _id: first })) as InvoiceDocument;
  const others = Array.from({ length: 449 }, () => ({
    ...one,
    _id: newId('inv'),
    order: newCreationMoment(one.createdAt.getTime()).order,
  }));
  await stored.insertMany(others);
  const ids = [first, ...others.map(({ _id }) => _id)];
  expect(await acceptedIn(tenantId)).toEqual(ids);
  const { rows, next } = await documents.accepted(owner, 'invoice', JULY, null);
  expect(rows.length).toBeLessThan(ids.length);
  const { expectIndexed } = queryPlans(store);
  await expectIndexed(() => documents.accepted(owner, 'invoice', JULY, next), 201);
});
