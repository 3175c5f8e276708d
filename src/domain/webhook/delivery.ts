import type { EventType } from '../event.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { SendResult } from './sender.ts';
import type { WebhookEvent } from './webhook-event.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
/**
 * `pending`: an attempt is due, under way or awaited; `delivered`: a 2xx came; `failed`: every attempt of the schedule failed;
 * `cancelled`: its endpoint was disabled or deleted before.
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event on its way to one endpoint: there is one for each pair, whatever happens. */
export interface Delivery {
  /** {@link deliveryId} */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly invoiceId: string;
  /** The event's, see `WebhookEvent`. */
  readonly sequence: number;
  /** The events of the invoice that go before it: none for what is sent by hand. */
  readonly earlier: readonly string[];
  /** When the event happened. */
  readonly createdAt: Date;
  /** Its place in lists, sorts as text. */
  readonly order: string;
  readonly state: DeliveryState;
  /** The last {@link KEPT_ATTEMPTS}, oldest first. */
  readonly attempts: readonly Attempt[];
  /** When the next attempt is due; null when none is, or one is under way. */
  readonly nextAttemptAt: Date | null;
}

/** A delivery without what was attempted: of lists, which would be long with it. */
export type DeliverySummary = Omit<Delivery, 'attempts'>;

/** One attempt as it is logged: the request but for its body, which is the event's, and the answer. */
export interface Attempt extends SendResult {
  readonly at: Date;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

/** How many attempts of a delivery are kept: a schedule's, and those of some resends. */
export const KEPT_ATTEMPTS = 25;
/** Deliveries of several events that are looked up at once: 16 endpoints for each of a page of 100, and then some that were deleted. */
export const MOST_DELIVERIES = 5000;

/** A pair has one id, so that it can not have two deliveries: `dlv_`, the event's UUID, `_`, the endpoint's UUID. */
export function deliveryId(eventId: string, endpointId: string): string {
  return `dlv_${eventId.slice('evt_'.length)}_${endpointId.slice('we_'.length)}`;
}

/** A delivery as it begins. @param earlier the events of the invoice that go before it, by id */
export function deliveryOf(event: WebhookEvent, endpoint: WebhookEndpoint, earlier: readonly string[] = []): Delivery {
  return {
    id: deliveryId(event.id, endpoint.id),
    tenantId: event.tenantId,
    environment: event.environment,
    endpointId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    invoiceId: event.invoiceId,
    sequence: event.sequence,
    earlier,
    createdAt: event.createdAt,
    order: `${event.order}-${endpoint.id.slice(-12)}`,
    state: 'pending',
    attempts: [],
    nextAttemptAt: event.createdAt,
  };
}

/** A delivery that this process has the lease of, and may attempt. */
export interface ClaimedDelivery
  extends Pick<Delivery, 'id' | 'endpointId' | 'eventId' | 'invoiceId' | 'sequence' | 'earlier' | 'createdAt'> {
  /** Failed attempts of the present round of the schedule. */
  readonly tries: number;
  /** Whether it stands behind first attempts: a retry, or sent again by hand. */
  readonly retry: boolean;
  /** Whether the present round of the schedule was begun by hand. */
  readonly manual: boolean;
  /** Every write checks it. */
  readonly token: string;
  /** When another process may take the delivery, UNIX milliseconds. */
  readonly leaseEnd: number;
}
