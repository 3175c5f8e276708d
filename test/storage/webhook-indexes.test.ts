import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import type { ClaimedDelivery } from '../../src/domain/webhook/delivery.ts';
import { LEASE_MS } from '../../src/domain/webhook/dispatcher.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import type { AttemptRecord } from '../../src/domain/webhook/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createOutbox } from '../../src/storage/outbox.ts';
import { queryPlans } from '../support/query-plans.ts';
import { deviates } from '../support/reference-deviations.ts';
import { openTestStore } from '../support/store.ts';
import { answerOf, storedEndpoint, storedInvoices, webhookWorker } from '../support/webhooks.ts';

let store: Store;
let webhooks: ReturnType<typeof webhookWorker>;
let endpoint: WebhookEndpoint;
let plans: ReturnType<typeof queryPlans>;

beforeAll(async () => {
  store = await openTestStore('webhook_indexes', true);
  webhooks = webhookWorker(
    store,
    async () => answerOf(500),
    () => new Date(),
  );
  endpoint = await storedEndpoint(store);
  for (const invoice of await storedInvoices(store, endpoint.tenantId, 30)) webhooks.publisher.publish(invoice);
  await webhooks.publisher.settle();
  await webhooks.dispatcher.settle();
  plans = queryPlans(store);
});
afterAll(() => store.close());

/** A time at which all retries are due. */
const later = () => new Date(Date.now() + 400_000);

function claimNamed(id: string): ClaimedDelivery {
  const event = { eventId: 'evt_1', invoiceId: 'inv_1', sequence: 2, earlier: ['evt_0'], createdAt: new Date() };
  const round = { tries: 0, retry: false, manual: false, timesDisabled: 0 };
  return { id, tenantId: endpoint.tenantId, endpointId: endpoint.id, ...event, ...round, token: 'x', leaseEnd: 0 };
}

function recordOf(id: string): AttemptRecord {
  const attempt = { at: new Date(), url: 'https://receiver.test/', requestHeaders: {}, ...answerOf(200) };
  return { claim: claimNamed(id), attempt, outcome: { state: 'delivered' } };
}

const owner = () => ({ tenantId: endpoint.tenantId, environment: 'test' }) as const;

const page = () =>
  ({
    tenantId: endpoint.tenantId,
    environment: 'test',
    limit: 5,
    cursor: { direction: 'after', order: orderAt(Date.now() + 1000) },
    from: 0,
    until: Date.now() + 1000,
  }) as const;

/** Every method that queries, with the maximum number of documents that it may examine. */
const CALLS: [string, () => Promise<unknown>, number][] = [
  ['outbox.takeUnpublished', () => createOutbox(store.db).takeUnpublished(5, 1000), 5],
  ['endpoints.findOfAnyTenant', () => webhooks.endpoints.findOfAnyTenant(endpoint.id), 1],
  [
    'endpoints.subscribed',
    () => webhooks.endpoints.subscribed([endpoint.tenantId, 'ten_1'], 'test', ['invoice.signing']),
    2,
  ],
  ['endpoints.noteFailure', () => webhooks.endpoints.noteFailure(endpoint.id, new Date(), new Date()), 1],
  ['endpoints.takeToJudge', () => webhooks.endpoints.takeToJudge(later(), later(), 5), 1],
  ['endpoints.markJudged', () => webhooks.endpoints.markJudged(endpoint.id, { toldShare: 50, judgeAt: later() }), 1],
  ['endpoints.failing', () => webhooks.endpoints.failing(later(), 5), 1],
  ['endpoints.noteSuccess', () => webhooks.endpoints.noteSuccess(endpoint.id), 1],
  ['events.find', () => webhooks.events.find(endpoint.tenantId, 'test', 'evt_1'), 1],
  ['events.bodies', () => webhooks.events.bodies(['evt_1', 'evt_2']), 2],
  ['events.after', () => webhooks.events.after({ tenantId: endpoint.tenantId, environment: 'test' }, '0', 5), 5],
  [
    'events.placesAfter',
    () => webhooks.events.placesAfter({ tenantId: endpoint.tenantId, environment: 'test' }, '0', 5),
    5,
  ],
  [
    'events.announce',
    () => webhooks.events.announce({ tenantId: endpoint.tenantId, environment: 'test' }, ['evt_1']),
    2,
  ],
  ['deliveries.keys', () => webhooks.deliveries.keys({ ...page(), endpointId: endpoint.id, state: 'failed' }), 6],
  ['deliveries.reopen', () => webhooks.deliveries.reopen([{ id: 'dlv_1', timesDisabled: 0 }], new Date()), 1],
  ['endpoints.replaceSecrets', () => webhooks.endpoints.replaceSecrets(endpoint.id, [], []), 1],
  ['endpoints.resealSecrets', () => webhooks.endpoints.resealSecrets(endpoint.id, [], []), 1],
  ['endpoints.pageOfAll', () => webhooks.endpoints.pageOfAll('', 5), 5],
  ['events.page', () => webhooks.events.page({ ...page(), type: null }), 6],
  [
    'events.page, and others',
    async () => {
      const cursor = { direction: 'after', order: newCreationMoment().order } as const;
      return (await webhooks.events.page({ ...page(), cursor, type: null })).hasOthers();
    },
    6,
  ],
  [
    'deliveries.page, and others',
    async () => {
      const cursor = { direction: 'before', order: newCreationMoment().order } as const;
      return (await webhooks.deliveries.page({ ...page(), cursor, endpointId: null, state: null })).hasOthers();
    },
    6,
  ],
  ['events.page, type', () => webhooks.events.page({ ...page(), type: 'invoice.signing' }), 6],
  [
    'deliveries.claim',
    () => webhooks.deliveries.claimMany(endpoint.id, { limit: 5, retries: true, leaseMs: 1000, now: later() }),
    5,
  ],
  ['deliveries.unattemptedBefore', () => webhooks.deliveries.unattemptedBefore([claimNamed('dlv_1')]), 1],
  ['deliveries.release', () => webhooks.deliveries.release([claimNamed('dlv_1')], new Date()), 1],
  ['deliveries.record', () => webhooks.deliveries.record([recordOf('dlv_1')]), 1],
  ['deliveries.cancel', () => webhooks.deliveries.cancel([claimNamed('dlv_1')], new Date()), 1],
  ['deliveries.cancelPending', () => webhooks.deliveries.cancelPending(endpoint.id, 2), 2],
  ['deliveries.backlog', () => webhooks.deliveries.backlog(5, later()), 5],
  ['deliveries.sweep', () => webhooks.deliveries.sweep(5, 1000, later()), 5],
  ['deliveries.freeLeases', () => webhooks.deliveries.freeLeases(new Date(), LEASE_MS), 0],
  ['deliveries.find', () => webhooks.deliveries.find(endpoint.tenantId, 'test', 'dlv_1'), 1],
  ['deliveries.ofEvents', () => webhooks.deliveries.ofEvents(owner(), [newId('evt'), newId('evt')]), 2],
  ['deliveries.attempts', () => webhooks.deliveries.attempts(owner(), ['dlv_1', 'dlv_2'], ['status']), 2],
  ['events.findMany', () => webhooks.events.findMany(owner(), ['evt_1', 'evt_2']), 2],
  ['deliveries.page', () => pageOf(null, null), 6],
  [
    'deliveries.pageWithAttempts',
    () => webhooks.deliveries.pageWithAttempts({ ...page(), endpointId: null, state: null }, ['status']),
    6,
  ],
  ['deliveries.page, state', () => pageOf(null, 'pending'), 6],
  ['deliveries.page, endpoint', () => pageOf(endpoint.id, null), 6],
  ['deliveries.page, endpoint and state', () => pageOf(endpoint.id, 'pending'), 6],
];

function pageOf(endpointId: string | null, state: 'pending' | null) {
  return webhooks.deliveries.page({ ...page(), endpointId, state });
}

it.each(CALLS)('%s has an index', async (_name, call, most) => plans.expectIndexed(call, most));

it.skipIf(deviates.dateArithmetic)('deliveries.reschedule has an index', async () => {
  await plans.expectIndexed(() => webhooks.deliveries.reschedule(new Date()), 30);
});

it('pages have the right rows and the right end', async () => {
  const { rows, hasMore } = await webhooks.deliveries.page({ ...page(), endpointId: endpoint.id, state: null });
  expect(rows).toHaveLength(5);
  expect(hasMore).toBe(true);
});
