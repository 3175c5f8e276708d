import { serviceError } from '../errors.ts';
import type { EventType } from '../event.ts';
import { isId } from '../ids.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
import { missing, ownerOf, secondsBetween } from './browse-deliveries.ts';
import { type Delivery, deliveryOf, type SETTLED_STATES } from './delivery.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { DeliveryLedger, DeliveryQueue, EndpointRepository, EventLog } from './ports.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** Maximum number of deliveries that one call examines; `ResendOutcome.more` tells whether there are others. */
export const RESEND_LIMIT = 10_000;
const STEP = 500;

/** Selects the settled deliveries of an endpoint that are sent again. */
export interface ResendSelection {
  readonly endpointId: string;
  readonly state: (typeof SETTLED_STATES)[number];
  readonly type: EventType | null;
  /** Creation of the events: compared in whole seconds, the given seconds excluded. */
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
}

export interface ResendOutcome {
  readonly count: number;
  /**
   * Whether the selection has more than {@link RESEND_LIMIT} deliveries: call again with an earlier `createdBefore`.
   */
  readonly more: boolean;
}

export interface ResendNeeds {
  readonly events: EventLog;
  readonly deliveries: DeliveryLedger;
  readonly endpoints: Pick<EndpointRepository, 'find' | 'list'>;
  readonly deliveryQueue: DeliveryQueue;
  readonly storeNow: () => Date;
}

/**
 * Sends events again by hand (docs/api/contract.md, "Retry"), to the endpoint's current URL, with the whole retry
 * schedule.
 * @throws {ServiceError} resource_not_found for an event or endpoint that is unknown or belongs to another tenant or
 *   environment; invalid_request for a disabled endpoint
 */
export const RESEND_USE_CASES = {
  /** Sends one event to this endpoint, or to every active one that subscribes to its type. @returns its deliveries */
  resendWebhookEvent: {
    scope: 'operate',
    audit: { action: 'webhook_event.resent', description: 'An event was sent again.' },
    async run(
      needs: ResendNeeds,
      { by, record }: Change,
      eventId: string,
      endpointId: string | null,
    ): Promise<Delivery[]> {
      const { events, deliveries, endpoints } = needs;
      const owner = ownerOf(by);
      const event = isId('evt', eventId) ? await events.find(owner.tenantId, owner.environment, eventId) : null;
      if (!event) return missing('event', eventId, 'eventId');
      const receivers =
        endpointId === null ? await subscribers(endpoints, event) : [await endpointFor(needs, owner, endpointId)];
      const details = endpointId === null ? {} : { endpoint: endpointId };
      try {
        await sendTo(event, receivers, needs);
        await events.announce(owner, [eventId]);
      } finally {
        // Recorded even after a failure: a part may be done.
        await record({ subject: eventId, details });
      }
      return deliveries.ofEvents(owner, [eventId]);
    },
  },

  /** Counts the deliveries that `resendWebhookDeliveries` would send. */
  webhookResendCount: {
    scope: 'read',
    async run(needs: ResendNeeds, { by }: Call, selection: ResendSelection): Promise<ResendOutcome> {
      const owner = ownerOf(by);
      await endpointFor(needs, owner, selection.endpointId);
      return eachStep(needs, owner, selection, async (rows) => rows.length);
    },
  },

  resendWebhookDeliveries: {
    scope: 'operate',
    audit: {
      action: 'webhook_endpoint.deliveries_resent',
      description: 'Deliveries of a webhook endpoint were sent again.',
    },
    async run(needs: ResendNeeds, { by, record }: Change, selection: ResendSelection): Promise<ResendOutcome> {
      const { events, deliveries, deliveryQueue, storeNow } = needs;
      const owner = ownerOf(by);
      const { timesDisabled } = await endpointFor(needs, owner, selection.endpointId);
      let sent = 0;
      const step = async (rows: readonly Pick<Delivery, 'id' | 'eventId'>[]) => {
        const reopened = await deliveries.reopen(
          rows.map(({ id }) => ({ id, timesDisabled })),
          storeNow(),
        );
        sent += reopened;
        await events.announce(
          owner,
          rows.map(({ eventId }) => eventId),
        );
        return reopened;
      };
      try {
        const outcome = await eachStep(needs, owner, selection, step);
        if (outcome.count > 0) await deliveryQueue.wake(selection.endpointId, storeNow());
        return outcome;
      } finally {
        // Recorded even after a failure: the steps before it are done.
        const { endpointId: subject, state } = selection;
        await record({ subject, details: { state, count: String(sent) } });
      }
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

/** Calls `take` with the rows of a selection, {@link STEP} at a time, and adds up what it returns. */
async function eachStep(
  { deliveries }: Pick<ResendNeeds, 'deliveries'>,
  owner: Owner,
  { endpointId, state, type, createdAfter, createdBefore }: ResendSelection,
  take: (rows: readonly Pick<Delivery, 'id' | 'eventId'>[]) => Promise<number>,
): Promise<ResendOutcome> {
  const query = { ...owner, endpointId, state, ...secondsBetween(createdAfter, createdBefore), limit: STEP };
  let cursor: { direction: 'after'; order: string } | null = null;
  let count = 0;
  for (let seen = 0; seen < RESEND_LIMIT; ) {
    const { rows, hasMore } = await deliveries.keys({ ...query, cursor });
    const last = rows.at(-1);
    // A page may be cut by its bytes.
    seen += rows.length;
    const selected = rows.filter(({ eventType }) => type === null || eventType === type);
    if (selected.length > 0) count += await take(selected);
    if (!hasMore || !last) return { count, more: false };
    cursor = { direction: 'after', order: last.order };
  }
  return { count, more: true };
}

async function endpointFor(
  { endpoints }: Pick<ResendNeeds, 'endpoints'>,
  { tenantId, environment }: Owner,
  endpointId: string,
): Promise<WebhookEndpoint> {
  const endpoint = isId('we', endpointId) ? await endpoints.find(tenantId, environment, endpointId) : null;
  if (!endpoint) {
    const shown = endpointId.slice(0, 80);
    throw serviceError('resource_not_found', `There is no webhook endpoint '${shown}' for this key.`, 'endpointId');
  }
  if (endpoint.active) return endpoint;
  throw serviceError('invalid_request', 'This endpoint is disabled. Set active to true first.', 'endpointId');
}

/** Returns the active endpoints that subscribe to an event. */
export async function subscribers(
  endpoints: Pick<EndpointRepository, 'list'>,
  { tenantId, environment, type }: Pick<WebhookEvent, 'tenantId' | 'environment' | 'type'>,
): Promise<WebhookEndpoint[]> {
  const all = await endpoints.list(tenantId, environment);
  return all.filter(({ active, events }) => active && events.includes(type));
}

/** Makes the event due at these endpoints now, whether or not it was sent there before. */
export async function sendTo(
  event: WebhookEvent,
  receivers: readonly WebhookEndpoint[],
  { deliveries, deliveryQueue, storeNow }: Pick<ResendNeeds, 'deliveries' | 'deliveryQueue' | 'storeNow'>,
): Promise<void> {
  const rows = receivers.map((endpoint) => ({
    delivery: deliveryOf(event, endpoint),
    lease: null,
    manual: true,
    timesDisabled: endpoint.timesDisabled,
  }));
  const created = await deliveries.insert(rows, storeNow());
  const earlier = rows.flatMap(({ delivery: { id }, timesDisabled }) =>
    created.has(id) ? [] : [{ id, timesDisabled }],
  );
  if (earlier.length > 0) await deliveries.reopen(earlier, storeNow());
  await Promise.all(receivers.map(({ id }) => deliveryQueue.wake(id, storeNow())));
}
