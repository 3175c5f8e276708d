import { expect, it, vi } from 'vitest';
import { CONDITION_CODES, CONDITIONS } from '../../src/domain/conditions/condition-table.ts';
import { newId } from '../../src/domain/ids.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
});

const DAY = 86_400_000;
const REJECTED = '999000000000102';

interface Shown {
  readonly code: string;
  readonly count: number;
  readonly hasMore: boolean;
  readonly since: string | null;
  readonly subjects: readonly { readonly id: string; readonly name: string | null }[];
}

/** A tenant whose invoices have no warning of their own, and what it is shown. */
async function world() {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { db } = service.app.store;
  const shown = async (by = client): Promise<Shown[]> => {
    const { body } = await by.graphql('query Wrong { conditions { code count hasMore since subjects { id name } } }');
    expect(body.errors).toBeUndefined();
    return body.data.conditions;
  };
  const one = async (code: string, by = client) => (await shown(by)).find((each) => each.code === code);
  return { tenant, client, db, shown, one };
}
const collection = (db: TestService['app']['store']['db'], name: string) => db.collection<{ _id: string }>(name);

it('nothing is wrong with a new tenant, and every condition has its texts and its place in the order', async () => {
  const { shown } = await world();
  expect(await shown()).toEqual([]);
  for (const code of CONDITION_CODES) {
    const { says, advice, of } = CONDITIONS[code];
    expect(of.length, code).toBeGreaterThan(0);
    for (const texts of [says, advice]) expect(new Set(Object.values(texts)).size, code).toBe(3);
    expect(`${says.ar}${advice.ar}`, code).toMatch(/\p{Script=Arabic}/u);
  }
});

it('a rejected invoice is shown until another one replaces it, and to its own tenant and environment only', async () => {
  const { tenant, client, one } = await world();
  const { id } = (await client.post('/v1/invoices', invoiceFor(REJECTED))).body;
  await client.settled(id);
  const { number } = (await client.graphql('query ($id: ID!) { invoice(id: $id) { number } }', { id })).body.data
    .invoice;
  expect(await one('invoices_rejected')).toMatchObject({ count: 1, hasMore: false, subjects: [{ id, name: number }] });
  for (const secretKey of [(await service.tenant()).secretKey, await service.liveKey(tenant.id)])
    expect(await one('invoices_rejected', new Client(service.url, secretKey))).toBeUndefined();
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { replaceInvoice(invoiceId: "${id}", input: $input, reason: other) {
      ... on ReplaceInvoicePayload { invoice { id } } ... on Error { message } } }`,
    {
      input: {
        amount: 12_000,
        currency: 'MAD',
        customer: { ice: '001234567000089', name: 'Atlas' },
        lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }],
      },
    },
  );
  await client.settled(body.data.replaceInvoice.invoice.id);
  expect(await one('invoices_rejected')).toBeUndefined();
});

it('an invoice that waits for ten minutes is shown until it is decided; more than a hundred are counted as 100+', async () => {
  const { client, db, one } = await world();
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(id);
  expect(await one('invoices_waiting')).toBeUndefined();
  const invoices = collection(db, 'invoices');
  const stored = await invoices.findOne({ _id: id });
  const {
    order,
    work: _work,
    number: _number,
    series: _series,
    ...rest
  } = stored as unknown as Record<string, unknown>;
  const late = (minutes: number, n: number) => ({
    ...rest,
    _id: newId('inv'),
    status: 'transmitted',
    createdAt: new Date(Date.now() - minutes * 60_000),
    order: `${orderAt(Date.now() - minutes * 60_000)}${String(order).slice(12, 20)}${n}`,
  });
  const young = late(9, 0);
  await invoices.insertMany([young] as never);
  expect(await one('invoices_waiting')).toBeUndefined();
  const old = Array.from({ length: 101 }, (_, n) => late(11 + n, n));
  await invoices.insertMany(old as never);
  const found = await one('invoices_waiting');
  expect(found).toMatchObject({ count: 100, hasMore: true });
  expect(found?.subjects.map((each) => each.id)).toEqual(
    old
      .slice(-5)
      .reverse()
      .map((each) => each._id),
  );
  expect(found?.since).toBe(`${old.at(-1)?.createdAt.toISOString().slice(0, 19)}Z`);
  await invoices.updateMany({ _id: { $in: old.map((each) => each._id) } }, { $set: { status: 'accepted' } } as never);
  expect(await one('invoices_waiting')).toBeUndefined();
});

it('an endpoint is shown once nothing was delivered for half an hour, and no longer when it is disabled', async () => {
  const { client, db, one } = await world();
  const asked = { url: 'https://dead.example.com/secret', events: ['invoice.accepted'] };
  const { id } = (await client.post('/v1/webhook_endpoints', asked)).body;
  const endpoints = collection(db, 'webhook_endpoints');
  const fails = (minutes: number) =>
    endpoints.updateOne({ _id: id }, { $set: { failingSince: new Date(Date.now() - minutes * 60_000) } });
  await fails(29);
  expect(await one('endpoints_failing')).toBeUndefined();
  await fails(31);
  const found = await one('endpoints_failing');
  expect(found).toMatchObject({ count: 1, subjects: [{ id, name: 'dead.example.com' }] });
  expect(JSON.stringify(found)).not.toContain('secret');
  await client.request('PATCH', `/v1/webhook_endpoints/${id}`, { active: false });
  expect(await one('endpoints_failing')).toBeUndefined();
});

it('many failed calls are shown, a few are not; a refused one for too many is shown at once', async () => {
  const { tenant, client, db, one } = await world();
  for (let n = 0; n < 10; n++) await client.get('/v1/invoices?limit=0');
  const found = await vi.waitFor(
    async () => {
      const shown = await one('calls_failing');
      if (!shown) throw new Error('not recorded yet');
      return shown;
    },
    { timeout: 20_000, interval: 250 },
  );
  expect(found.count).toBeGreaterThanOrEqual(10);
  expect(await one('calls_throttled')).toBeUndefined();
  const at = new Date();
  const call = { method: 'GET', route: '/v1/invoices', status: 429, code: 'rate_limit_exceeded' };
  const _id = `${tenant.id} test ${at.toISOString().slice(0, 10)} k`;
  await db.collection<{ _id: string }>('request_failures').insertOne({
    ...call,
    _id,
    kind: 'k',
    at,
    count: 3,
    firstAt: at,
    lastAt: at,
  } as never);
  expect(await one('calls_throttled')).toMatchObject({ count: 3, subjects: [] });
});

it('drafts wait that nobody changed for a week', async () => {
  const { client, db, one } = await world();
  const { body } = await client.graphql(
    'mutation { createDraft(content: {}) { ... on CreateDraftPayload { draft { id version } } } }',
  );
  const { id, version } = body.data.createDraft.draft;
  expect(await one('drafts_waiting')).toBeUndefined();
  const at = Date.now() - 8 * DAY;
  await collection(db, 'drafts').updateOne({ _id: id }, {
    $set: { order: orderAt(at), createdAt: new Date(at), updatedAt: new Date(at) },
  } as never);
  expect(await one('drafts_waiting')).toMatchObject({ count: 1, subjects: [{ id }] });
  await client.graphql(
    `mutation { updateDraft(id: "${id}", version: ${version}, content: { amount: 1 }) {
      ... on UpdateDraftPayload { draft { version } } } }`,
  );
  expect(await one('drafts_waiting')).toBeUndefined();
});

it('the latest invoices with warnings are shown', async () => {
  const { client, one } = await world();
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(id);
  expect(await one('invoices_warned')).toMatchObject({ count: 1, subjects: [{ id }] });
});
