import { randomUUID } from 'node:crypto';
import type { Invoice } from '../invoice/invoice.ts';
import { newCreationMoment } from '../order-key.ts';
import { ENVIRONMENTS } from '../tenant/tenant.ts';
import { deliveryOf } from './delivery.ts';
import type { DeliveryLedger, EventLog, Outbox } from './delivery-ports.ts';
import { type Dispatcher, LEASE_MS } from './dispatcher.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import { createOutboxMarks, type OutboxMarksParts } from './outbox-marks.ts';
import type { EndpointRepository } from './ports.ts';
import { type DocumentUrl, eventBody, type WebhookEvent } from './webhook-event.ts';

/** How many invoices' events are written together. */
const BATCH = 64;
/** Of how many invoices this process remembers what it has published. */
const REMEMBERED = 10_000;
const SWEEP_LIMIT = 100;
const SWEEP_PAUSE_MS = 5000;

/** Brings status changes from the invoices' outbox into the log of events and to the endpoints' deliveries, at least once each. */
export interface PublishEvents {
  /**
   * Tells that the status of this invoice has changed, right after the update that changed it. Returns at once and never throws: what can
   * not be written now stays in the outbox, where the sweep finds it.
   */
  publish(invoice: Invoice): void;
  /** Publishes what no process did in time: its worker died, or the store failed. */
  sweep(): Promise<void>;
  /** Resolves when all that was told is written. */
  settle(): Promise<void>;
  /** Leaves what is told from now on to the outbox, and settles. */
  stop(): Promise<void>;
}

/** What this process knows of the events of an invoice that it published. */
interface Published {
  /** The number of the last one. */
  readonly sequence: number;
  /** Whether all of them were told as they happened, and none comes from the outbox: there are no others, and none was stored before. */
  readonly isNew: boolean;
  /** When it began with the first, see `Offer`. */
  readonly since: number;
  /** The endpoints where one of them was stored by another process, or waited in the ledger: others may have it in hand. */
  readonly elsewhere: Set<string>;
}

interface Told {
  readonly invoice: Invoice;
  /** Whether its last event has just happened here, and the outbox was not asked. */
  readonly isNew: boolean;
}

export interface PublishParts extends OutboxMarksParts {
  readonly outbox: Outbox;
  readonly events: EventLog;
  readonly deliveries: Pick<DeliveryLedger, 'insert'>;
  readonly endpoints: Pick<EndpointRepository, 'subscribed'>;
  readonly dispatcher: Pick<Dispatcher, 'reserve' | 'offer'>;
  readonly documentUrl: DocumentUrl;
  readonly now: () => Date;
}

export function createPublishEvents(parts: PublishParts): PublishEvents {
  const waiting = new Map<string, Told>();
  const published = new Map<string, Published>();
  let running: Promise<void> | null = null;
  let stopped = false;
  const marks = createOutboxMarks(parts);

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, BATCH);
      for (const { invoice } of batch) waiting.delete(invoice.id);
      try {
        await writeBatch(batch);
      } catch (error) {
        parts.report('events could not be published; they stay in the outbox', error);
      }
    }
    running = null;
  }

  async function writeBatch(batch: readonly Told[]): Promise<void> {
    const fresh = batch.map(({ invoice, isNew }) => {
      const known = published.get(invoice.id) ?? begin();
      const events = invoice.events.filter(({ sequence }) => sequence > known.sequence);
      return {
        invoice,
        known,
        // What went before was published here, or there is nothing: none of the events can have been stored.
        isNew: isNew && (known.sequence > 0 ? known.isNew : invoice.events.length === 1),
        rows: events.map((event) => rowOf(invoice, event, parts.documentUrl)),
      };
    });
    const rows = fresh.flatMap((each) => each.rows);
    const [endpointsOf] = await Promise.all([endpointsOfAll(rows), parts.events.append(rows)]);
    await deliver(
      fresh.flatMap(({ invoice, known, isNew, rows }) =>
        rows.flatMap((event) => {
          const earlier = invoice.events.filter(({ sequence }) => sequence < event.sequence).map(({ id }) => id);
          return endpointsOf(event).map((endpoint) => ({ event, endpoint, earlier, known, isNew }));
        }),
      ),
    );
    for (const { invoice, known, isNew } of fresh) {
      // What a sweep finds may be older than what is published.
      const sequence = Math.max(known.sequence, invoice.events.length);
      remember(invoice.id, { ...known, sequence, isNew });
      marks.note(invoice.id, sequence);
    }
  }

  /** @returns the endpoints that an event goes to */
  async function endpointsOfAll(rows: readonly WebhookEvent[]): Promise<(row: WebhookEvent) => WebhookEndpoint[]> {
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

  async function deliver(
    pairs: readonly {
      event: WebhookEvent;
      endpoint: WebhookEndpoint;
      earlier: string[];
      known: Published;
      isNew: boolean;
    }[],
  ): Promise<void> {
    if (pairs.length === 0) return;
    const now = parts.now();
    const plans = pairs.map(({ event, endpoint, earlier, known, isNew }) => {
      const reserved = parts.dispatcher.reserve(endpoint.id, sinceOf(known, endpoint));
      const lease = reserved ? { token: randomUUID(), end: now.getTime() + LEASE_MS } : null;
      if (!reserved) known.elsewhere.add(endpoint.id);
      return { event, endpoint, known, lease, isNew, manual: false, delivery: deliveryOf(event, endpoint, earlier) };
    });
    let stored = new Set<string>();
    try {
      stored = await parts.deliveries.insert(plans, now);
    } finally {
      // Also what was not stored: places were reserved for it.
      parts.dispatcher.offer(
        plans.map(({ event, endpoint, known, delivery, lease }) => {
          // Another process has stored it, and may have it in hand.
          if (!stored.has(delivery.id)) known.elsewhere.add(endpoint.id);
          const isOurs = lease !== null && stored.has(delivery.id);
          return {
            endpoint,
            reserved: lease !== null,
            since: sinceOf(known, endpoint),
            work: isOurs
              ? {
                  claim: {
                    ...delivery,
                    tries: 0,
                    retry: false,
                    manual: false,
                    token: lease.token,
                    leaseEnd: lease.end,
                  },
                  body: event.body,
                }
              : null,
          };
        }),
      );
    }
  }

  const begin = (): Published => ({ sequence: 0, isNew: false, since: performance.now(), elsewhere: new Set() });

  function remember(invoiceId: string, present: Published): void {
    published.delete(invoiceId);
    published.set(invoiceId, present);
    if (published.size <= REMEMBERED) return;
    const [oldest] = published.keys();
    if (oldest !== undefined) published.delete(oldest);
  }

  function tell(invoice: Invoice, isNew: boolean): void {
    if (stopped) return;
    const before = waiting.get(invoice.id);
    const newest = before && before.invoice.events.length > invoice.events.length ? before.invoice : invoice;
    waiting.set(invoice.id, { invoice: newest, isNew: isNew && before?.isNew !== false });
    running ??= run();
  }

  async function settle(): Promise<void> {
    while (running) await running;
    await marks.write();
  }

  return {
    publish: (invoice) => tell(invoice, true),
    async sweep() {
      const found = await parts.outbox.takeUnpublished(SWEEP_LIMIT, SWEEP_PAUSE_MS);
      for (const invoice of found) {
        // What this process believes to have published may be what failed.
        if (!marks.awaits(invoice.id)) published.delete(invoice.id);
        tell(invoice, false);
      }
    },
    settle,
    async stop() {
      stopped = true;
      await settle();
    },
  };
}

/** See `Offer.since`. */
function sinceOf({ since, elsewhere }: Published, { id }: WebhookEndpoint): number | null {
  return elsewhere.has(id) ? null : since;
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
    body: eventBody(invoice, event, documentUrl),
    documentRevision: invoice.documentRevision,
  };
}
