import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { newId } from '../../src/domain/ids.ts';
import { KIND_NAMES, KINDS, type Kind } from '../../src/domain/invoice/kinds.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import type { Page, PageQuery } from '../../src/domain/page.ts';
import { deliveryOf } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { createAuditLog } from '../../src/storage/audit-log.ts';
import { COLLECTIONS } from '../../src/storage/collection-rules.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createDraftStore } from '../../src/storage/drafts.ts';
import { createImportStore } from '../../src/storage/imports.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createRequestLog } from '../../src/storage/request-log.ts';
import { createDeliveryLedger } from '../../src/storage/webhook-deliveries.ts';
import { createEventLog } from '../../src/storage/webhook-events.ts';
import { anImport } from '../support/imports.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { startTestMongo } from '../support/mongodb.ts';
import { sampled } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

/** Each has its own connection and memory, as the processes of the service have. */
const PROCESSES = 3;
const COUNT = sampled(600);

let store: Store;
const connections: Store[] = [];

beforeAll(async () => {
  store = await openTestStore('list_order');
  const { uri } = await startTestMongo();
  for (let nth = 0; nth < PROCESSES; nth++) connections.push(await connect(uri, store.db.databaseName));
});
afterAll(async () => {
  for (const connection of connections) await connection.close();
  await store.close();
});

/** A list as its clients read it. */
interface List {
  /** The order key of a row. */
  orderOf(id: string): Promise<string | null>;
  /** Ids, newest first. */
  page(limit: number, cursor: PageQuery['cursor']): Promise<{ ids: string[]; hasMore: boolean }>;
}

const invoicesOf = (invoices: InvoiceRepository, tenantId: string, kind: Kind | null): List => ({
  orderOf: (id) => invoices.orderOf(tenantId, 'test', id),
  async page(limit, cursor) {
    const all = { kind, status: null, match: null, createdFrom: null, createdUntil: null } as const;
    const page = await invoices.page({ ...all, tenantId, environment: 'test', limit, cursor });
    return { ids: page.invoices.map(({ id }) => id), hasMore: page.hasMore };
  },
});

/** A client that asks again and again for what is newer than the newest that it has seen. */
function poller(list: List, random: () => number, limit: number) {
  const seen: string[] = [];
  let ended = false;
  async function poll(): Promise<void> {
    const before = seen.at(-1);
    const order = before === undefined ? null : await list.orderOf(before);
    const cursor = order === null ? null : ({ direction: 'before', order } as const);
    const page = await list.page(cursor ? limit : 1, cursor);
    seen.push(...page.ids.reverse());
    if (page.hasMore && cursor) await poll();
  }
  const polling = (async () => {
    while (!ended) {
      await poll();
      await sleep(random() * 4);
    }
    await poll();
  })();
  return {
    async end(): Promise<string[]> {
      ended = true;
      await polling;
      return seen;
    },
  };
}

/** Calls `create` with 0 to COUNT - 1, some at the same time. */
async function createAll(create: (nth: number) => Promise<void>): Promise<void> {
  const left = Array.from({ length: COUNT }, (_, nth) => nth);
  const work = async () => {
    for (let nth = left.shift(); nth !== undefined; nth = left.shift()) await create(nth);
  };
  await Promise.all(Array.from({ length: 12 }, work));
}

/** A poller begins with the newest row of its first look. */
async function expectAllSeen(pollers: readonly ReturnType<typeof poller>[], expected: readonly string[]) {
  expect(expected).toHaveLength(COUNT);
  for (const each of pollers) {
    const seen = await each.end();
    expect(seen).toEqual(expected.slice(expected.indexOf(seen[0] ?? '')));
    expect(seen.length).toBeGreaterThan(COUNT / 2);
  }
}

async function idsInOrder(collection: string, tenantId: string): Promise<string[]> {
  const rows = store.db.collection<{ _id: string }>(collection);
  return (await rows.find({ tenantId }).sort({ order: 1 }).toArray()).map(({ _id }) => _id);
}

it.each([
  ['invoices', 'invoice' as const],
  ['documents of all kinds', null],
])(
  'pollers of newer %s see each one once and in order, whichever process stored it and however long it took',
  async (_what, listed) => {
    const random = randomNumbers(41);
    const tenantId = newId('ten');
    const repositories = connections.map(({ db }) => createInvoiceRepository(db));
    const lists = repositories.map((each) => invoicesOf(each, tenantId, listed));
    const pollers = lists.map((each, nth) => poller(each, random, [100, 7, 1][nth] ?? 100));
    const missed: string[] = [];
    await createAll(async (nth) => {
      const repository = repositories[nth % PROCESSES] as InvoiceRepository;
      const ownNumber = random() < 0.3 ? `F ${nth}` : null;
      const kind = listed ?? (KIND_NAMES[Math.floor(random() * KIND_NAMES.length)] as Kind);
      const id = newId(KINDS[kind].idPrefix);
      const invoice = pendingInvoice({ id, kind, tenantId, ...(ownNumber && { ownNumber, number: ownNumber }) });
      const mark = { key: invoice.id, fingerprint: '' };
      const { order } = newCreationMoment();
      // Checks before the insert take their time, some longer than others.
      await sleep(random() * 30);
      await repository.insert(invoice, order, mark);
      // Who was answered sees what was created.
      const first = await lists[(nth + 1) % PROCESSES]?.page(100, null);
      if (!first?.ids.includes(invoice.id)) missed.push(invoice.id);
      // A replay takes no place of its own.
      if (random() < 0.2) await repository.insert(invoice, newCreationMoment().order, mark);
    });
    await expectAllSeen(pollers, await idsInOrder('invoices', tenantId));
    expect(missed).toEqual([]);
  },
);

const OWNER = { environment: 'test' } as const;
const EVENT = { type: 'invoice.signing', invoiceId: 'inv_1', sequence: 1, body: '{}', documentRevision: 0 } as const;
const REQUEST = {
  method: 'GET',
  route: '/v1/invoices',
  operation: null,
  documentId: null,
  status: 200,
  milliseconds: 1,
  code: null,
  param: null,
  keyId: 'key_1',
  standsFor: 1,
} as const;
const ENTRY = {
  action: 'tenant.created',
  environment: null,
  origin: null,
  subject: null,
  details: {},
  actor: { kind: 'operator', id: null, name: null },
} as const;

/** The other lists with a cursor: how a process adds a row, and reads its own list. */
const LISTS: Record<
  string,
  (db: Db, tenantId: string) => List & { add(order: string, nth: number): Promise<unknown> }
> = {
  webhook_events(db, tenantId) {
    const log = createEventLog(db, () => '');
    const query = { ...OWNER, tenantId, type: null, from: null, until: null };
    return {
      add: (order) =>
        log.append([{ ...EVENT, ...OWNER, id: newId('evt'), tenantId, createdAt: new Date(), order, place: order }]),
      orderOf: async (id) => (await log.find(tenantId, 'test', id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await log.page({ ...query, limit, cursor })),
    };
  },
  webhook_deliveries(db, tenantId) {
    const ledger = createDeliveryLedger(db);
    const query = { ...OWNER, tenantId, endpointId: null, state: null, from: null, until: null };
    return {
      add(order) {
        const event = { ...EVENT, ...OWNER, id: newId('evt'), tenantId, createdAt: new Date(), order, place: order };
        const delivery = deliveryOf(event, { id: newId('we') } as WebhookEndpoint);
        return ledger.insert([{ delivery, lease: null, manual: false, timesDisabled: 0 }], new Date());
      },
      orderOf: async (id) => (await ledger.find(tenantId, 'test', id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await ledger.page({ ...query, limit, cursor })),
    };
  },
  request_log(db, tenantId) {
    const log = createRequestLog(db);
    const query = { ...OWNER, tenantId, failed: false, kind: null, from: null, until: null };
    return {
      add: (order) =>
        log.insert([{ ...REQUEST, ...OWNER, id: `req_${randomUUID()}`, tenantId, at: new Date(), order }]),
      orderOf: async (id) => (await log.find(tenantId, 'test', id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await log.page({ ...query, limit, cursor })),
    };
  },
  drafts(db, tenantId) {
    const drafts = createDraftStore(db);
    const query = { ...OWNER, tenantId, from: null, until: null };
    const written = { updatedAt: new Date(), updatedBy: { kind: 'key', id: 'key_1', name: null } } as const;
    return {
      add: (order) =>
        drafts.insert({
          ...OWNER,
          ...written,
          id: newId('drf'),
          tenantId,
          order,
          version: 1,
          content: '{}',
          createdAt: new Date(),
          issuingUntil: null,
        }),
      orderOf: async (id) => (await drafts.find(id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await drafts.page({ ...query, limit, cursor })),
    };
  },
  imports(db, tenantId) {
    const imports = createImportStore(db);
    const query = { ...OWNER, tenantId, from: null, until: null };
    return {
      add: (order) => imports.insert({ ...anImport({ ...OWNER, tenantId }, 'a'), order }),
      orderOf: async (id) => (await imports.find(id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await imports.page({ ...query, limit, cursor })),
    };
  },
  audit_log(db, tenantId) {
    const log = createAuditLog(db);
    const query = { tenantId, actorId: null, subject: null, from: null, until: null };
    return {
      add: (order) => log.insert([{ ...ENTRY, id: newId('aud'), tenantId, at: new Date(), order }]),
      orderOf: async (id) => (await log.find(tenantId, id))?.order ?? null,
      page: async (limit, cursor) => idsOf(await log.page({ ...query, limit, cursor })),
    };
  },
};

const idsOf = ({ rows, hasMore }: Page<{ readonly id: string }>) => ({ ids: rows.map(({ id }) => id), hasMore });

it.each(Object.keys(LISTS))('pollers of newer rows see each one of %s once and in order', async (name) => {
  const random = randomNumbers(42);
  const tenantId = newId('ten');
  const lists = connections.map(({ db }) => (LISTS[name] as (typeof LISTS)[string])(db, tenantId));
  const pollers = lists.map((each, nth) => poller(each, random, [100, 7, 1][nth] ?? 100));
  await createAll(async (nth) => {
    const { order } = newCreationMoment();
    await sleep(random() * 30);
    await lists[nth % PROCESSES]?.add(order, nth);
  });
  await expectAllSeen(pollers, await idsInOrder(name, tenantId));
});

it('every list with a cursor is among those', () => {
  const indexed = Object.entries(COLLECTIONS).filter(([, { indexes = [] }]) =>
    indexes.some(({ key }) => 'order' in key),
  );
  expect(indexed.map(([name]) => name).sort()).toEqual([...Object.keys(LISTS), 'invoices'].sort());
});

// Each waits 5 s.
it.concurrent.each([
  ['agrees with the others', 0],
  ['is ten minutes behind, which makes nobody think that it died long ago', -600_000],
  ['is an hour ahead', 3_600_000],
])(
  'a process whose clock %s has its turn for some seconds, and what died in it hides nothing',
  async (_clock, aheadMs) => {
    const tenantId = newId('ten');
    const [first, second] = connections.map(({ db }) => createInvoiceRepository(db)) as [
      InvoiceRepository,
      InvoiceRepository,
    ];
    await first.insert(pendingInvoice({ tenantId }), newCreationMoment().order, null);
    // It has taken the turn, and its invoice never comes.
    const at = new Date(Date.now() + aheadMs);
    const dead = { turn: 'of a dead process', last: newId('inv'), top: newCreationMoment().order, at };
    await store.db
      .collection<{ _id: string }>('list_heads')
      .updateOne({ _id: `invoices ${tenantId} test` }, { $set: dead });
    const begun = performance.now();
    const [own, others] = [pendingInvoice({ tenantId }), pendingInvoice({ tenantId })];
    await Promise.all([
      first.insert(own, newCreationMoment().order, null),
      second.insert(others, newCreationMoment().order, null),
    ]);
    expect(performance.now() - begun).toBeGreaterThan(4000);
    expect(performance.now() - begun).toBeLessThan(12_000);
    expect((await idsInOrder('invoices', tenantId)).slice(1).sort()).toEqual([own.id, others.id].sort());
  },
);

it('a clock that was set back by an hour changes the times, and not the order', async () => {
  const tenantId = newId('ten');
  const [first, second] = connections.map(({ db }) => createInvoiceRepository(db)) as [
    InvoiceRepository,
    InvoiceRepository,
  ];
  const ahead = pendingInvoice({ tenantId, createdAt: new Date(Date.now() + 3_600_000) });
  await first.insert(ahead, `${orderAt(ahead.createdAt.getTime()).slice(0, 16)}ffffffff`, null);
  const { createdAt, order } = newCreationMoment();
  const back = pendingInvoice({ tenantId, createdAt });
  const { invoice } = await second.insert(back, order, null);
  expect(invoice.createdAt).toEqual(createdAt);
  expect(await idsInOrder('invoices', tenantId)).toEqual([ahead.id, back.id]);
});
