import { soleKey } from '../../src/domain/data-keys.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice, InvoiceEvent } from '../../src/domain/invoice/invoice.ts';
import { summedOf } from '../../src/domain/invoice/periods/summed-invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { createSecretBox } from '../../src/domain/secret-box.ts';
import { createAttemptDelivery } from '../../src/domain/webhook/attempt-delivery.ts';
import { ATTEMPT_FIELDS, type SendResult } from '../../src/domain/webhook/delivery.ts';
import { createDispatcher, type Dispatcher } from '../../src/domain/webhook/dispatcher.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { createEndpointHealth, type FailingEndpointNotice } from '../../src/domain/webhook/endpoint-health.ts';
import { createCountAttempts, createReadStatistics } from '../../src/domain/webhook/endpoint-statistics.ts';
import type { DeliveryLedger, OutgoingRequest } from '../../src/domain/webhook/ports.ts';
import { createPublishEvents } from '../../src/domain/webhook/publish-events.ts';
import { createRecordAttempts } from '../../src/domain/webhook/record-attempts.ts';
import type { DocumentUrl } from '../../src/domain/webhook/webhook-event.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createStatisticsStore } from '../../src/storage/endpoint-statistics.ts';
import { createOutbox } from '../../src/storage/outbox.ts';
import { createPeriodSums } from '../../src/storage/period-sums.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { createDeliveryLedger } from '../../src/storage/webhook-deliveries.ts';
import { createWebhookEndpointRepository } from '../../src/storage/webhook-endpoints.ts';
import { createEventLog } from '../../src/storage/webhook-events.ts';
import { claimOne, invoicesOf, pendingInvoice } from './invoices.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** The schedule of the contract. */
export const SCHEDULE = [0, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];

const documentUrl: DocumentUrl = ({ id, documentRevision }, kind) =>
  `https://fatoura.test/${id}/${documentRevision}.${kind}`;

/** Seals and opens the secrets of endpoints. */
export const BOX = createSecretBox(soleKey(new Uint8Array(32)), 'test');

/** Makes an answer with this status. */
export function answerOf(status: number | null): SendResult {
  const failure = status === null ? ({ code: 'timeout', message: 'no answer came' } as const) : null;
  return { status, headers: [], body: '', truncated: false, latencyMs: 1, failure };
}

/**
 * Makes a worker's part of the webhooks on a real store, with a clock and receivers that the test controls.
 * @param send returns the answer of a receiver
 * @param failing replaces parts of the ledger, which may fail then
 */
export function webhookWorker(
  store: Store,
  send: (request: OutgoingRequest) => Promise<SendResult>,
  clock: () => Date,
  { failing = (ledger) => ledger }: { failing?: (ledger: DeliveryLedger) => DeliveryLedger } = {},
) {
  const problems: unknown[] = [];
  const deliveries = failing(createDeliveryLedger(store.db));
  const events = createEventLog(store.db, documentUrl);
  const endpoints = createWebhookEndpointRepository(store.db);
  const wakes: { endpointId: string; at: Date }[] = [];
  const report = (message: string, error: unknown) => problems.push(message, error);
  const queue = { wake: async (endpointId: string, at: Date) => void wakes.push({ endpointId, at }) };
  const notices: FailingEndpointNotice[] = [];
  const owners: string[] = [];
  const statisticsStore = createStatisticsStore(store.db);
  const statistics = createCountAttempts(statisticsStore, (error) => problems.push(error));
  const health = createEndpointHealth({
    endpoints,
    deliveries,
    statistics: createReadStatistics(statisticsStore, clock),
    tenants: createTenantRepository(store.db),
    ownersOf: async () => owners,
    notifier: { endpointFails: async (notice) => void notices.push(notice) },
    now: clock,
    report,
  });
  const dispatcher: Dispatcher = createDispatcher({
    health,
    statistics,
    deliveries,
    events,
    endpointOf: endpoints.findOfAnyTenant,
    attempt: createAttemptDelivery({ sender: { send }, secretBox: BOX, schedule: SCHEDULE, now: clock }),
    records: createRecordAttempts(deliveries, queue, report),
    now: clock,
    report,
  });
  const publisher = createPublishEvents({
    outbox: createOutbox(store.db),
    summedOf,
    sums: createPeriodSums(store.db),
    events,
    deliveries,
    endpoints,
    dispatcher,
    documentUrl,
    now: clock,
    report,
  });
  return { deliveries, events, endpoints, dispatcher, publisher, health, statistics, owners, notices, wakes, problems };
}

/** Stores an endpoint of this tenant that subscribes to everything. */
export async function storedEndpoint(store: Store, changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
  const id = newId('we');
  const createdAt = new Date();
  const endpoint: WebhookEndpoint = {
    id,
    tenantId: newId('ten'),
    environment: 'test',
    url: `https://receiver.test/${id}`,
    description: null,
    events: EVENT_TYPES,
    active: true,
    timesDisabled: 0,
    secrets: [{ sealed: BOX.seal(`whsec_${Buffer.alloc(32).toString('base64')}`, id), createdAt, expiresAt: null }],
    createdAt,
    updatedAt: createdAt,
    failingSince: null,
    ...changes,
  };
  await createWebhookEndpointRepository(store.db).insert(endpoint);
  return endpoint;
}

const STATUSES = ['signing', 'transmitted', 'accepted'] as const;

/** Stores an invoice with this number of status changes in its outbox. */
export async function storedInvoice(store: Store, tenantId: string, changes = 1): Promise<Invoice> {
  const invoices = invoicesOf(store.db);
  const invoice = pendingInvoice({ tenantId });
  await invoices.insert(invoice, newCreationMoment().order, null);
  let claim = await claimOne(invoices, invoice.id, MINUTE);
  for (let sequence = 1; sequence <= changes && claim; sequence++) {
    const event = statusChange(sequence);
    const work = { stage: 'sign', attempts: 0, outcomeUnknown: false, in: 0, keep: true } as const;
    claim = await invoices.change(claim, { status: event.status, events: [event], work }, MINUTE);
  }
  if (!claim) throw new Error('the invoice can not be claimed');
  return claim.invoice;
}

/** Stores `count` such invoices together. */
export function storedInvoices(store: Store, tenantId: string, count: number, changes = 1): Promise<Invoice[]> {
  return Promise.all(Array.from({ length: count }, () => storedInvoice(store, tenantId, changes)));
}

/** Makes the event of an invoice's first, second or third status change. */
export function statusChange(sequence: number): InvoiceEvent {
  const status = STATUSES[sequence - 1] ?? 'accepted';
  return {
    id: newId('evt'),
    sequence,
    type: `invoice.${status}`,
    status,
    dgiId: status === 'accepted' ? 'DGI-1' : null,
    rejectionReason: null,
    at: new Date(),
  };
}

/** Makes a clock that stands still until the test moves it. */
export function clockAt(start = Date.now()) {
  let now = start;
  return {
    read: () => new Date(now),
    move(milliseconds: number) {
      now += milliseconds;
    },
  };
}

/** Makes a receiver that answers with `status()`, and records its requests. */
export function receiverThat(status: (request: OutgoingRequest) => number | null) {
  const requests: OutgoingRequest[] = [];
  const send = async (request: OutgoingRequest): Promise<SendResult> => {
    requests.push(request);
    return answerOf(status(request));
  };
  return { requests, send };
}

export type Worker = ReturnType<typeof webhookWorker>;

/** Reads up to 20 deliveries of a tenant with their attempts, newest first. */
export async function deliveriesOf({ deliveries }: Worker, tenantId: string) {
  const owner = { tenantId, environment: 'test' } as const;
  const everything = { limit: 20, cursor: null, from: null, until: null, endpointId: null, state: null };
  return (await deliveries.pageWithAttempts({ ...owner, ...everything }, ATTEMPT_FIELDS)).rows;
}

/** Reads the only delivery of a tenant. */
export async function onlyDelivery(worker: Worker, tenantId: string) {
  const rows = await deliveriesOf(worker, tenantId);
  const [delivery] = rows;
  if (!delivery || rows.length > 1) throw new Error(`${rows.length} deliveries instead of one`);
  return delivery;
}

/** Lets a worker do all due work. */
export async function turn(worker: Worker): Promise<void> {
  await worker.publisher.settle();
  await worker.dispatcher.sweep();
  await worker.dispatcher.settle();
}
