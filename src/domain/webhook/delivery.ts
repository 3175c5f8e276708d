import type { EventType } from '../event.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from './endpoint.ts';
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
  /** When the next attempt is due; null when none is, or one is under way. */
  readonly nextAttemptAt: Date | null;
}

/** Why no complete answer came. */
export type SendFailure =
  /** The address may not be called: not public, or a port or scheme that is not allowed. Nothing was sent. */
  | 'refused_address'
  /** The name has no address. */
  | 'unknown_host'
  /** No connection within 5 s, or it was refused. */
  | 'connection_failed'
  /** The certificate is not valid for this name, or TLS failed otherwise. */
  | 'tls_failed'
  /** No answer within 15 s. */
  | 'timeout'
  /** The receiver broke the connection or answered no HTTP. */
  | 'connection_broken'
  /** A defect of ours: nothing was sent. */
  | 'internal_error';

/** What came of one attempt. */
export interface SendResult {
  /** null when no answer came. */
  readonly status: number | null;
  /** Names in lower case; what exceeds 16 KiB is left out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first 16 KiB, as text; whether it was longer shows in `truncated`. */
  readonly body: string;
  readonly truncated: boolean;
  readonly latencyMs: number;
  /** null when a status came. */
  readonly failure: { readonly code: SendFailure; readonly message: string } | null;
}

/** Whether an answer settles a delivery: a 2xx alone does (docs/api/contract.md, "Retry"). */
export function isSuccess({ status }: Pick<SendResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

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
    nextAttemptAt: event.createdAt,
  };
}

/** A delivery that this process holds the lease of, and may attempt once. */
export interface ClaimedDelivery
  extends Pick<Delivery, 'id' | 'endpointId' | 'eventId' | 'invoiceId' | 'sequence' | 'earlier' | 'createdAt'> {
  /** Failed attempts of the present round of the schedule. */
  readonly tries: number;
  /** Whether it stands behind first attempts: a retry, or sent again by hand. */
  readonly retry: boolean;
  /** Whether the present round of the schedule was begun by hand. */
  readonly manual: boolean;
  /** Names this lease: no other lease, of this delivery or of another one, has the same token. Every write checks it. */
  readonly token: string;
  /** When another process may take the delivery, UNIX milliseconds. */
  readonly leaseEnd: number;
}

/**
 * The deliveries to the same endpoint that the order of events puts before this one. A retry has none: the order holds for first attempts.
 */
export function earlierDeliveries({ retry, earlier, endpointId }: ClaimedDelivery): string[] {
  return retry ? [] : earlier.map((eventId) => deliveryId(eventId, endpointId));
}
