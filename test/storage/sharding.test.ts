import { readdir, readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { PLACEMENTS } from '../../src/storage/collection-rules.ts';
import { MOVES_COLLECTION } from '../../src/storage/data-moves.ts';
import { createEventFeed } from '../../src/storage/event-feed.ts';
import { createInvoiceFeed } from '../../src/storage/invoice-feed.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createEventLog } from '../../src/storage/webhook-events.ts';
import { setWebhookRetention } from '../../src/storage/webhook-retention.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { type Routed, staysUnique, watchRoutes } from '../support/shard-routing.ts';
import { type Case, OWNER, SENDS_NOTHING, type Subject } from '../support/sharding/cases.ts';
import { erasureCases } from '../support/sharding/erasure-cases.ts';
import { invoiceCases } from '../support/sharding/invoice-cases.ts';
import { otherCases } from '../support/sharding/other-cases.ts';
import { webhookCases } from '../support/sharding/webhook-cases.ts';
import { openTestStore } from '../support/store.ts';
import { statusChange } from '../support/webhooks.ts';

// What a MongoDB cluster would do with what the repositories send (docs/decisions/0052).

const store = await openTestStore('sharding', true);
await setWebhookRetention(store.db, 86_400_000);
const routes = watchRoutes(store, PLACEMENTS);
const subjects: Record<string, Subject> = {
  ...invoiceCases(store),
  ...webhookCases(store),
  ...otherCases(store),
  ...erasureCases(store),
};
afterAll(() => store.close());

/**
 * Functions of `src/storage` that take a database and are no repositories. The feeds follow a change stream, which
 * mongos offers as one for all shards. A check reads everything. `migrate` runs while nothing else does, and reads whole collections.
 */
const NO_REPOSITORIES = [
  'ensureIndexes',
  'setWebhookRetention',
  'createInvoiceFeed',
  'createEventFeed',
  'findInconsistencies',
  'unloggedEvents',
  'unkeptCorrections',
  'unkeptDeductions',
  'sharesOfNothing',
  'checkedEvents',
  'checkedDeliveries',
  'unsummedInvoices',
  'checkedDays',
  'idsOf',
  'presentTenants',
  'keptSince',
  'upgradeData',
  'versionTrouble',
  'awaitsUpgrade',
  'beginVersions',
  'isNewStore',
  'moveTrouble',
  'endMove',
  'abandonMove',
  'collectionNames',
  'hasLiveWorker',
  'watchWrites',
  'insertBytes',
  // Reads what the rules of collections say.
  'createExportedRecords',
  'moveCollection',
  'compareCollection',
  'moveIndexes',
  'compareIndexes',
  'fileCollections',
];

/** Unique indexes that shards could not keep unique, with the reason why that is no harm. */
const NOT_UNIQUE: Readonly<Record<string, string>> = {
  'documents.chunks _id_': 'New ObjectIds do not collide, and nothing relies on the index to refuse one.',
};

const CASES = Object.entries(subjects).flatMap(([name, { cases }]) =>
  Object.entries(cases).flatMap(([method, each]) =>
    [each].flat().map((one, i) => [`${name}, ${method} (${i + 1})`, one as Case] as const),
  ),
);

/** The statements of a call with this route, each once. */
function sentBy(seen: readonly Routed[], route: Routed['route']): string[] {
  return [...new Set(seen.filter((each) => each.route === route).map(({ statement }) => statement))].sort();
}

describe('a cluster finds the shards of every statement, except those that say why not', () => {
  it.each(CASES)('%s', async (_name, given) => {
    if (given === SENDS_NOTHING) return;
    const { call, scatters } = typeof given === 'function' ? { call: given, scatters: [] } : given;
    routes();
    await call();
    const seen = routes();
    expect(seen).not.toEqual([]);
    expect(sentBy(seen, 'refused')).toEqual([]);
    expect(sentBy(seen, 'scattered')).toEqual([...scatters].sort());
  });

  it('while it feeds changes to streams', async () => {
    const fail = (error: unknown) => expect.unreachable(String(error));
    const feed = createInvoiceFeed(store.db, fail);
    const eventFeed = createEventFeed(store.db, () => '', fail);
    onTestFinished(async () => void (await Promise.all([feed.close(), eventFeed.close()])));
    const invoices = createInvoiceRepository(store.db);
    const invoice = pendingInvoice(OWNER);
    const { order } = newCreationMoment();
    const told = Promise.withResolvers<void>();
    const announced = Promise.withResolvers<void>();
    routes();
    await feed.start();
    feed.subscribe(invoice.id, () => told.resolve());
    await eventFeed.subscribe(OWNER, { event: ({ place }) => place > order && announced.resolve(), gap: () => {} });
    await invoices.insert(invoice, newCreationMoment().order, null);
    const claim = await claimOne(invoices, invoice.id, 1000);
    if (claim) await invoices.change(claim, { status: 'signing', events: [statusChange(1)], work: null }, 1000);
    const events = createEventLog(store.db, () => '');
    const event = { id: newId('evt'), type: 'invoice.signing', invoiceId: invoice.id, sequence: 1 } as const;
    const body = '{"type":"invoice.signing","data":{}}';
    const further = { createdAt: new Date(), order, place: order, body, documentRevision: 0 };
    await events.append([{ ...event, ...OWNER, ...further }]);
    await events.announce(OWNER, [event.id]);
    await Promise.all([told.promise, announced.promise]);
    const seen = routes();
    expect(sentBy(seen, 'targeted')).toContain('find webhook_events by _id');
    expect(sentBy(seen, 'refused')).toEqual([]);
    // Of `announce`, as `webhook-cases.ts` has it.
    expect(sentBy(seen, 'scattered')).toEqual(['find webhook_events by environment, tenantId']);
  });
});

describe('nothing is left out', () => {
  it.each(Object.entries(subjects))('%s: every method has a case', (_name, { repository, cases }) => {
    expect(Object.keys(cases).sort()).toEqual(Object.keys(repository).sort());
  });

  it('every function of src/storage that takes a database is run', async () => {
    const folder = new URL('../../src/storage/', import.meta.url);
    const sources = await Promise.all((await readdir(folder)).map((name) => readFile(new URL(name, folder), 'utf8')));
    const found = sources.flatMap((text) => [...text.matchAll(/^export (?:async )?function\*? (\w+)\([^{]*?\bDb\b/gm)]);
    const names = found.map(([, name]) => name).filter((name) => name !== undefined);
    // The jobs are in a collection of Agenda's, so that their functions are not in `src/storage`.
    expect([...names, 'createStageJobs'].sort()).toEqual([...Object.keys(subjects), ...NO_REPOSITORIES].sort());
  });

  it('every collection has a placement, and every placement a collection', async () => {
    // Which `migrate` alone creates.
    await store.db.createCollection(MOVES_COLLECTION);
    const collections = await store.db.listCollections({}, { nameOnly: true }).toArray();
    expect(collections.map(({ name }) => name).sort()).toEqual(Object.keys(PLACEMENTS).sort());
  });

  it('shards keep every unique index unique, except those that say why not', async () => {
    const broken: string[] = [];
    for (const [name, placement] of Object.entries(PLACEMENTS)) {
      for (const index of await store.db.collection(name).listIndexes().toArray())
        if ((index.unique || index.name === '_id_') && !staysUnique(index.key, placement))
          broken.push(`${name} ${index.name}`);
    }
    expect(broken.sort()).toEqual(Object.keys(NOT_UNIQUE).sort());
  });
});
