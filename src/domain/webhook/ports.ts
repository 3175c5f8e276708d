import type { EventType } from '../event.ts';
import type { Invoice } from '../invoice/invoice.ts';
import type { Found, Page, PageQuery } from '../page.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';
import type { Attempt, ClaimedDelivery, Delivery, DeliveryState, SendResult } from './delivery.ts';
import type { EndpointSecret, WebhookEndpoint } from './endpoint.ts';
import type { WebhookEvent } from './webhook-event.ts';

// What the webhook use cases need of the rest: endpoints, the outbox, the log of events, the ledger of deliveries, the sender.

/** What an update may change. */
export type EndpointChanges = Partial<
  Pick<WebhookEndpoint, 'url' | 'description' | 'events' | 'active' | 'secrets' | 'updatedAt'>
>;

/** Where webhook endpoints are kept. Another tenant's or environment's is never found. Every method uses an index. */
export interface EndpointRepository {
  /**
   * Stores it unless its tenant has `MAX_ENDPOINTS` in this environment; the limit holds under concurrency.
   * @returns whether it was stored
   */
  insert(endpoint: WebhookEndpoint): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, environment: Environment): Promise<WebhookEndpoint[]>;
  /** The active endpoints of several tenants that subscribe to any of these types; in no order. */
  subscribed(
    tenantIds: readonly string[],
    environment: Environment,
    types: readonly EventType[],
  ): Promise<WebhookEndpoint[]>;
  find(tenantId: string, environment: Environment, endpointId: string): Promise<WebhookEndpoint | null>;
  /** Whoever's it is; for deliveries alone. */
  findAnyones(endpointId: string): Promise<WebhookEndpoint | null>;
  /** One atomic update. @returns the endpoint as changed */
  update(
    tenantId: string,
    environment: Environment,
    endpointId: string,
    changes: EndpointChanges,
  ): Promise<WebhookEndpoint | null>;
  /** Writes when failures began, unless they did before. @param tellAt when its tenant is to be told */
  noteFailure(endpointId: string, since: Date, tellAt: Date): Promise<void>;
  /** Forgets failures. */
  noteSuccess(endpointId: string): Promise<void>;
  /** Marks up to `limit` active endpoints as failing whose tenants are to be told by now; each is answered again only from `again` on. */
  takeFailing(now: Date, again: Date, limit: number): Promise<WebhookEndpoint[]>;
  /** Its tenant was told, and is not told again of the same failures. */
  toldOfFailing(endpointId: string): Promise<void>;
  /** Replaces the secrets unless they have changed since. @returns the endpoint as changed, null when it was not */
  replaceSecrets(
    endpointId: string,
    present: readonly EndpointSecret[],
    secrets: readonly EndpointSecret[],
  ): Promise<WebhookEndpoint | null>;
  /** @returns whether it was there */
  delete(tenantId: string, environment: Environment, endpointId: string): Promise<boolean>;
}

/** The invoices' outbox: which status changes are not in the log yet. Every method uses an index. */
export interface Outbox {
  /** Up to `limit` invoices with such changes that are some seconds old; each is answered again only after `pauseMs`. */
  takeUnpublished(limit: number, pauseMs: number): Promise<Invoice[]>;
  /** Takes invoices off the list unless they have changed since `sequence`. */
  markPublished(published: readonly { invoiceId: string; sequence: number }[]): Promise<void>;
}

/** The log of events. Every method uses an index. */
export interface EventLog {
  /** Appends what is not there yet. */
  append(events: readonly WebhookEvent[]): Promise<void>;
  find(tenantId: string, environment: Environment, eventId: string): Promise<WebhookEvent | null>;
  /**
   * Those of these ids that are there, by id, and their bytes.
   * @param maxBytes that they may have; 4 MiB unless given
   * @throws {ServiceError} invalid_request for more
   */
  findMany(owner: Owner, eventIds: readonly string[], maxBytes?: number): Promise<Found<WebhookEvent>>;
  /** By id; what has expired is missing. */
  bodies(eventIds: readonly string[]): Promise<Map<string, string>>;
  page(query: PageQuery & { readonly type: EventType | null }): Promise<Page<WebhookEvent>>;
  /** Up to `limit` events with a higher place, lowest first. */
  after(owner: Owner, place: string, limit: number): Promise<WebhookEvent[]>;
  /** The places of up to `limit` events above a place, lowest first. */
  placesAfter(owner: Owner, place: string, limit: number): Promise<string[]>;
  /** Gives events new places, so that whoever follows the log sees them again. */
  announce(places: ReadonlyMap<string, string>): Promise<void>;
}

/** Follows the log, in whichever process it is written. */
export interface EventFeed {
  /** Resolves when nothing will be missed from then on. @returns ends the subscription */
  subscribe(owner: Owner, listener: EventListener): Promise<() => void>;
}

export interface EventListener {
  /** An event that is new, or has a new place. */
  event(event: WebhookEvent): void;
  /** Something may have been missed: the log knows. */
  gap(): void;
}

/** What a list or a resend is narrowed to. */
export interface DeliveryFilter {
  readonly endpointId: string | null;
  readonly state: DeliveryState | null;
}

/** A delivery to store: with a lease the caller holds it from the start; without one it waits in the ledger for a claim. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly lease: { readonly token: string; readonly end: number } | null;
  /** Whether it is sent by hand. */
  readonly manual: boolean;
}

/** What an attempt changes. */
export interface AttemptRecord {
  readonly claim: ClaimedDelivery;
  readonly attempt: Attempt;
  /** `pending` with the time of the next attempt, or how it ended. */
  readonly outcome:
    | { readonly state: 'pending'; readonly nextAttemptAt: Date }
    | { readonly state: 'delivered' | 'failed' };
}

/**
 * The ledger of deliveries. It alone decides which process attempts what and when, so a wake-up that comes early, late or twice does no
 * harm. A write under a lease changes nothing once another process has claimed the delivery. Every method uses an index. `now` is the
 * caller's clock.
 */
export interface DeliveryLedger {
  /** Stores those that are not there yet. @returns the ids of these */
  insert(deliveries: readonly NewDelivery[], now: Date): Promise<Set<string>>;
  /** Takes leases on an endpoint's due deliveries, those that wait the longest first. @param retries those after a failure, or the first attempts */
  claim(
    endpointId: string,
    query: { limit: number; retries: boolean; leaseMs: number; now: Date },
  ): Promise<ClaimedDelivery[]>;
  /**
   * Of each claim's earlier events, the deliveries to the same endpoint that were never attempted.
   * @returns their ids by the claim's id; claims that wait for nothing are left out
   */
  unattemptedBefore(claims: readonly ClaimedDelivery[]): Promise<Map<string, string[]>>;
  /** Gives leases back; the deliveries are due at `at`. */
  release(claims: readonly ClaimedDelivery[], at: Date): Promise<void>;
  /** Records attempts and their outcomes. Those of leases that were lost change nothing. */
  record(records: readonly AttemptRecord[]): Promise<void>;
  /** Ends what is claimed because its endpoint is gone. */
  cancel(claims: readonly ClaimedDelivery[]): Promise<void>;
  /** Cancels up to `limit` pending deliveries of an endpoint. @returns how many there were */
  cancelPending(endpointId: string, limit: number): Promise<number>;
  /** The endpoints of deliveries that nobody took in time, and of leases that have ended: `limit` rows at most, each again only after `pauseMs`. */
  takeOverdue(limit: number, pauseMs: number, now: Date): Promise<{ endpointIds: string[]; more: boolean }>;
  /** Ends every lease: for a worker that starts and knows that it is the only one. */
  freeLeases(now: Date): Promise<void>;

  find(tenantId: string, environment: Environment, id: string): Promise<Delivery | null>;
  /** The deliveries of these events, in no order; at most 5,000. */
  ofEvents(owner: Owner, eventIds: readonly string[]): Promise<Delivery[]>;
  /**
   * The attempts of these deliveries, by the delivery's id, oldest first, at most `KEPT_ATTEMPTS` of each; and their bytes.
   * @param maxBytes that they may have; 4 MiB unless given
   * @throws {ServiceError} invalid_request for more
   */
  attempts(owner: Owner, ids: readonly string[], maxBytes?: number): Promise<Found<readonly Attempt[]>>;
  page(query: PageQuery & DeliveryFilter): Promise<Page<Delivery>>;
  /** The same, and less. */
  keys(query: PageQuery & DeliveryFilter): Promise<Page<Pick<Delivery, 'id' | 'eventId' | 'eventType' | 'order'>>>;
  /** Begins the schedule anew, by hand: due at once, behind first attempts. What is under way or was never attempted stays so. @returns how many it changed */
  reopen(ids: readonly string[], now: Date): Promise<number>;
}

/** Wakes workers for an endpoint's deliveries. A lost call loses nothing: the sweep finds them. */
export interface DeliveryQueue {
  wake(endpointId: string, at: Date): Promise<void>;
}

/** What goes to a receiver. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** Calls receivers. One and the same for events, test events and resends. */
export interface WebhookSender {
  /** Posts once, 15 s at most. Never throws: what went wrong is in the result. */
  send(request: OutgoingRequest): Promise<SendResult>;
}
