import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import type { WebhookEvent } from '../../src/domain/webhook/webhook-event.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createEventFeed, type EventFeedService } from '../../src/storage/event-feed.ts';
import { createEventLog } from '../../src/storage/webhook-events.ts';
import { openTestStore } from '../support/store.ts';

const OWNER = { tenantId: newId('ten'), environment: 'test' } as const;

let store: Store;
let feed: EventFeedService;
let log: ReturnType<typeof createEventLog>;
let errors: unknown[];

beforeAll(async () => {
  store = await openTestStore('event_feed');
  log = createEventLog(store.db, () => '');
});
afterAll(() => store.close());

beforeEach(() => {
  errors = [];
  feed = createEventFeed(
    store.db,
    () => '',
    (error) => errors.push(error),
  );
});
afterEach(() => feed.close());

async function append(owner: Pick<WebhookEvent, 'tenantId' | 'environment'> = OWNER): Promise<string> {
  const { order } = newCreationMoment();
  const id = newId('evt');
  await log.append([
    {
      id,
      ...owner,
      type: 'invoice.signing',
      invoiceId: newId('inv'),
      sequence: 1,
      createdAt: new Date(),
      order,
      place: order,
      body: '{}',
      documentRevision: 0,
    },
  ]);
  return id;
}

async function listening() {
  const told: string[] = [];
  const unsubscribe = await feed.subscribe(OWNER, {
    event: ({ id }) => void told.push(id),
    gap: () => void told.push('gap'),
  });
  return { told, unsubscribe };
}

it('tells new events and events with a new place to the listeners of their owner', async () => {
  const { told } = await listening();
  const [first, second] = [await append(), await append()];
  await append({ ...OWNER, environment: 'live' });
  await append({ ...OWNER, tenantId: newId('ten') });
  await log.announce(OWNER, [first]);
  await expect.poll(() => told).toEqual([first, second, first]);
  expect(errors).toEqual([]);
});

it('an event that is sent again gets a place above all others, also above one of a process whose clock is ahead', async () => {
  const owner = { ...OWNER, tenantId: newId('ten') };
  const [first, second] = [await append(owner), await append(owner)];
  const ahead = orderAt(Date.now() + 30_000);
  const events = store.db.collection<{ _id: string; place: string }>('webhook_events');
  await events.updateOne({ _id: second }, { $set: { place: ahead } });
  await log.announce(owner, [second, first]);
  expect((await log.after(owner, ahead, 5)).map(({ id }) => id)).toEqual([second, first]);
});

it('without listeners there is no stream; the next listener opens one', async () => {
  const before = await listening();
  before.unsubscribe();
  before.unsubscribe();
  expect(feed.listeners()).toBe(0);
  const { told } = await listening();
  const id = await append();
  await expect.poll(() => told).toEqual([id]);
  expect(before.told).toEqual([]);
});

describe('listeners are told of a gap, and the stream is opened again, when', () => {
  it('the server ends the stream', async () => {
    await append({ ...OWNER, tenantId: newId('ten') });
    const { told } = await listening();
    await store.db.dropCollection('webhook_events');
    await expect.poll(() => told).toEqual(['gap']);
    const id = await append();
    await expect.poll(() => told).toEqual(['gap', id]);
  });

  it('a change cannot be handled', async () => {
    const { told } = await listening();
    const failure = new Error('a defect');
    const unsubscribe = await feed.subscribe(OWNER, {
      event() {
        unsubscribe();
        throw failure;
      },
      gap: () => undefined,
    });
    const first = await append();
    await expect.poll(() => told).toEqual([first, 'gap']);
    expect(errors).toEqual([failure]);
    const second = await append();
    await expect.poll(() => told).toEqual([first, 'gap', second]);
  });
});

it('a subscription that is being opened ends with the feed', async () => {
  const opening = listening();
  await feed.close();
  await opening;
});
