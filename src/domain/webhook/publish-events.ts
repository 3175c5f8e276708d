import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { outside } from '../activity.ts';
import { type Invoice, statusSince } from '../invoice/invoice.ts';
import type { PeriodSums, PublishedInvoice } from '../invoice/periods/ports.ts';
import type { SummedInvoice } from '../invoice/periods/summed-invoice.ts';
import type { Through } from '../kit/group.ts';
import { createTurns } from '../kit/turns.ts';
import { newCreationMoment } from '../order-key.ts';
import { ENVIRONMENTS } from '../tenant/tenant.ts';
import { deliveryOf } from './delivery.ts';
import { type Dispatcher, LEASE_MS } from './dispatcher.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { DeliveryLedger, EndpointRepository, EventLog, Outbox } from './ports.ts';
import { type DocumentUrl, eventBody, type WebhookEvent } from './webhook-event.ts';

/**
 * Maximum number of invoices whose events are written together. One by one, 1,100 deliveries a second are recorded
 * instead of 3,100 (bench `webhooks`).
 */
const BATCH = 64;
/**
 * If this number of invoices waits in memory, tenants with a waiting invoice leave further events in the outbox, where
 * the sweep finds them.
 */
const MOST_WAITING = 1000;
/** Maximum number of invoices whose published events this process remembers. */
const REMEMBERED = 10_000;
/**
 * Time without a published event after which an invoice is taken out of the outbox, in milliseconds. Most invoices are
 * processed by then, so that one update covers all their events, and its transaction meets no other update of them.
 */
const GATHER_MS = 1000;
const SWEEP_LIMIT = 100;
const SWEEP_PAUSE_MS = 5000;

/**
 * Publishes events from the invoices' outbox to the log of events and the ledger of deliveries, at least once each. The
 * outbox is updated last: after a crash events are published again, which changes nothing that is stored.
 */
export interface PublishEvents {
  /**
   * Publishes an invoice's new events; called right after the update that wrote them. Returns at once and never throws:
   * events that cannot be written now stay in the outbox, where the sweep finds them.
   */
  publish(invoice: Invoice): void;
  /** Publishes events that no process has published in time: its worker died, or the store failed. */
  sweep(): Promise<void>;
  /** Resolves when the events of all calls of `publish` are written. */
  settle(): Promise<void>;
  /** Settles; later calls of `publish` leave their events in the outbox. */
  stop(): Promise<void>;
}

export interface PublishParts {
  readonly outbox: Outbox;
  readonly sums: Pick<PeriodSums, 'record'>;
  /** Returns the amounts that an invoice adds to the sums, and its terms for searches. */
  readonly summedOf: (invoice: Invoice) => SummedInvoice;
  readonly events: Pick<EventLog, 'append'>;
  readonly deliveries: Pick<DeliveryLedger, 'insert'>;
  readonly endpoints: Pick<EndpointRepository, 'subscribed'>;
  readonly dispatcher: Pick<Dispatcher, 'reserve' | 'accept'>;
  readonly documentUrl: DocumentUrl;
  /** Runs the writing of each batch. The batch is made up when it begins. Default: at once. */
  readonly through?: Through;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

const FIRST_TRY = { tries: 0, retry: false, manual: false } as const;

/** An event and one of its receivers. */
interface Route {
  readonly event: WebhookEvent;
  readonly endpoint: WebhookEndpoint;
  /** When reading the endpoint began, UNIX milliseconds. */
  readonly readAt: number;
  /** Ids of the invoice's earlier events. */
  readonly earlier: readonly string[];
  /** The `traceparent` of the invoice. */
  readonly traceparent: string | null;
}

export function createPublishEvents(parts: PublishParts): PublishEvents {
  /**
   * The waiting invoices by their ids. Not a `createGroup`, because a later state of an invoice replaces the waiting
   * one.
   */
  const waiting = new Map<string, Invoice>();
  /**
   * The ids of the waiting invoices, by tenant: a tenant with many of them makes no other tenant wait for more than a
   * batch.
   */
  const turns = createTurns<string>();
  /** Sequence number of the last event of each invoice that this process has published. */
  const published = new LRUCache<string, number>({ max: REMEMBERED });
  /** Published invoices that are still in the outbox, and not in the sums under their new status, by their ids. */
  const unmarked = new Map<string, PublishedInvoice & { readonly publishedAt: number }>();
  /**
   * The timer of `markPublished`. Neither `every`, which would also run while nothing is published, nor a group, which
   * does not wait for the later events of an invoice.
   */
  let marking: NodeJS.Timeout | null = null;
  /** Resolves when all marks so far have been written or have failed. */
  let marked = Promise.resolve();
  let running: Promise<void> | null = null;
  let stopped = false;

  async function run(): Promise<void> {
    const { through = (work) => work() } = parts;
    while (waiting.size > 0) await through(next);
    running = null;
  }

  async function next(): Promise<void> {
    const batch = takeTurns();
    try {
      await writeBatch(batch);
    } catch (error) {
      parts.report('events could not be published; they stay in the outbox', error);
    }
  }

  function takeTurns(): Invoice[] {
    const batch: Invoice[] = [];
    while (batch.length < BATCH) {
      const invoice = waiting.get(turns.take() ?? '');
      if (!invoice) break;
      waiting.delete(invoice.id);
      batch.push(invoice);
    }
    return batch;
  }

  async function writeBatch(invoices: readonly Invoice[]): Promise<void> {
    const fresh = invoices.map((invoice) => ({
      invoice,
      rows: invoice.events
        .filter(({ sequence }) => sequence > (published.get(invoice.id) ?? 0))
        .map((event) => rowOf(invoice, event, parts.documentUrl)),
    }));
    const rows = fresh.flatMap((each) => each.rows);
    const readAt = parts.now().getTime();
    const [endpointsOf, appended] = await Promise.all([subscribersOf(rows), parts.events.append(rows)]);
    const events = new Map(appended.map((event) => [event.id, event]));
    await deliver(
      fresh.flatMap(({ invoice, rows }) =>
        rows.flatMap((row) => {
          const event = events.get(row.id) ?? row;
          const earlier = invoice.events.filter(({ sequence }) => sequence < event.sequence).map(({ id }) => id);
          const { traceparent } = invoice;
          return endpointsOf(event).map((endpoint) => ({ event, endpoint, readAt, earlier, traceparent }));
        }),
      ),
    );
    for (const invoice of invoices) {
      const { id, events } = invoice;
      // A sweep may return an older state of an invoice than the published one.
      published.set(id, Math.max(published.get(id) ?? 0, events.length));
      const known = unmarked.get(id);
      if (known && known.sequence >= events.length) continue;
      unmarked.set(id, { ...parts.summedOf(invoice), sequence: events.length, publishedAt: Date.now() });
    }
    marking ??= setTimeout(() => void markPublished(Date.now() - GATHER_MS), GATHER_MS);
  }

  /** @returns a function that gives the active endpoints that subscribe to an event */
  async function subscribersOf(rows: readonly WebhookEvent[]): Promise<(row: WebhookEvent) => WebhookEndpoint[]> {
    const found = await Promise.all(
      ENVIRONMENTS.map(async (environment) => {
        const ours = rows.filter((row) => row.environment === environment);
        const [tenantIds, types] = [ours.map(({ tenantId }) => tenantId), ours.map(({ type }) => type)];
        if (ours.length === 0) return [];
        return parts.endpoints.subscribed([...new Set(tenantIds)], environment, [...new Set(types)]);
      }),
    );
    const byTenant = Map.groupBy(found.flat(), ({ tenantId, environment }) => `${tenantId} ${environment}`);
    return ({ tenantId, environment, type }) =>
      (byTenant.get(`${tenantId} ${environment}`) ?? []).filter(({ events }) => events.includes(type));
  }

  /** Stores a delivery for each route, leased by this process if the endpoint's queue has room. */
  async function deliver(routes: readonly Route[]): Promise<void> {
    if (routes.length === 0) return;
    const now = parts.now();
    const rows = routes.map(({ event, endpoint, readAt, earlier, traceparent }) => {
      const reserved = parts.dispatcher.reserve(endpoint.id);
      const lease = reserved ? { token: randomUUID(), end: now.getTime() + LEASE_MS } : null;
      const { timesDisabled } = endpoint;
      const delivery = deliveryOf(event, endpoint, earlier, traceparent);
      return { event, endpoint, readAt, delivery, lease, manual: false, timesDisabled };
    });
    let inserted = new Set<string>();
    try {
      inserted = await parts.deliveries.insert(rows, now);
    } finally {
      // Also after a failed insert: the dispatcher has reserved room for these deliveries.
      await parts.dispatcher.accept(
        rows.map(({ event: { body }, endpoint, readAt, delivery, lease, timesDisabled }) => ({
          endpoint,
          readAt,
          reserved: lease !== null,
          leased:
            lease && inserted.has(delivery.id)
              ? { body, claim: { ...delivery, ...FIRST_TRY, timesDisabled, token: lease.token, leaseEnd: lease.end } }
              : null,
        })),
      );
    }
  }

  /**
   * Takes invoices that were published until then out of the outbox, and sums them. Never rejects: invoices that stay
   * unmarked are published again.
   */
  async function markPublished(until = Number.POSITIVE_INFINITY): Promise<void> {
    if (marking) clearTimeout(marking);
    marking = null;
    const marks = [...unmarked.values()].filter(({ publishedAt }) => publishedAt <= until);
    for (const { invoiceId } of marks) unmarked.delete(invoiceId);
    if (unmarked.size > 0) marking = setTimeout(() => void markPublished(Date.now() - GATHER_MS), GATHER_MS);
    if (marks.length === 0) return;
    // One after the other, because two transactions on the sums of a day conflict.
    marked = marked
      .then(() => parts.sums.record(marks))
      .catch((error) => parts.report('published events could not be marked in the outbox', error));
    await marked;
  }

  function enqueue(invoice: Invoice): void {
    if (stopped) return;
    const before = waiting.get(invoice.id);
    if (before && before.events.length > invoice.events.length) return;
    if (!before && waiting.size >= MOST_WAITING && turns.waitingOf(invoice.tenantId) > 0) return;
    waiting.set(invoice.id, invoice);
    turns.add(invoice.tenantId, invoice.id);
    running ??= outside(run);
  }

  async function settle(): Promise<void> {
    while (running) await running;
    await markPublished();
  }

  return {
    publish: enqueue,
    async sweep() {
      const found = await parts.outbox.takeUnpublished(SWEEP_LIMIT, SWEEP_PAUSE_MS);
      for (const invoice of found) {
        // Unless this process is about to mark it, writing its events or marking it has failed, here or elsewhere.
        if (!unmarked.has(invoice.id)) published.delete(invoice.id);
        enqueue(invoice);
      }
    },
    settle,
    async stop() {
      stopped = true;
      await settle();
    },
  };
}

function rowOf(invoice: Invoice, event: Invoice['events'][number], documentUrl: DocumentUrl): WebhookEvent {
  const { order } = newCreationMoment();
  return {
    id: event.id,
    tenantId: invoice.tenantId,
    environment: invoice.environment,
    type: event.type,
    invoiceId: invoice.id,
    sequence: event.sequence,
    createdAt: event.at,
    order,
    place: order,
    body: eventBody(invoice, { ...event, at: statusSince(invoice, event) }, documentUrl, event),
    documentRevision: invoice.documentRevision,
  };
}
