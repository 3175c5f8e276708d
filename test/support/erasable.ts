import { type Db, ObjectId } from 'mongodb';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { KIND_NAMES, KINDS } from '../../src/domain/invoice/kinds.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { RECORDS } from '../../src/storage/collection-rules.ts';
import { documentOf } from '../../src/storage/invoice-document.ts';
import { pendingInvoice } from './invoices.ts';

/** The stored data of a tenant. */
export interface Stored {
  readonly tenantId: string;
  readonly test: readonly string[];
  readonly live: readonly string[];
}

/**
 * Stores a tenant with `count` rows in each collection that has rows of tenants. Its invoices are accepted, in both
 * environments and of all kinds in turn.
 * @param logo SHA-256 of its logo
 */
export async function storeErasable(db: Db, count: number, logo = newId('ten')): Promise<Stored> {
  const tenantId = newId('ten');
  const of = (name: string) => db.collection<{ _id: string }>(name);
  const each = <T>(make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
  const profile = { legalName: 'Atlas', ice: '1', logo: { sha256: logo } };
  const tenant = { _id: tenantId, name: 'T', keys: [], createdAt: new Date(), profile };
  await of('tenants').insertOne(tenant);
  await db.collection<{ _id: string }>('logos').updateOne({ _id: logo }, { $set: { content: 'x' } }, { upsert: true });
  const ids: Record<'test' | 'live', string[]> = { test: [], live: [] };
  for (const environment of ['test', 'live'] as const) {
    const invoices = each((n) => {
      const kind = KIND_NAMES[n % KIND_NAMES.length] ?? 'invoice';
      const id = newId(KINDS[kind].idPrefix);
      const file = { sha256: id, size: 1 };
      const own: Partial<Invoice> = { id, kind, tenantId, environment };
      const accepted: Partial<Invoice> = { ...own, status: 'accepted', dgiId: 'DGI', work: null };
      const documents = { xml: { ...file, file: newFile() }, pdf: { ...file, file: newFile() } };
      const invoice = documentOf(pendingInvoice({ ...accepted, ...documents }), newCreationMoment().order, null);
      return { ...invoice, series: { name: '2026', serial: n + 1 } };
    });
    await of('invoices').insertMany(invoices);
    const numbers = invoices.map(({ _id }, n) => ({
      _id: `${tenantId} ${environment} 2026 ${String(n + 1).padStart(16, '0')}`,
      invoiceId: _id,
    }));
    await of('invoice_numbers').insertMany(numbers);
    const files = invoices.flatMap(({ _id, xml, pdf }) => [
      { _id: new ObjectId(xml?.file), filename: `${_id}.xml`, length: 1, chunkSize: 1, uploadDate: new Date() },
      { _id: new ObjectId(pdf?.file), filename: `${_id}.pdf`, length: 1, chunkSize: 1, uploadDate: new Date() },
    ]);
    await db.collection('documents.files').insertMany(files);
    await db.collection('documents.chunks').insertMany(files.map(({ _id }) => ({ files_id: _id, n: 0, data: 'x' })));
    await of(environment === 'test' ? 'mock_submissions' : 'authority_ledger').insertMany(
      invoices.map(({ _id }) => ({ _id, decisionAt: new Date() })),
    );
    ids[environment].push(...invoices.map(({ _id }) => _id));
    await of('invoice_counts').insertMany(each((n) => ({ _id: `${tenantId} ${environment} 2026-01-${n}` })));
    await of('request_failures').insertMany(each((n) => ({ _id: `${tenantId} ${environment} 2026-11-23 ${n}` })));
    const rows = (prefix: string) =>
      each(() => ({ _id: `${prefix}${newId('evt')}`, tenantId, environment, order: newCreationMoment().order }));
    for (const name of RECORDS) await of(name).insertMany(rows(name));
    const deliveries = rows('dlv_').map((row) => ({ ...row, state: 'delivered', attempts: [`${row._id} 1`] }));
    await of('webhook_deliveries').insertMany(deliveries);
    await of('webhook_attempts').insertMany(deliveries.map(({ attempts }) => ({ _id: attempts[0] ?? '' })));
  }
  const endpoints = [0, 1].map((slot) => ({ _id: newId('we'), tenantId, environment: 'test', slot }));
  await of('webhook_endpoints').insertMany(endpoints);
  await of('endpoint_hours').insertMany(each((n) => ({ _id: `${endpoints[0]?._id} 2026-11-23T${n}` })));
  const grants = { isOperator: false, memberships: [{ tenantId, role: 'owner' }] };
  const people = each(() => ({ _id: newId('per'), grants }));
  await of('person_grants').insertMany(people.map(({ _id }) => ({ _id, ...grants })));
  await of('people').insertMany(people.map(({ _id }) => ({ _id, email: _id })));
  for (const name of ['person_sessions', 'person_passwords', 'person_codes', 'person_passkeys'])
    await of(name).insertMany(people.map(({ _id }) => ({ _id: `${_id} ${name}`, userId: _id, token: _id })));
  await of('person_resets').insertMany(people.map(({ _id }) => ({ _id: `${_id} reset`, value: _id, identifier: _id })));
  await of('invitations').insertMany(people.map(({ _id }) => ({ _id: `inv of ${_id}`, grants })));
  return { tenantId, ...ids };
}

function newFile(): string {
  return new ObjectId().toHexString();
}
