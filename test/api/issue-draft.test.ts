import { expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client } from '../support/client.ts';
import { startService, type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant(SPECIMEN_SELLER);
  client = new Client(service.url, tenant.secretKey);
});

const ERROR = '... on Error { __typename code message param status }';
const CREATE = `mutation ($content: DraftContent!) { done: createDraft(content: $content) {
  ... on CreateDraftPayload { draft { id } } ${ERROR} } }`;
const UPDATE = `mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
  done: updateDraft(id: $id, version: $version, content: $content) {
    ... on UpdateDraftPayload { draft { id version } } ${ERROR} } }`;
const DELETE = `mutation ($id: ID!, $version: Int!) { done: deleteDraft(id: $id, version: $version) {
  ... on DeleteDraftPayload { id } ${ERROR} } }`;
const ISSUE = `mutation ($id: ID!, $version: Int!) { done: issueDraft(id: $id, version: $version) {
  ... on IssueDraftPayload { replayed clientSecret invoice { id amount metadata customer { name } status } }
  ... on InvalidInputError { problems { code param } } ${ERROR} } }`;

const WHOLE = {
  amount: 12_000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }],
  metadata: { order: '1' },
};

async function done(query: string, variables: Record<string, unknown>, as = client) {
  const { body } = await as.graphql(query, variables);
  return body.data?.done ?? body;
}
const create = async (content: unknown, as = client): Promise<string> => (await done(CREATE, { content }, as)).draft.id;
const issue = (id: string, version = 1, as = client) => done(ISSUE, { id, version }, as);
const stored = () => service.app.store.db.collection<{ _id: string; issuingUntil: Date | null }>('drafts');
const invoicesOf = (tenantId: string) => service.app.store.db.collection('invoices').countDocuments({ tenantId });
const newTenant = async () => {
  const made = await service.tenant(SPECIMEN_SELLER);
  return { ...made, client: new Client(service.url, made.secretKey) };
};
const listed = async (as: Client) => (await as.graphql('{ drafts { nodes { id } } }')).body.data.drafts.nodes;

it('creates the invoice, and the draft is gone', async () => {
  const own = await newTenant();
  const id = await create(WHOLE, own.client);
  const { replayed, clientSecret, invoice } = await issue(id, 1, own.client);
  expect(replayed).toBe(false);
  expect(invoice).toMatchObject({ amount: 12_000, metadata: { order: '1' }, customer: { name: 'Atlas' } });
  expect(clientSecret).toMatch(/./);
  expect((await own.client.settled(invoice.id)).status).toBe('accepted');
  expect(await listed(own.client)).toEqual([]);
  const read = (await own.client.graphql(`{ draft(id: "${id}") { id } }`)).body;
  expect(read.errors[0]).toMatchObject({
    message: `Draft ${id} was issued as invoice ${invoice.id}.`,
    extensions: { code: 'draft_issued', status: 409 },
  });
});

it('answers the same invoice to who asks again, and nothing of it can be changed', async () => {
  const own = await newTenant();
  const id = await create({}, own.client);
  await done(UPDATE, { id, version: 1, content: WHOLE }, own.client);
  const first = await issue(id, 2, own.client);
  await own.client.settled(first.invoice.id);
  expect(await issue(id, 2, own.client)).toEqual({ ...first, replayed: true });
  const refusal = { __typename: 'ConflictError', code: 'draft_issued', param: 'id', status: 409 };
  const named = { ...refusal, message: expect.stringContaining(first.invoice.id) };
  expect(await done(UPDATE, { id, version: 2, content: {} }, own.client)).toMatchObject(named);
  expect(await done(DELETE, { id, version: 2 }, own.client)).toMatchObject(named);
  // Whoever read another version is told that it is not the one.
  for (const version of [1, 3]) expect(await issue(id, version, own.client)).toMatchObject(named);
  expect(await invoicesOf(own.id)).toBe(1);
  const { body } = await own.client.graphql('{ drafts { nodes { id } } }');
  expect(body.data.drafts.nodes).toEqual([]);
});

it('of twenty at once all get one invoice', async () => {
  const own = await newTenant();
  const id = await create(WHOLE, own.client);
  const answers = await Promise.all(Array.from({ length: 20 }, () => issue(id, 1, own.client)));
  expect(new Set(answers.map(({ invoice }) => invoice?.id)).size).toBe(1);
  expect(answers.filter(({ replayed }) => replayed === false)).toHaveLength(1);
  expect(answers.filter(({ replayed }) => replayed === true)).toHaveLength(19);
  expect(await invoicesOf(own.id)).toBe(1);
  expect(await listed(own.client)).toEqual([]);
});

it('no change is answered as made and then lost, whatever happens at once', async () => {
  for (let round = 0; round < 8; round++) {
    const own = await newTenant();
    const id = await create(WHOLE, own.client);
    const changed = { ...WHOLE, metadata: { order: '2' } };
    const [issued, updated, later, deleted] = await Promise.all([
      issue(id, 1, own.client),
      done(UPDATE, { id, version: 1, content: changed }, own.client),
      issue(id, 2, own.client),
      round % 2 ? done(DELETE, { id, version: 1 }, own.client) : null,
    ]);
    const invoices = [issued, later].flatMap(({ invoice }) => (invoice ? [invoice] : []));
    const [order] = invoices.map(({ metadata }) => metadata.order);
    if (deleted?.id) expect({ invoices, updated: updated.draft }).toEqual({ invoices: [] });
    else if (updated.draft) expect([undefined, '2']).toContain(order);
    else expect(order).toBe('1');
    expect(await invoicesOf(own.id)).toBe(invoices.length ? 1 : 0);
    expect(invoices.length).toBeLessThanOrEqual(1);
  }
});

it('refuses what is not the version that was read, and what is not complete', async () => {
  const id = await create({ ...WHOLE, amount: '120' });
  const whole = await create(WHOLE);
  for (const version of [0, 2]) {
    expect(await issue(whole, version)).toMatchObject({
      __typename: 'ConflictError',
      code: 'draft_changed',
      param: 'version',
    });
  }
  expect(await issue(id)).toMatchObject({
    __typename: 'InvalidInputError',
    code: 'invalid_request',
    problems: [{ param: 'amount' }],
  });
  const wrong = { ...WHOLE, amount: 12_001, customer: { ice: '1', name: 'Atlas' } };
  expect((await done(UPDATE, { id, version: 1, content: wrong })).draft.version).toBe(2);
  expect((await issue(id, 2)).problems.map(({ code }: { code: string }) => code)).toEqual([
    'amount_mismatch',
    'invalid_ice',
  ]);
  // Nothing holds it: it can be corrected at once, and issued.
  expect((await done(UPDATE, { id, version: 2, content: WHOLE })).draft.version).toBe(3);
  expect(await issue(id, 3)).toMatchObject({ replayed: false });
  expect(await issue(newId('drf'))).toMatchObject({ __typename: 'NotFoundError', code: 'resource_not_found' });
});

it('a number that is taken leaves the draft as it is', async () => {
  const number = `F ${newId('x').slice(-12)}`;
  const [first, second] = [await create({ ...WHOLE, number }), await create({ ...WHOLE, number })];
  expect(await issue(first)).toMatchObject({ replayed: false });
  expect(await issue(second)).toMatchObject({ code: 'duplicate_number', param: 'number' });
  expect((await done(UPDATE, { id: second, version: 1, content: WHOLE })).draft.version).toBe(2);
  expect(await issue(first)).toMatchObject({ replayed: true });
});

it('the id of a draft as an idempotency key makes another invoice', async () => {
  const id = await create(WHOLE);
  const { invoice } = await issue(id);
  const mutation = `mutation ($input: CreateInvoiceInput!, $key: String) { done: createInvoice(input: $input, idempotencyKey: $key) {
    ... on CreateInvoicePayload { replayed invoice { id } } ${ERROR} } }`;
  const other = await done(mutation, { input: WHOLE, key: id });
  expect(other).toMatchObject({ replayed: false });
  expect(other.invoice.id).not.toBe(invoice.id);
});

it('what a process that died has left is finished by the next one', async () => {
  const own = await newTenant();
  const leave = async (change: object) => {
    const id = await create(WHOLE, own.client);
    const left = await stored().findOne({ _id: id });
    const { invoice } = await issue(id, 1, own.client);
    await stored().insertOne({ ...left, _id: id, issuingUntil: new Date(0), ...change });
    return { id, invoice };
  };
  const kept = async (id: string) => (await stored().findOne({ _id: id })) !== null;
  for (const query of [UPDATE, DELETE]) {
    const { id } = await leave({});
    const refused = await done(query, { id, version: 1, content: {} }, own.client);
    expect([refused.code, await kept(id)]).toEqual(['draft_issued', false]);
  }
  const repeated = await leave({});
  expect(await issue(repeated.id, 1, own.client)).toMatchObject({ replayed: true, invoice: repeated.invoice });
  expect(await kept(repeated.id)).toBe(false);
  const first = await leave({});
  const open = await create({}, own.client);
  const second = await leave({});
  expect(await listed(own.client)).toEqual([{ id: open }]);
  expect([await kept(first.id), await kept(second.id)]).toEqual([false, false]);
});

it('what is being issued is not changed, until its process must have died', async () => {
  const id = await create(WHOLE);
  const soon = new Date(Date.now() + 20_000);
  await stored().updateOne({ _id: id }, { $set: { issuingUntil: soon } });
  const refused = { code: 'draft_issued', message: `Draft ${id} is being issued. Read it again in a minute.` };
  expect(await done(UPDATE, { id, version: 1, content: {} })).toMatchObject(refused);
  expect(await done(DELETE, { id, version: 1 })).toMatchObject(refused);
  await stored().updateOne({ _id: id }, { $set: { issuingUntil: new Date(Date.now() - 1) } });
  expect((await done(UPDATE, { id, version: 1, content: { a: 1 } })).draft.version).toBe(2);
  expect(await stored().findOne({ _id: id })).toMatchObject({ issuingUntil: null });
});

it('an invoice of a former version is told, not replaced', async () => {
  const id = await create(WHOLE);
  const left = await stored().findOne({ _id: id });
  const { invoice } = await issue(id);
  // A change that came in because the process that issued the draft stood still for too long.
  await stored().insertOne({ ...left, _id: id, version: 2 } as never);
  expect(await issue(id, 2)).toMatchObject({ code: 'draft_issued', message: expect.stringContaining(invoice.id) });
  expect(await issue(id, 1)).toMatchObject({ replayed: true, invoice: { id: invoice.id } });
});

it('another tenant or environment issues nothing', async () => {
  const id = await create(WHOLE);
  const live = new Client(service.url, await service.liveKey(tenant.id));
  const { client: stranger } = await newTenant();
  for (const other of [live, stranger]) expect(await issue(id, 1, other)).toMatchObject({ code: 'resource_not_found' });
  await issue(id);
  for (const other of [live, stranger]) expect(await issue(id, 1, other)).toMatchObject({ code: 'resource_not_found' });
});

it('in the live environment nothing is issued that cannot be signed and sent, and the draft stays', async () => {
  const without = await startService();
  try {
    const { id: tenantId } = await without.tenant(SPECIMEN_SELLER);
    const live = new Client(without.url, await without.liveKey(tenantId));
    const id = await create(WHOLE, live);
    const { body } = await live.graphql(ISSUE, { id, version: 1 });
    expect(body.errors[0].extensions).toMatchObject({ code: 'internal_error', status: 503 });
    expect((await done(UPDATE, { id, version: 1, content: {} }, live)).draft.version).toBe(2);
  } finally {
    await without.close();
  }
});
