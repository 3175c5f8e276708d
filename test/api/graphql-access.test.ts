import { setTimeout as sleep } from 'node:timers/promises';
import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EventType, enumNameOf } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { newInvitation } from '../../src/domain/person/invitation.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createImportedInvoiceStore } from '../../src/storage/imported-invoices.ts';
import { createImportStore } from '../../src/storage/imports.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { Client, invoiceBody, messagesOf } from '../support/client.ts';
import { ACCESS, COLUMNS, type Column, CREATION, ROOTS } from '../support/graphql-access.ts';
import { KEY, mutationOf, reachOf } from '../support/graphql-reach.ts';
import { anImport, anImportedInvoice } from '../support/imports.ts';
import { signedIn } from '../support/person.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { firstOf } from '../support/samples.ts';
import { startTakingLive, type TestService, type TestTenant } from '../support/service.ts';

/**
 * /* Access to every field: each field of the schema is queried with each credential, and the result is compared with
 * the table in `test/support/graphql-access.ts`. The objects belong to the tenant "own", in the test environment.
 */

/** Placeholders for the ids of objects in the operations below. */
const names: Record<string, string> = {};
const credentials = new Map<Column, Record<string, string>>();
let service: TestService;
let own: TestTenant;
let receiver: Receiver;
let owner: Client;

/** A text that only the objects contain. */
const OWN_TEXT = 'own-9bd1c7';
const FOREIGN = new Set<Column>(['live', 'other', 'publishable', 'sibling', 'owner-live']);
/** Those whose mutations succeed. */
const WRITERS = new Set<Column>(['secret', 'owner', 'developer']);
const WAIT = { timeout: 50_000, interval: 200 };

/** The cells of a field. Those of a payload's fields are its mutation's, unless the table has them. */
function cellsOf(field: string): string | undefined {
  return ACCESS.get(field) ?? ACCESS.get(mutationOf(field.slice(0, field.indexOf('.'))));
}

/** The fields of subscriptions. */
const STREAMED: Readonly<Record<string, { readonly field: string; readonly operation: string }>> = {
  InvoiceStatusChange: {
    field: 'Subscription.invoiceStatus',
    operation: 'subscription { invoiceStatus(id: "INVOICE" SECRET) { … } }',
  },
  FiscalDocumentStatusChange: {
    field: 'Subscription.fiscalDocumentStatus',
    operation: 'subscription { fiscalDocumentStatus(id: "INVOICE" SECRET) { … } }',
  },
  StreamedEvent: { field: 'Subscription.invoiceEvents', operation: 'subscription { invoiceEvents { … } }' },
};

beforeAll(async () => {
  service = await startTakingLive({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' });
  receiver = await startReceiver();
  const payment = {
    paymentMeans: 'transfer',
    paymentTermDays: 30,
    bankAccount: '999780000128473900001726',
    operationDateIsIssueDate: true,
  } as const;
  own = await service.tenant({ ...SPECIMEN_SELLER, ...payment });
  const other = await service.tenant(SPECIMEN_SELLER);
  owner = new Client(service.url, own.secretKey);
  await scratchEndpoint();
  names.ENDPOINT = String(names.SCRATCH);
  await scratchDraft();
  names.DRAFT = String(names.SCRATCH_DRAFT);
  await scratchDraft(CREATION);
  names.ISSUED_DRAFT = String(names.SCRATCH_DRAFT);
  await scratchImport();
  names.IMPORT = String(names.SCRATCH_IMPORT);
  const customer = { ice: '001234567000080', name: OWN_TEXT, address: OWN_TEXT, email: `a@${OWN_TEXT}.example` };
  const create = async (changes: object) =>
    (await owner.post('/v1/invoices', invoiceBody({ customer, metadata: { OWN_TEXT }, ...changes }))).body;
  // 1.5 hours at 82.00 with tax less 3.00: a line with all fields.
  const discount = { amount: 300, reason: OWN_TEXT };
  const exemption = { code: 'suspension', certificate: { number: OWN_TEXT, date: '2026-01-31' } };
  const price = { quantity: 1.5, unit: 'HUR', unitPrice: 8200, taxIncluded: true, taxRate: 0 };
  const line = { description: OWN_TEXT, ...price, discount, exemption };
  // Taken from the whole and added to it, so that the amount stays.
  const whole = { amount: 240, taxIncluded: true, reason: OWN_TEXT };
  const priced = { lines: [line], discount: whole, charge: whole };
  const today = moroccanDate(new Date());
  const particulars = {
    references: { order: OWN_TEXT, contract: OWN_TEXT },
    servicePeriod: { from: today, to: today },
    foreignValue: { currency: 'EUR', amount: 1000, rate: 12, rateDate: today },
    withholding: { percent: 75, certificate: { number: OWN_TEXT, date: today } },
  };
  const terms = { operationDate: today };
  const input = {
    amount: 12_000,
    currency: 'MAD',
    customer,
    ...priced,
    terms,
    ...particulars,
    metadata: { OWN_TEXT },
  };
  const creation = await owner.graphql(
    `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
      ... on CreateInvoicePayload { clientSecret invoice { id } } } }`,
    { input },
  );
  const made = creation.body.data.createInvoice;
  names.INVOICE = made.invoice.id;
  await createImportedInvoiceStore(service.app.store.db).put(
    [anImportedInvoice({ tenantId: own.id, environment: 'test' }, names.IMPORT, made.invoice.id, OWN_TEXT)],
    new Date(Date.now() + 3_600_000),
  );
  await owner.graphql(
    `mutation { createInvoice(input: ${CREATION.replace('{', '{ number: "OWN 4711",')}) { __typename } }`,
  );
  names.SECRET = made.clientSecret;
  names.API_KEY = (await service.app.manageKeys.create(own.id, 'secret', 'test')).key.id;
  names.VALID_KEY = (await service.app.manageKeys.create(own.id, 'secret', 'test')).key.id;
  const withToken = (column: Column, token: string) => credentials.set(column, { Authorization: `Bearer ${token}` });
  withToken('secret', own.secretKey);
  withToken('live', await service.liveKey(own.id));
  withToken('other', other.secretKey);
  withToken('publishable', own.publishableKey);
  withToken('publishable+', own.publishableKey);
  withToken('client', made.clientSecret);
  withToken('sibling', (await create(invoiceBody())).client_secret);
  for (const role of ['owner', 'developer', 'biller', 'viewer'] as const) {
    const { browser, id } = await signedIn(service, { memberships: [{ tenantId: own.id, role }] });
    credentials.set(role, browser.credential(own.id));
    if (role !== 'owner') continue;
    credentials.set('owner-live', browser.credential(own.id, 'live'));
    // Of what the owner did, one entry has all fields.
    names.OWNER = id;
    const rotation = `mutation { rotateWebhookSecret(endpointId: "${names.ENDPOINT}") { __typename } }`;
    await new Client(service.url, browser.credential(own.id)).graphql(rotation);
  }
  await owner.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': KEY });
  const readers = (['live', 'other', 'secret'] as const).map(
    (column) => new Client(service.url, credentials.get(column) ?? null),
  );
  const failed = readers.map(async (client) => {
    const id = (await client.get('/v1/invoices?limit=0')).headers.get('request-id') ?? '';
    const logged = '{ apiRequests(failed: true) { nodes { id } } }';
    await vi.waitFor(async () => expect(JSON.stringify((await client.graphql(logged)).body)).toContain(id), WAIT);
    return id;
  });
  names.REQUEST = (await Promise.all(failed)).at(-1) ?? '';
  const settled = await owner.settled(made.invoice.id);
  names.XML = await (await fetch(settled.xml_url)).text();
  const deliveries = '{ webhookDeliveries(state: delivered) { nodes { id eventId eventType invoiceId } } }';
  const delivered = async (type: EventType): Promise<{ id: string; eventId: string }> => {
    const { nodes } = (await owner.graphql(deliveries)).body.data.webhookDeliveries;
    const found = nodes.find(
      (each: Record<string, string>) => each.invoiceId === made.invoice.id && each.eventType === enumNameOf(type),
    );
    return found ?? Promise.reject(new Error(`${type} is not delivered`));
  };
  const { id, eventId } = await vi.waitFor(() => delivered('invoice.accepted'), WAIT);
  Object.assign(names, { DELIVERY: id, EVENT: eventId });
  names.RESENT = (await vi.waitFor(() => delivered('invoice.signing'), WAIT)).eventId;
  const counted = `{ webhookEndpoint(id: "${names.ENDPOINT}") { statistics { medianMs } } }`;
  await vi.waitFor(
    async () => expect((await owner.graphql(counted)).body.data.webhookEndpoint.statistics.medianMs).toBeGreaterThan(0),
    WAIT,
  );
  await owner.graphql(
    `mutation { updateWebhookEndpoint(id: "${names.ENDPOINT}", input: {
      events: [invoice_signing, invoice_accepted, credit_note_signing] }) { __typename } }`,
  );
  const credited = await owner.graphql(
    `mutation { creditInvoice(invoiceId: "${made.invoice.id}", input: { reason: other, note: "${OWN_TEXT}", amounts: [{ taxRate: 0, net: 5 }] }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  names.CREDITED = credited.body.data.creditInvoice.creditNote.id;
  const noted = `{ creditNote(id: "${names.CREDITED}") { status } }`;
  await vi.waitFor(async () => expect((await owner.graphql(noted)).body.data.creditNote.status).toBe('accepted'), WAIT);
  const mail = `{ invoice(id: "${made.invoice.id}") { email { status } } creditNote(id: "${names.CREDITED}") { email { status } } }`;
  const sent = { email: { status: 'sent' } };
  await vi.waitFor(
    async () => expect((await owner.graphql(mail)).body.data).toEqual({ invoice: sent, creditNote: sent }),
    WAIT,
  );
  // Every object has problems, so that as few nullable fields as possible are null.
  const later = new Date(Date.now() + 3_600_000);
  const work = { stage: 'render', attempts: 9, outcomeUnknown: false, dueAt: later, claims: 9 };
  const finding = { code: 'c', path: '/Invoice', message: 'm' };
  const logo = { sha256: 'ab'.repeat(32), contentType: 'image/png', width: 1, height: 1 };
  const { db } = service.app.store;
  const delivery = await db.collection<{ _id: string; attempts: string[] }>('webhook_deliveries').findOne({ _id: id });
  const attempt = delivery?.attempts[0];
  if (attempt === undefined) throw new Error('the delivery names no attempt');
  const change = {
    'email.lastError': 'refused',
    rejectionReason: 'none',
    'seller.logo': logo,
    'authorityAttempts.0.message': 'm',
    'authorityAttempts.0.requestId': 'req_1',
    problems: [finding],
    authorityWarnings: [finding],
  };
  // The invoice replaces itself, so that it has both links.
  const invoice = { id: made.invoice.id, number: '2026-000001', issueDate: '2026-11-29', dgiId: 'd' };
  const replaces = {
    invoice,
    reason: 'other',
    note: OWN_TEXT,
    credited: { invoiceId: made.invoice.id, creditNoteId: names.CREDITED },
  };
  // It deducts itself, too.
  const share = { rates: [{ rate: 0, base: 1, tax: 0 }], amount: 1 };
  const deduction = { deposits: [{ invoice, ...share }], rates: [{ rate: 0, base: 10_000, tax: 0 }] };
  const kept = { creditNoteId: made.invoice.id, at: new Date(), ...share };
  const replacedBy = { invoiceId: made.invoice.id, at: new Date(), version: 1 };
  await service.app.store.db.collection<{ _id: string }>('invoices').updateOne(
    { _id: made.invoice.id },
    {
      $set: { replaces, replacedBy, deduction, isDeposit: true, 'lines.$[].depositShare': 1 },
      $push: { 'credits.list': kept } as never,
    },
  );
  await Promise.all([
    service.app.store.db
      .collection<{ _id: string }>('invoices')
      .updateMany(
        { _id: { $in: [made.invoice.id, names.CREDITED as string] } },
        { $set: { ...change, work: { ...work, since: new Date() } } },
      ),
    db
      .collection<{ _id: string }>('webhook_endpoints')
      .updateOne({ _id: names.ENDPOINT }, { $set: { failingSince: new Date() } }),
    db
      .collection<{ _id: string }>('webhook_attempts')
      .updateOne({ _id: attempt }, { $set: { failure: { code: 'timeout', message: 'none' } } }),
    db
      .collection<{ _id: string }>('webhook_deliveries')
      .updateOne(
        { _id: id },
        { $set: { work: { token: null, tries: 1, retry: true, readyAt: later, sweepAt: later } } },
      ),
  ]);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

async function scratchEndpoint(): Promise<void> {
  const body = { url: `${receiver.url}/hook`, events: ['invoice.signing', 'invoice.accepted'], description: 'd' };
  names.SCRATCH = (await owner.post('/v1/webhook_endpoints', body)).body.id;
}

async function scratchDraft(content = `{ number: "${OWN_TEXT}" }`): Promise<void> {
  const create = `mutation { createDraft(content: ${content}) { ... on CreateDraftPayload { draft { id } } } }`;
  names.SCRATCH_DRAFT = (await owner.graphql(create)).body.data.createDraft.draft.id;
}

async function scratchImport(): Promise<void> {
  const imported = anImport({ tenantId: own.id, environment: 'test' }, OWN_TEXT);
  names.SCRATCH_IMPORT = imported.id;
  await createImportStore(service.app.store.db).insert(imported);
}

/** Removes what `scratchEndpoint` made: a tenant has at most 16. */
async function removeScratchEndpoints(): Promise<void> {
  await service.app.store.db
    .collection('webhook_endpoints')
    .deleteMany({ description: 'd', _id: { $ne: names.ENDPOINT as never } });
}

/** A person of the tenant without an account, which no answer needs, and an invitation. */
async function scratchPerson(): Promise<void> {
  names.PERSON = newId('per');
  const { db } = service.app.store;
  await db
    .collection<{ _id: string }>('people')
    .insertOne({ _id: names.PERSON, name: 'P', email: `${names.PERSON}@x.example` } as never);
  await createPeopleRepository(db).grant(names.PERSON, {
    isOperator: false,
    memberships: [{ tenantId: own.id, role: 'developer' }],
  });
  const grants = { isOperator: false, memberships: [{ tenantId: own.id, role: 'viewer' as const }] };
  const { invitation } = newInvitation({ email: null, grants, invitedBy: null }, new Date());
  await createPeopleRepository(db).insertInvitation(invitation);
  names.INVITATION = invitation.id;
}

/** An operation with its ids, as this credential sends it. */
function operationFor(column: Column, template: string): string {
  return template
    .replace(/ SECRET/g, column === 'publishable+' ? `, clientSecret: "${names.SECRET}"` : '')
    .replace(
      /"(INVOICE|CREDITED|ENDPOINT|SCRATCH|EVENT|RESENT|DELIVERY|API_KEY|VALID_KEY|DRAFT|SCRATCH_DRAFT|ISSUED_DRAFT|IMPORT|SCRATCH_IMPORT|PERSON|INVITATION|REQUEST|OWNER)"/g,
      (_, name) => `"${names[name]}"`,
    );
}

async function ask(column: Column, template: string): Promise<Answered> {
  const client = new Client(service.url, credentials.get(column) ?? {});
  const variables = template.includes('$xml') ? { xml: names.XML } : {};
  const { body } = await client.graphql(operationFor(column, template), variables);
  // The marker in a text shows whose object it is. Arguments are returned as well.
  if (FOREIGN.has(column) && !template.includes('$xml')) expect(JSON.stringify(body)).not.toContain(OWN_TEXT);
  return body;
}

interface Answered {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly status: number } }[];
}

/** All fields of a type, each with its shortest selection and a marker. */
function selectionOf(type: GraphQLObjectType): string {
  const fields = Object.values(type.getFields());
  return `mark: __typename ${fields.map(({ name, type }) => name + (isLeafType(getNamedType(type)) ? '' : ' { __typename }')).join(' ')}`;
}

/** The first object with the marker in an answer. */
function marked(value: unknown): Record<string, unknown> | null {
  if (value === null || typeof value !== 'object') return null;
  if ('mark' in value) return value as Record<string, unknown>;
  for (const each of Object.values(value)) {
    const found = marked(each);
    if (found) return found;
  }
  return null;
}

/**
 * The result of a field or of its path: an HTTP status, the type of a typed error, no value (`null`, `empty`), or a
 * value (`+`).
 */
function outcome(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'empty' : '+';
  const { __typename } = value as { __typename?: string };
  return __typename?.endsWith('Error') ? __typename : '+';
}

function refusal({ errors }: Answered): string | null {
  const [first] = errors ?? [];
  return first ? String(first.extensions.status ?? first.message) : null;
}

const isRoot = (type: GraphQLObjectType) => type === schema.getQueryType() || type === schema.getMutationType();

/** Those who find only what earlier rows created for them. */
const ELSEWHERE = new Set<Column>(['live', 'other', 'owner-live']);

/**
 * The columns that are tried of a field. In `npm test` these are the credential that may most, of a root field also another
 * tenant's and those of the roles that may less, and one that is another in each row; `npm run test:long` tries all.
 */
function columnsOf(type: GraphQLObjectType, field: string): readonly Column[] {
  const first: readonly Column[] = isRoot(type) ? ['secret', 'other', 'developer', 'biller', 'viewer'] : ['secret'];
  const names = Object.keys(type.getFields());
  const rows = isRoot(type) ? [field] : names.map((name) => `${type.name}.${name}`);
  const found = (column: Column) => rows.some((row) => cellsOf(row)?.split(' ')[COLUMNS.indexOf(column)] === '+');
  const others = COLUMNS.filter((column) => !first.includes(column) && !(ELSEWHERE.has(column) && found(column)));
  const row = isRoot(type) ? names.indexOf(field.slice(type.name.length + 1)) : TYPES.indexOf(type);
  const turn = row % others.length;
  const inTurn = [...others.slice(turn), ...others.slice(0, turn)];
  return firstOf([...new Set([...first, ...inTurn, ...COLUMNS])], first.length + 1);
}

/** The result of every field of a type with one credential, where it is tried. */
async function look(type: GraphQLObjectType, column: Column): Promise<[field: string, cell: string][]> {
  const fields = Object.keys(type.getFields())
    .map((name) => `${type.name}.${name}`)
    .filter((field) => columnsOf(type, field).includes(column));
  if (fields.length === 0) return [];
  if (isRoot(type)) {
    const cells: [string, string][] = [];
    for (const field of fields) {
      if (field === 'Mutation.deleteWebhookEndpoint') {
        await removeScratchEndpoints();
        await scratchEndpoint();
      }
      if (field === 'Mutation.deleteDraft') await scratchDraft();
      if (/Import$/.test(field)) await scratchImport();
      if (/(Member|MemberRole|Invitation)$/.test(field)) await scratchPerson();
      const answer = await ask(column, `${type.name.toLowerCase()} { ${ROOTS[field]} }`);
      cells.push([field, refusal(answer) ?? outcome(Object.values(answer.data as object)[0])]);
    }
    return cells;
  }
  if (type.name === 'DeleteWebhookEndpointPayload') await scratchEndpoint();
  if (type.name === 'DeleteDraftPayload') await scratchDraft();
  if (/ImportPayload$/.test(type.name)) await scratchImport();
  if (/Member|Invitation/.test(type.name)) await scratchPerson();
  if (type.name === 'LimitReachedError' && WRITERS.has(column)) for (let i = 0; i < 16; i++) await scratchEndpoint();
  const answer = await ask(column, reachOf(type.name).replace('…', selectionOf(type)));
  if (type.name === 'LimitReachedError') await removeScratchEndpoints();
  const found = marked(answer.data);
  // The other member of the union is the typed error.
  const [member] = Object.values((answer.data ?? {}) as Record<string, { __typename?: string } | null>);
  const otherwise = refusal(answer) ?? member?.__typename ?? 'hidden';
  return fields.map((field) => [field, found ? outcome(found[field.slice(type.name.length + 1)]) : otherwise]);
}

const TYPES = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType =>
    isObjectType(type) &&
    !type.name.startsWith('__') &&
    type !== schema.getSubscriptionType() &&
    !(type.name in STREAMED),
);

describe('access', () => {
  it('every type can be reached', () => {
    const names = TYPES.map(({ name }) => name).filter((name) => name !== 'Query' && name !== 'Mutation');
    expect(names.filter((name) => reachOf(name) === '')).toEqual([]);
  });

  it.each(TYPES.map((type) => [type.name, type] as const))('%s', async (_name, type) => {
    const rows: Record<string, string> = {};
    // The secret key is last, because its mutations succeed.
    for (const column of [...COLUMNS].reverse()) {
      for (const [field, cell] of await look(type, column)) rows[field] = `${cell} ${rows[field] ?? ''}`.trim();
    }
    const expected = (field: string) => {
      const cells = cellsOf(field)?.split(' ') ?? [];
      const columns = columnsOf(type, field);
      return COLUMNS.flatMap((column, nth) => (columns.includes(column) ? [cells[nth]] : [])).join(' ');
    };
    expect(Object.keys(rows)).toHaveLength(Object.keys(type.getFields()).length);
    expect(rows).toEqual(Object.fromEntries(Object.keys(rows).map((field) => [field, expected(field)])));
  });

  it.each(Object.entries(STREAMED))('%s', async (name, { field, operation }) => {
    const type = schema.getType(name) as GraphQLObjectType;
    const streams = COLUMNS.map((column) => follow(column, operation.replace('…', selectionOf(type))));
    await Promise.all(streams.map(({ open }) => open));
    await owner.graphql('mutation { sendTestWebhookEvent(type: invoice_accepted) { __typename } }');
    // The event is sent to all streams that may receive it, refusals are reported, and nothing more is sent.
    const expected = (ACCESS.get(field) ?? '').split(' ');
    await Promise.all(streams.filter((_, i) => expected[i] !== 'silent').map(({ first }) => first));
    await sleep(300);
    const rows: Record<string, string> = {};
    for (const { end } of streams) {
      const answer = await end();
      const found = marked(answer?.data);
      const otherwise = answer === null ? 'silent' : (refusal(answer) ?? 'hidden');
      const cells = Object.keys(type.getFields()).map((each) => [
        `${name}.${each}`,
        found ? outcome(found[each]) : otherwise,
      ]);
      for (const [each = '', cell = ''] of [...cells, [field, found ? '+' : otherwise]]) {
        rows[each] = `${rows[each] ?? ''} ${cell}`.trim();
      }
    }
    expect(rows).toEqual(Object.fromEntries(Object.keys(rows).map((each) => [each, ACCESS.get(each)])));
  });

  it('the table contains every field, and no others', () => {
    const fields = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
      .flatMap((type) => Object.keys((type as GraphQLObjectType).getFields()).map((field) => `${type.name}.${field}`));
    expect([...ACCESS.keys()].filter((field) => !fields.includes(field))).toEqual([]);
    expect(fields.filter((field) => cellsOf(field) === undefined)).toEqual([]);
  });
});

/**
 * A subscription: `open` resolves with the response, `first` with the first result. `end` ends it and returns the
 * result, if any.
 */
function follow(column: Column, template: string) {
  const abort = new AbortController();
  let result: Answered | null = null;
  const opened = fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      ...credentials.get(column),
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: operationFor(column, template) }),
    signal: abort.signal,
  });
  const first = opened.then(async (response) => {
    for await (const { data } of messagesOf(response)) {
      result = data;
      return;
    }
  });
  first.catch(() => undefined);
  return {
    open: opened,
    first,
    async end(): Promise<Answered | null> {
      abort.abort();
      await first.catch(() => undefined);
      return result;
    },
  };
}
