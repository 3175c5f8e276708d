import type { EventType } from '../event.ts';
import { ENDPOINT_LIMITS, KEPT_RESPONSE_BYTES } from '../limits.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { WebhookEvent } from './webhook-event.ts';

export const SETTLED_STATES = ['delivered', 'failed', 'cancelled'] as const;
export const DELIVERY_STATES = ['pending', ...SETTLED_STATES] as const;
/**
 * `pending`: an attempt is scheduled, due or under way; `delivered`: the receiver answered 2xx; `failed`: every attempt
 * of the schedule failed; `cancelled`: its endpoint was disabled or deleted, or its event expired,
 * before it was delivered.
 */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The delivery of one event to one endpoint. Each pair has at most one. */
export interface Delivery {
  /** {@link deliveryId} */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly invoiceId: string;
  /** The sequence number of its event, see `WebhookEvent`. */
  readonly sequence: number;
  /** Ids of the invoice's earlier events; empty for an event that is sent by hand. */
  readonly earlier: readonly string[];
  /** When the event happened. */
  readonly createdAt: Date;
  /** Sort key of lists; compares as text. */
  readonly order: string;
  readonly state: DeliveryState;
  /** When the next attempt is due; null if there is none, or an attempt is under way. */
  readonly nextAttemptAt: Date | null;
  /** The `traceparent` of its invoice; absent if the invoice is not traced, or the event is sent by hand. */
  readonly traceparent?: string;
}

/** Why there is no complete answer. */
export type SendFailure =
  /** The address, port or scheme is not allowed. Nothing was sent. */
  | 'refused_address'
  /** The host name has no address. */
  | 'unknown_host'
  /** No connection within 5 s, or the connection was refused. */
  | 'connection_failed'
  /** The certificate is not valid for this host name, or the TLS handshake failed otherwise. */
  | 'tls_failed'
  /** No answer within 15 s. */
  | 'timeout'
  /** The receiver closed the connection or did not answer in HTTP. */
  | 'connection_broken'
  /** An internal error of this service. Nothing was sent. */
  | 'internal_error';

/** The result of one attempt. */
export interface SendResult {
  /** The HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** Names in lower case; truncated to 16 KiB. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The first 16 KiB as text; `truncated` tells whether it was longer. */
  readonly body: string;
  readonly truncated: boolean;
  readonly latencyMs: number;
  /** null if there is a status. */
  readonly failure: { readonly code: SendFailure; readonly message: string } | null;
}

/** Whether an attempt succeeded: only a 2xx status does (docs/api/contract.md, "Retry"). */
export function isSuccess({ status }: Pick<SendResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** One attempt as it is stored: the request without its body, which the event has, and the answer. */
export interface Attempt extends SendResult {
  readonly at: Date;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

/**
 * Maximum stored size of each field of an attempt, bytes. A body and headers beyond ISO 8859-1 may take more; the real
 * size of the rows that a search finds is counted.
 */
export const ATTEMPT_BYTES: Readonly<Record<keyof Attempt, number>> = {
  at: 16,
  url: ENDPOINT_LIMITS.url,
  requestHeaders: 1024,
  status: 16,
  headers: KEPT_RESPONSE_BYTES,
  body: KEPT_RESPONSE_BYTES,
  truncated: 16,
  latencyMs: 24,
  failure: 256,
};
/** The names of the fields of an attempt. */
export const ATTEMPT_FIELDS = Object.keys(ATTEMPT_BYTES) as readonly (keyof Attempt)[];

/** A delivery with these fields of its attempts, oldest first. */
export interface DeliveryWithAttempts<Field extends keyof Attempt = keyof Attempt> extends Delivery {
  readonly attempts: readonly Pick<Attempt, Field>[];
}

/** Maximum number of stored attempts of a delivery: those of the schedule and of some resends. */
export const KEPT_ATTEMPTS = 25;
/** Maximum number of deliveries that a look-up by event ids returns: 100 events, 16 endpoints, and deleted ones. */
export const MOST_DELIVERIES = 5000;

/** Returns the id of a delivery, unique for the pair: `dlv_`, the event's UUID, `_`, the endpoint's UUID. */
export function deliveryId(eventId: string, endpointId: string): string {
  return `dlv_${eventId.slice('evt_'.length)}_${endpointId.slice('we_'.length)}`;
}

/** Returns the order key of a delivery, which differs from that of another endpoint's delivery of the same event. */
export function deliveryOrder(order: string, endpointId: string): string {
  return `${order}-${endpointId.slice(-12)}`;
}

/** Makes a new delivery. @param earlier ids of the invoice's earlier events @param traceparent that of the invoice */
export function deliveryOf(
  event: WebhookEvent,
  endpoint: WebhookEndpoint,
  earlier: readonly string[] = [],
  traceparent: string | null = null,
): Delivery {
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
    order: deliveryOrder(event.order, endpoint.id),
    state: 'pending',
    nextAttemptAt: event.createdAt,
    ...(traceparent !== null && { traceparent }),
  };
}

/** A delivery whose lease this process holds. It may be attempted once. */
export interface ClaimedDelivery
  extends Pick<
    Delivery,
    'id' | 'tenantId' | 'endpointId' | 'eventId' | 'invoiceId' | 'sequence' | 'earlier' | 'createdAt' | 'traceparent'
  > {
  /** Failed attempts of the current round of the schedule. */
  readonly tries: number;
  /** Whether first attempts precede it: it is a retry, or was sent by hand. */
  readonly retry: boolean;
  /** Whether the current round of the schedule was started by hand. */
  readonly manual: boolean;
  /** `timesDisabled` of its endpoint when the current round of the schedule was started. */
  readonly timesDisabled: number;
  /** Identifies this lease uniquely among all leases. Every write checks it. */
  readonly token: string;
  /** When the lease ends, UNIX milliseconds. */
  readonly leaseEnd: number;
}

/** Deliveries to the same endpoint that must be attempted first. None for a retry: only first attempts are ordered. */
export function earlierDeliveries({ retry, earlier, endpointId }: ClaimedDelivery): string[] {
  return retry ? [] : earlier.map((eventId) => deliveryId(eventId, endpointId));
}
