import type { Agenda } from 'agenda';
import { urlRefusal } from '../adapters/webhook-http/address-policy.ts';
import { createWebhookSender } from '../adapters/webhook-http/webhook-sender.ts';
import type { Config } from '../config.ts';
import { summedOf } from '../domain/invoice/periods/summed-invoice.ts';
import type { InvoiceReading } from '../domain/invoice/repository.ts';
import type { PeopleRepository } from '../domain/person/ports.ts';
import { createSecretBox, ENDPOINT_SECRETS } from '../domain/secret-box.ts';
import type { TenantRepository } from '../domain/tenant/ports.ts';
import type { Tracing } from '../domain/tracing.ts';
import { createAttemptDelivery } from '../domain/webhook/attempt-delivery.ts';
import { createDispatcher, LEASE_MS } from '../domain/webhook/dispatcher.ts';
import { createEndpointHealth, type EndpointNotifier } from '../domain/webhook/endpoint-health.ts';
import { createCountAttempts, createReadStatistics } from '../domain/webhook/endpoint-statistics.ts';
import { createPublishEvents } from '../domain/webhook/publish-events.ts';
import { createRecordAttempts } from '../domain/webhook/record-attempts.ts';
import type { TestEventNeeds } from '../domain/webhook/send-test-event.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import { createWebhookJobs } from '../jobs/webhook-jobs.ts';
import type { Store } from '../storage/connect.ts';
import { createStatisticsStore } from '../storage/endpoint-statistics.ts';
import { createEventFeed } from '../storage/event-feed.ts';
import { createOutbox } from '../storage/outbox.ts';
import { storeClock } from '../storage/store-clock.ts';
import { createDeliveryLedger } from '../storage/webhook-deliveries.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import { createEventLog } from '../storage/webhook-events.ts';
import type { Data } from './data.ts';
import type { Metrics } from './metrics.ts';
import type { LogFailure } from './outages.ts';

export type Webhooks = ReturnType<typeof composeWebhooks>;

export interface WebhookParts {
  readonly config: Pick<Config, 'allowInsecureWebhooks' | 'webhookRetrySchedule'>;
  readonly store: Pick<Store, 'db'>;
  readonly invoices: Pick<InvoiceReading, 'page'>;
  readonly periodSums: Data['periodSums'];
  readonly background: Data['background'];
  readonly keys: Pick<Data['keys'], 'data'>;
  readonly agenda: Agenda;
  readonly documentUrl: DocumentUrl;
  readonly tenants: Pick<TenantRepository, 'find'>;
  readonly people: Pick<PeopleRepository, 'membersOf'>;
  readonly notifier: EndpointNotifier;
  readonly logFailure: LogFailure;
  /** Whether no other process can deliver. A lease found at the start then belongs to a process that has ended. */
  readonly alone: boolean;
  readonly tracing: Tracing;
  readonly metrics: Pick<Metrics, 'webhooks'>;
}

/** Builds the webhooks of the service: use cases for all processes, deliveries for workers. */
export function composeWebhooks(parts: WebhookParts) {
  const { config, tenants, notifier, documentUrl, logFailure, alone, tracing } = parts;
  const { db } = parts.store;
  // The store's clock, because one process plans leases and retries and others check them.
  const now = storeClock(db.client);
  const report = (message: string, err: unknown) => logFailure('error', message, err);
  const endpoints = createWebhookEndpointRepository(db);
  const secretBox = createSecretBox(parts.keys.data, ENDPOINT_SECRETS);
  const deliveries = createDeliveryLedger(db);
  const events = createEventLog(db, documentUrl);
  const feed = createEventFeed(db, documentUrl, (err) =>
    logFailure('warn', 'the change stream of events failed and is being reopened', err),
  );
  const jobs = createWebhookJobs(parts.agenda, db, report);
  const sender = createWebhookSender({ allowInsecure: config.allowInsecureWebhooks });
  const statisticsStore = createStatisticsStore(db);
  const readStatistics = createReadStatistics(statisticsStore, now);
  const health = createEndpointHealth({
    endpoints,
    deliveries,
    tenants,
    notifier,
    now,
    report,
    statistics: readStatistics,
    ownersOf: ownersOf(parts.people),
  });
  const statistics = createCountAttempts(statisticsStore, (err) =>
    logFailure('warn', 'attempts could not be counted', err),
  );
  const dispatcher = createDispatcher({
    health,
    statistics,
    deliveries,
    events,
    now,
    report,
    endpointOf: endpoints.findOfAnyTenant,
    measure: parts.metrics.webhooks(deliveries),
    attempt: createAttemptDelivery({ sender, secretBox, schedule: config.webhookRetrySchedule, now, tracing }),
    records: createRecordAttempts(deliveries, jobs.queue, report),
  });
  const publisher = createPublishEvents({
    events,
    deliveries,
    endpoints,
    dispatcher,
    documentUrl,
    now,
    report,
    through: parts.background('events'),
    outbox: createOutbox(db),
    summedOf,
    sums: parts.periodSums,
  });
  return {
    endpointStatistics: readStatistics,
    /** The ports that the use cases of endpoints, events and deliveries need. */
    needs: {
      endpoints,
      deliveries,
      events,
      dispatcher,
      secretBox,
      deliveryQueue: jobs.queue,
      latestInvoice: latestOf(parts.invoices),
      refusalOf: config.allowInsecureWebhooks ? () => null : urlRefusal,
      storeNow: now,
      eventFeed: feed,
      report,
    },
    /** To be called when an invoice has new events; see `PublishEvents`. */
    publish: publisher.publish,
    /** Number of event streams in this process that follow the event log. */
    listeners: feed.listeners,
    /** Corrects deliveries planned by a clock that was ahead. @returns the number of corrected deliveries */
    reschedule: () => deliveries.reschedule(now()),
    /** Starts deliveries. Workers call this before Agenda starts. */
    async start(): Promise<void> {
      if (alone) await deliveries.freeLeases(now(), LEASE_MS);
      jobs.start({
        wake: dispatcher.wake,
        async sweep() {
          await publisher.sweep();
          await dispatcher.sweep();
          await health.sweep();
        },
      });
    },
    /** Stops deliveries. Waits up to `timeoutMs` for attempts in progress. */
    async stop(timeoutMs: number): Promise<void> {
      await jobs.stop();
      await publisher.stop();
      await dispatcher.stop(timeoutMs);
      await statistics.stop(timeoutMs);
      await sender.close();
      await feed.close();
    },
  };
}

/**
 * Returns the function that finds the addresses of a tenant's owners, to whom notices of failing endpoints go. A notice
 * has the endpoint's URL, so an address that nobody has confirmed, which may be a stranger's, gets none.
 */
export function ownersOf({ membersOf }: WebhookParts['people']) {
  return async (tenantId: string): Promise<string[]> =>
    (await membersOf(tenantId))
      .filter(({ role, isConfirmed }) => role === 'owner' && isConfirmed)
      .map(({ person }) => person.email);
}

function latestOf(invoices: WebhookParts['invoices']): TestEventNeeds['latestInvoice'] {
  return async (owner, kind, status) => {
    const any = { match: null, cursor: null, createdFrom: null, createdUntil: null };
    return (await invoices.page({ ...owner, ...any, kind, status, limit: 1 })).invoices[0] ?? null;
  };
}
