import { newId } from '../../../src/domain/ids.ts';
import { orderAt } from '../../../src/domain/order-key.ts';
import { type ClaimedDelivery, deliveryOf } from '../../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../../src/domain/webhook/endpoint.ts';
import type { DeliveryLedger } from '../../../src/domain/webhook/ports.ts';
import type { WebhookEvent } from '../../../src/domain/webhook/webhook-event.ts';
import type { Store } from '../../../src/storage/connect.ts';
import { createAttemptReading } from '../../../src/storage/webhook-attempts.ts';
import { createDeliveryLedger } from '../../../src/storage/webhook-deliveries.ts';
import { createWebhookEndpointRepository } from '../../../src/storage/webhook-endpoints.ts';
import { createEventLog } from '../../../src/storage/webhook-events.ts';
import { answerOf, BOX, storedEndpoint } from '../webhooks.ts';
import { type CasesOf, LEASE_MS, OWNER, type Subject, subject } from './cases.ts';

const A_LIST =
  'a page of a list is read from the index of each shard, which is cheaper than a shard with all of a tenant';
const RESUMED = 'a stream of events reads what it missed when it is resumed; what follows comes from the change stream';
const BACKLOG = 'of what waits for one endpoint each shard has a part, so that a busy endpoint is not on one shard';
const SWEEP = 'a sweep looks every few seconds, and each shard reads its own index up to the limit';

const PAGE = { ...OWNER, limit: 5, from: 0, until: Date.now() + 1000 } as const;
const CURSOR = { direction: 'after', order: orderAt(Date.now() + 60_000) } as const;
const { tenantId, environment } = OWNER;
const owner = [tenantId, environment] as const;

function newEvent(): WebhookEvent {
  const [order, createdAt] = [orderAt(Date.now()), new Date()];
  return {
    id: newId('evt'),
    ...OWNER,
    type: 'invoice.signing',
    invoiceId: newId('inv'),
    sequence: 1,
    createdAt,
    order,
    place: order,
    body: '{"type":"invoice.signing","data":{}}',
    documentRevision: 0,
  };
}

export function webhookCases(store: Store): Record<string, Subject> {
  const deliveries = deliveryCases(store);
  const { attempts, pageWithAttempts } = deliveries;
  return {
    createEventLog: eventCases(store),
    // A part of the ledger.
    createAttemptReading: subject(createAttemptReading(store.db), { attempts, pageWithAttempts }),
    createDeliveryLedger: subject(createDeliveryLedger(store.db), deliveries),
    createWebhookEndpointRepository: endpointCases(store),
  };
}

function eventCases({ db }: Store): Subject {
  const events = createEventLog(db, () => 'https://fatoura.test/document');
  return subject(events, {
    append: async () => {
      const event = newEvent();
      await events.append([event, newEvent()]);
      await events.append([event]);
    },
    find: () => events.find(...owner, newId('evt')),
    findMany: () => events.findMany(OWNER, [newId('evt'), newId('evt')]),
    bodies: () => events.bodies([newId('evt'), newId('evt')]),
    page: [
      {
        call: () => events.page({ ...PAGE, cursor: CURSOR, type: null }),
        scatters: ['find webhook_events by environment, order, tenantId'],
        because: A_LIST,
      },
      {
        call: async () => (await events.page({ ...PAGE, cursor: CURSOR, type: 'invoice.signing' })).hasOthers(),
        scatters: ['find webhook_events by environment, order, tenantId, type'],
        because: A_LIST,
      },
    ],
    after: {
      call: () => events.after(OWNER, '0', 5),
      scatters: ['find webhook_events by environment, place, tenantId'],
      because: RESUMED,
    },
    placesAfter: {
      call: () => events.placesAfter(OWNER, '0', 5),
      scatters: ['find webhook_events by environment, place, tenantId'],
      because: RESUMED,
    },
    announce: {
      call: () => events.announce(OWNER, [newId('evt')]),
      scatters: ['find webhook_events by environment, tenantId'],
      because: 'only when somebody sends an event again',
    },
  });
}

function deliveryCases(store: Store): CasesOf<DeliveryLedger> {
  const deliveries = createDeliveryLedger(store.db);
  const later = () => new Date(Date.now() + LEASE_MS);

  /** Makes a due delivery of a new endpoint. @param earlier number of earlier events of its invoice */
  async function due(earlier = 0): Promise<{ id: string; eventId: string; endpoint: WebhookEndpoint }> {
    const [endpoint, event] = [await storedEndpoint(store, { tenantId: newId('ten') }), newEvent()];
    const before = Array.from({ length: earlier }, () => newId('evt'));
    const delivery = deliveryOf(event, endpoint, before);
    await deliveries.insert([{ delivery, lease: null, manual: false, timesDisabled: 0 }], new Date());
    return { id: delivery.id, eventId: event.id, endpoint };
  }
  async function leased(earlier = 0): Promise<ClaimedDelivery> {
    const { endpoint } = await due(earlier);
    const query = { limit: 5, retries: false, leaseMs: LEASE_MS, now: later() };
    const [claim] = await deliveries.claimMany(endpoint.id, query);
    if (!claim) throw new Error('the delivery could not be claimed');
    return claim;
  }
  const claiming = {
    scatters: ['find webhook_deliveries by endpointId, work.readyAt, work.retry'],
    because: BACKLOG,
  };
  const attempt = () => ({ at: new Date(), url: 'https://receiver.test/', requestHeaders: {}, ...answerOf(200) });

  return {
    insert: () => due(),
    claimMany: { ...claiming, call: () => leased() },
    unattemptedBefore: { ...claiming, call: async () => deliveries.unattemptedBefore([await leased(2)]) },
    release: { ...claiming, call: async () => deliveries.release([await leased()], new Date()) },
    record: {
      ...claiming,
      call: async () =>
        deliveries.record([{ claim: await leased(), attempt: attempt(), outcome: { state: 'delivered' } }]),
    },
    cancel: { ...claiming, call: async () => deliveries.cancel([await leased()], new Date()) },
    cancelPending: {
      call: async () => deliveries.cancelPending((await due()).endpoint.id, 5),
      scatters: ['find webhook_deliveries by endpointId, state'],
      because: BACKLOG,
    },
    sweep: {
      call: async () => {
        await due();
        await deliveries.sweep(5, 1000, later());
      },
      scatters: ['find webhook_deliveries by work.sweepAt'],
      because: SWEEP,
    },
    backlog: {
      call: () => deliveries.backlog(5, later()),
      scatters: ['find webhook_deliveries by work.readyAt, work.sweepAt'],
      because: 'an operator looks at the state of the service',
    },
    reschedule: {
      call: () => deliveries.reschedule(later()),
      scatters: ['updateMany webhook_deliveries by work.since, work.sweepAt'],
      because: 'the clock was set back, or a worker starts',
    },
    freeLeases: {
      call: () => deliveries.freeLeases(later(), LEASE_MS),
      scatters: ['updateMany webhook_deliveries by work.sweepAt, work.token'],
      because: 'only a worker that starts as the only one does it',
    },
    find: async () => deliveries.find(...owner, (await due()).id),
    ofEvents: async () => deliveries.ofEvents(OWNER, [(await due()).eventId, newId('evt')]),
    attempts: {
      ...claiming,
      call: async () => {
        const claim = await leased();
        await deliveries.record([{ claim, attempt: attempt(), outcome: { state: 'delivered' } }]);
        await deliveries.attempts({ ...OWNER, tenantId: OWNER.tenantId }, [claim.id], ['status']);
      },
    },
    page: [
      {
        call: () => deliveries.page({ ...PAGE, cursor: null, endpointId: null, state: null }),
        scatters: ['find webhook_deliveries by environment, order, state, tenantId'],
        because: A_LIST,
      },
      {
        call: async () =>
          (await deliveries.page({ ...PAGE, cursor: CURSOR, endpointId: 'we_1', state: 'failed' })).hasOthers(),
        scatters: ['find webhook_deliveries by endpointId, environment, order, state, tenantId'],
        because: A_LIST,
      },
    ],
    pageWithAttempts: {
      call: () => deliveries.pageWithAttempts({ ...PAGE, cursor: null, endpointId: 'we_1', state: null }, ['status']),
      scatters: ['find webhook_deliveries by endpointId, environment, order, state, tenantId'],
      because: A_LIST,
    },
    keys: {
      call: () => deliveries.keys({ ...PAGE, cursor: null, endpointId: 'we_1', state: null }),
      scatters: ['find webhook_deliveries by endpointId, environment, order, state, tenantId'],
      because: A_LIST,
    },
    reopen: async () => deliveries.reopen([{ id: (await due()).id, timesDisabled: 0 }], new Date()),
  };
}

function endpointCases(store: Store): Subject {
  const endpoints = createWebhookEndpointRepository(store.db);
  const stored = () => storedEndpoint(store, OWNER);
  const mine = async () => [tenantId, environment, (await stored()).id] as const;
  return subject(endpoints, {
    insert: stored,
    list: () => endpoints.list(...owner),
    subscribed: () => endpoints.subscribed([tenantId, 'ten_1'], environment, ['invoice.signing']),
    find: async () => endpoints.find(...(await mine())),
    findOfAnyTenant: async () => endpoints.findOfAnyTenant((await stored()).id),
    update: async () => endpoints.update(...(await mine()), { active: false }),
    noteFailure: async () => endpoints.noteFailure((await stored()).id, new Date(), new Date()),
    noteSuccess: async () => endpoints.noteSuccess((await stored()).id),
    takeToJudge: () => endpoints.takeToJudge(new Date(), new Date(), 5),
    markJudged: async () => endpoints.markJudged((await stored()).id, { toldShare: 50, judgeAt: null }),
    failing: () => endpoints.failing(new Date(), 5),
    replaceSecrets: async () => {
      const { id, secrets } = await stored();
      const sealed = BOX.seal(`whsec_${Buffer.alloc(32).toString('base64')}`, id);
      await endpoints.replaceSecrets(id, secrets, [{ sealed, createdAt: new Date(), expiresAt: null }]);
    },
    resealSecrets: async () => {
      const { id, secrets } = await stored();
      await endpoints.resealSecrets(id, secrets, secrets);
    },
    pageOfAll: () => endpoints.pageOfAll('', 5),
    delete: async () => endpoints.delete(...(await mine())),
  });
}
