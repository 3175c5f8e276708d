import { beforeEach, expect, it } from 'vitest';
import type { WebhookEndpoint } from '../../../src/domain/webhook/endpoint.ts';
import { createEndpointSnapshots, type EndpointSnapshots } from '../../../src/domain/webhook/endpoint-snapshots.ts';
import { clockAt } from '../../support/webhooks.ts';

const ENDPOINT = { id: 'we_1', url: 'https://receiver.test/old', active: true } as WebhookEndpoint;
const CHANGED = { ...ENDPOINT, url: 'https://receiver.test/new' };

let clock: ReturnType<typeof clockAt>;
/** The reads that were begun: each ends when the test answers it. */
let reads: ReturnType<typeof Promise.withResolvers<WebhookEndpoint | null>>[];
let problems: string[];
let snapshots: EndpointSnapshots;

beforeEach(() => {
  clock = clockAt();
  reads = [];
  problems = [];
  snapshots = createEndpointSnapshots({
    endpointOf() {
      const read = Promise.withResolvers<WebhookEndpoint | null>();
      reads.push(read);
      return read.promise;
    },
    now: clock.read,
    report: (message) => problems.push(message),
  });
  snapshots.note(ENDPOINT, clock.read().getTime());
});

const current = () => snapshots.current(ENDPOINT.id);

it('reads an endpoint once a second for any number of deliveries', async () => {
  expect(await current()).toBe(ENDPOINT);
  clock.move(1001);
  const answers = Promise.all(Array.from({ length: 50 }, current));
  reads[0]?.resolve(CHANGED);
  expect(new Set(await answers)).toEqual(new Set([CHANGED]));
  clock.move(1000);
  expect(await current()).toBe(CHANGED);
  expect(reads).toHaveLength(1);
});

it('reads again what this process changed, also while it is being read', async () => {
  snapshots.changed(ENDPOINT.id);
  const answer = current();
  snapshots.changed(ENDPOINT.id);
  reads[0]?.resolve(ENDPOINT);
  await expect.poll(() => reads.length).toBe(2);
  reads[1]?.resolve(CHANGED);
  expect(await answer).toBe(CHANGED);
});

it('does not replace an endpoint by one that was read before it', async () => {
  const earlier = clock.read().getTime();
  clock.move(500);
  snapshots.note(CHANGED, clock.read().getTime());
  snapshots.note(ENDPOINT, earlier);
  expect(await current()).toBe(CHANGED);
});

it('takes a deleted endpoint as inactive, and one that cannot be read as it was', async () => {
  clock.move(1001);
  const unread = current();
  reads[0]?.reject(new Error('away'));
  expect(await unread).toBe(ENDPOINT);
  expect(problems).toEqual(['the endpoint we_1 could not be read']);
  const deleted = current();
  reads[1]?.resolve(null);
  expect(await deleted).toEqual({ ...ENDPOINT, active: false });
});
