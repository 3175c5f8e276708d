import type { Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { deliveryId } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import type { Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { setWebhookRetention } from '../../src/storage/webhook-retention.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openTestStore } from '../support/store.ts';
import { HOUR, receiverThat, storedEndpoint, storedInvoice, turn, webhookWorker } from '../support/webhooks.ts';

const DAY = 24 * HOUR;
const COLLECTIONS = [
  'tenants',
  'invoices',
  'kept_invoices',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
  'webhook_attempts',
];

let store: Store;
beforeAll(async () => {
  store = await openTestStore('webhook_consistency', true);
});
afterAll(() => store.close());
beforeEach(async () => {
  await Promise.all(COLLECTIONS.map((name) => of(name).deleteMany({})));
  await setWebhookRetention(store.db, 30 * DAY);
});

const of = (name: string) => store.db.collection<{ _id: string; [field: string]: unknown }>(name);
const faults = () => Array.fromAsync(findInconsistencies(store.db));
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds);
const worker = (status: number) => webhookWorker(store, receiverThat(() => status).send, () => new Date());

/** A tenant with an endpoint. */
async function tenant(changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
  const endpoint = await storedEndpoint(store, changes);
  await of('tenants').insertOne({ _id: endpoint.tenantId, name: 'T', keys: [], createdAt: new Date() });
  return endpoint;
}

/** An invoice with so many published events, whose deliveries the endpoint answers with this status. */
async function published(status = 200, changes = 1) {
  const endpoint = await tenant();
  const invoice = await storedInvoice(store, endpoint.tenantId, changes);
  const working = worker(status);
  working.publisher.publish(invoice);
  await turn(working);
  expect(working.problems).toEqual([]);
  const [event] = invoice.events;
  const id = deliveryId(event?.id ?? '', endpoint.id);
  const delivery = await of('webhook_deliveries').findOne({ _id: id });
  expect(delivery).toMatchObject({ state: status === 200 ? 'delivered' : 'pending', attempts: [expect.any(String)] });
  const [attempt = ''] = (delivery?.attempts ?? []) as string[];
  return { endpoint, invoice, eventId: event?.id ?? '', id, attempt };
}

/** As if everything of an invoice had happened, and been stored, so much earlier. */
async function age({ invoice, eventId, id, attempt }: Awaited<ReturnType<typeof published>>, milliseconds: number) {
  const at = ago(milliseconds);
  await of('invoices').updateOne({ _id: invoice.id }, { $set: { 'events.0.at': at } });
  await of('webhook_events').updateOne({ _id: eventId }, { $set: { createdAt: at, storedAt: at } });
  await of('webhook_deliveries').updateOne({ _id: id }, { $set: { createdAt: at, storedAt: at } });
  await of('webhook_attempts').updateOne({ _id: attempt }, { $set: { at } });
}

describe('finds', () => {
  it('published events that are not in the log, and deliveries of them', async () => {
    const { invoice, endpoint } = await published(200, 2);
    const [first, second] = invoice.events;
    await of('webhook_events').deleteOne({ _id: second?.id ?? '' });
    expect(await faults()).toEqual([
      `invoice ${invoice.id}: its event ${second?.id} is published and not in the log of events`,
      `delivery ${deliveryId(second?.id ?? '', endpoint.id)}: its event ${second?.id} does not exist`,
    ]);
    // The whole log is lost.
    await of('webhook_events').deleteMany({});
    expect((await faults()).filter((text) => text.includes(first?.id ?? ''))).toHaveLength(2);
  });

  it('an event of some days ago that is gone, although older ones are there', async () => {
    const [oldest, lost] = [await published(), await published()];
    await age(oldest, 20 * DAY);
    await age(lost, 10 * DAY);
    expect(await faults()).toEqual([]);
    await of('webhook_events').deleteOne({ _id: lost.eventId });
    await of('webhook_attempts').deleteOne({ _id: lost.attempt });
    expect(await faults()).toEqual([
      `invoice ${lost.invoice.id}: its event ${lost.eventId} is published and not in the log of events`,
      `delivery ${lost.id}: its event ${lost.eventId} does not exist`,
      `delivery ${lost.id}: its attempt ${lost.attempt} does not exist`,
    ]);
  });

  it('an event whose invoice is gone', async () => {
    const { invoice, eventId } = await published();
    await of('invoices').deleteOne({ _id: invoice.id });
    expect(await faults()).toEqual([
      `event ${eventId}: its invoice ${invoice.id} does not exist`,
      expect.stringMatching(`^sums of ${invoice.tenantId} test [-0-9]+: they are not those of its invoices$`),
    ]);
  });

  it('an attempt that is gone', async () => {
    const { id, attempt } = await published(500);
    await of('webhook_attempts').deleteOne({ _id: attempt });
    expect(await faults()).toEqual([`delivery ${id}: its attempt ${attempt} does not exist`]);
  });

  it('a pending delivery that nobody would attempt', async () => {
    const { id } = await published(500);
    await of('webhook_deliveries').updateOne({ _id: id }, { $unset: { work: '' } });
    expect(await faults()).toEqual([`delivery ${id}: it is pending, and no attempt is planned`]);
  });

  it.each(['delivered', 'failed', 'cancelled'])('a %s delivery that would be attempted again', async (state) => {
    const { id } = await published(500);
    await of('webhook_deliveries').updateOne({ _id: id }, { $set: { state } });
    expect(await faults()).toEqual([`delivery ${id}: it is ${state}, and another attempt is planned`]);
  });

  it('what is behind the first batch', async () => {
    const { id } = await published(500);
    const delivery = await of('webhook_deliveries').findOne({ _id: id });
    const copies = Array.from({ length: 450 }, (_, n) => ({ ...delivery, _id: `${id}_${n}` }));
    await of('webhook_deliveries').insertMany([...copies, { ...delivery, _id: '~', work: null }]);
    const checking = findInconsistencies(store.db);
    expect(await checking.next()).toMatchObject({ value: 'delivery ~: it is pending, and no attempt is planned' });
    expect(await checking.next()).toMatchObject({ done: true, value: { invoices: 1, events: 1, deliveries: 452 } });
  });
});

describe('finds nothing wrong with', () => {
  it('retries that wait, attempts under way, events that are not published yet, test events', async () => {
    await published(500);
    const { endpoint, id } = await published(200);
    await of('webhook_deliveries').updateOne({ _id: id }, [
      { $set: { _id: id, state: 'cancelled', work: { token: 'lease', tries: 0, retry: true, sweepAt: new Date() } } },
    ]);
    await storedInvoice(store, endpoint.tenantId, 2);
    const event = await of('webhook_events').findOne({ tenantId: endpoint.tenantId });
    const specimen = { sequence: 0, invoiceId: 'inv_00000000-0000-4000-8000-000000000000' };
    await of('webhook_events').insertOne({ ...event, ...specimen, _id: newId('evt') });
    expect(await faults()).toEqual([]);
  });

  it('endpoints that were disabled or deleted', async () => {
    const [disabled, deleted] = [await published(500), await published(500)];
    const { deliveries, endpoints } = worker(500);
    const { tenantId, environment, id } = disabled.endpoint;
    await endpoints.update(tenantId, environment, id, { active: false });
    expect(await deliveries.cancelPending(id, 10)).toBe(1);
    // The process died before it cancelled the delivery.
    expect(await endpoints.delete(deleted.endpoint.tenantId, environment, deleted.endpoint.id)).toBe(true);
    expect(await faults()).toEqual([]);
  });

  it('a delivery that was sent by hand and cancelled again while it was leased', async () => {
    const { endpoint, id } = await published(500);
    const { deliveries } = worker(500);
    const later = ago(-HOUR);
    const [claim] = await deliveries.claimMany(endpoint.id, { limit: 1, retries: true, leaseMs: HOUR, now: later });
    expect(await deliveries.cancelPending(endpoint.id, 10)).toBe(1);
    expect(await deliveries.reopen([{ id, timesDisabled: 1 }], later)).toBe(1);
    expect(await deliveries.cancelPending(endpoint.id, 10)).toBe(1);
    await deliveries.cancel(claim ? [claim] : [], later);
    expect(await of('webhook_deliveries').findOne({ _id: id })).toMatchObject({
      state: 'cancelled',
      work: { token: null, timesDisabled: 1 },
    });
    expect(await faults()).toEqual([]);
  });

  it('rows that have expired, also of deliveries that are kept longer', async () => {
    const [expired, resent] = [await published(), await published(500)];
    await age(expired, 40 * DAY);
    await age(resent, 29.99 * DAY);
    await of('webhook_deliveries').updateOne({ _id: resent.id }, { $set: { storedAt: new Date() } });
    for (const { eventId } of [expired, resent]) await of('webhook_events').deleteOne({ _id: eventId });
    await of('webhook_attempts').deleteOne({ _id: expired.attempt });
    expect(await faults()).toEqual([]);
  });

  it('rows that a shorter retention has removed before it was lengthened', async () => {
    const [gone, left] = [await published(), await published()];
    await age(gone, 10 * DAY);
    await age(left, 6 * DAY);
    for (const name of ['webhook_events', 'webhook_attempts'])
      await of(name).deleteMany({ _id: { $in: [gone.eventId, gone.attempt] } });
    expect(await faults()).toEqual([]);
    // All that was there then.
    await age(left, 2 * DAY);
    for (const name of ['webhook_events', 'webhook_attempts']) await of(name).deleteMany({});
    expect(await faults()).toEqual([]);
  });

  it('a tenant that is being erased, at every step', async () => {
    const { endpoint, invoice } = await published(500, 2);
    const { tenantId, environment } = endpoint;
    const erasures = createErasureStore(store.db);
    const steps = [
      () => erasures.begin(tenantId, new Date()),
      () => erasures.removeEndpoints(tenantId, 10),
      () => erasures.detach([invoice.id], null, new Date()),
      () => erasures.removeInvoices({ tenantId, environment }, [invoice.id]),
      () => of('webhook_attempts').deleteMany({}),
      () => erasures.removeRecords(tenantId, 10),
      () => of('tenants').deleteOne({ _id: tenantId }),
    ];
    for (const step of steps) {
      await step();
      expect((await faults()).filter((text) => !text.endsWith(`tenant ${tenantId} does not exist`))).toEqual([]);
    }
  });

  it('a service that publishes, delivers and removes meanwhile', async () => {
    const endpoint = await tenant();
    const working = worker(200);
    let isStopped = false;
    const work = (async () => {
      for (let n = 0; n < 40; n++) {
        working.publisher.publish(await storedInvoice(store, endpoint.tenantId, 2));
        if (n % 4 === 0) await working.publisher.settle();
      }
      await turn(working);
      isStopped = true;
    })();
    let checks = 0;
    for (; !isStopped; checks++) expect(await faults()).toEqual([]);
    await work;
    expect(checks).toBeGreaterThan(2);
    expect(await of('invoices').countDocuments({ outbox: { $exists: true } })).toBe(0);
    expect(await faults()).toEqual([]);
  });

  it('a row that is whole again, or gone, when it is read a second time', async () => {
    const [unplanned, removed] = [await published(500), await published()];
    const deliveries = of('webhook_deliveries');
    const work = (await deliveries.findOne({ _id: unplanned.id }))?.work;
    await deliveries.updateOne({ _id: unplanned.id }, { $unset: { work: '' } });
    const plan = () => deliveries.updateOne({ _id: unplanned.id }, { $set: { work } });
    expect(await Array.fromAsync(findInconsistencies(changedBefore('webhook_deliveries', plan)))).toEqual([]);
    await of('invoices').deleteOne({ _id: removed.invoice.id });
    await of('day_sums').deleteMany({ _id: { $regex: `^${removed.invoice.tenantId} ` } });
    await deliveries.deleteOne({ _id: removed.id });
    const remove = () => of('webhook_events').deleteOne({ _id: removed.eventId });
    // The events of the other invoice are read by their ids first.
    expect(await Array.fromAsync(findInconsistencies(changedBefore('webhook_events', remove, 2)))).toEqual([]);
  });

  it.each(['webhook_events', 'webhook_attempts'])(
    '%s that are removed meanwhile, because the retention is shortened',
    async (name) => {
      const [oldest, old] = [await published(), await published()];
      await age(oldest, 20 * DAY);
      await age(old, 10 * DAY);
      const shorten = async () => {
        await setWebhookRetention(store.db, 7 * DAY);
        await of(name).deleteMany({});
      };
      expect(await Array.fromAsync(findInconsistencies(changedBefore(name, shorten)))).toEqual([]);
      expect(await of(name).countDocuments({})).toBe(0);
    },
  );
});

/** The store, in which something is changed before the nth time that documents of a collection are read by their ids. */
function changedBefore(collection: string, change: () => Promise<unknown>, nth = 1): Db {
  let reads = 0;
  return new Proxy(store.db, {
    get(real, member) {
      if (member !== 'collection') return Reflect.get(real, member, real);
      return (name: string) => {
        const read = real.collection(name);
        const find = read.find.bind(read);
        read.find = ((filter: { _id?: { $in?: unknown } }, options: object) => {
          const found = find(filter as never, options);
          const toArray = found.toArray.bind(found);
          found.toArray = async () => {
            if (name === collection && filter._id?.$in && ++reads === nth) await change();
            return toArray();
          };
          return found;
        }) as never;
        return read;
      };
    },
  });
}

it('looks at nothing but by an index', async () => {
  for (let n = 0; n < 3; n++) await published(500, 2);
  await of('webhook_events').deleteMany({ sequence: 2 });
  await queryPlans(store).expectIndexed(faults, 10);
});
