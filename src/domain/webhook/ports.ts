import type { EventType } from '../event.ts';
import type { Invoice } from '../invoice/invoice.ts';
import type { Found, Page, PageQuery } from '../page.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';
import type {
  Attempt,
  ClaimedDelivery,
  Delivery,
  DeliveryState,
  DeliveryWithAttempts,
  SendResult,
} from './delivery.ts';
import type { EndpointSecret, WebhookEndpoint } from './endpoint.ts';
import type { WebhookEvent } from './webhook-event.ts';

// The ports of the webhook use cases: endpoints, the outbox, the log of events, the ledger of deliveries, the sender.

/** The fields that an update may change. */
export type EndpointChanges = Partial<
  Pick<WebhookEndpoint, 'url' | 'description' | 'events' | 'active' | 'secrets' | 'updatedAt'>
>;

/**
 * The store of webhook endpoints. It finds no endpoints of another tenant or environment. Every method uses an index.
 */
export interface EndpointRepository {
  /**
   * Stores the endpoint unless its tenant has `MAX_ENDPOINTS` in this environment; the limit holds under concurrency.
   * @returns whether it was stored
   */
  insert(endpoint: WebhookEndpoint): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, environment: Environment): Promise<WebhookEndpoint[]>;
  /** Returns the active endpoints of several tenants that subscribe to any of these types, in no particular order. */
  subscribed(
    tenantIds: readonly string[],
    environment: Environment,
    types: readonly EventType[],
  ): Promise<WebhookEndpoint[]>;
  find(tenantId: string, environment: Environment, endpointId: string): Promise<WebhookEndpoint | null>;
  /** Finds an endpoint of any tenant; only for deliveries. */
  findOfAnyTenant(endpointId: string): Promise<WebhookEndpoint | null>;
  /** One atomic update, which counts towards `timesDisabled` if it disables. @returns the changed endpoint */
  update(
    tenantId: string,
    environment: Environment,
    endpointId: string,
    changes: EndpointChanges,
  ): Promise<WebhookEndpoint | null>;
  /**
   * Records when failures of an active endpoint began, unless that is recorded already.
   * @param judgeAt when to judge the endpoint, unless that is planned already
   */
  noteFailure(endpointId: string, since: Date, judgeAt: Date): Promise<void>;
  /** Records that there is no failure since the last success. */
  noteSuccess(endpointId: string): Promise<void>;
  /**
   * Takes up to `limit` active endpoints that are due to be judged, with the share of failures that was reported to
   * their tenants, percent. Each is returned again only from `again` on.
   */
  takeToJudge(
    now: Date,
    again: Date,
    limit: number,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly toldShare: number }[]>;
  /** Records what the tenant was told, and when to judge the endpoint again; null: after its next failure. */
  markJudged(endpointId: string, judged: { readonly toldShare: number; readonly judgeAt: Date | null }): Promise<void>;
  /** Returns the endpoints of all tenants that count as failing (`isFailing`), the longest first. */
  failing(now: Date, limit: number): Promise<WebhookEndpoint[]>;
  /** Replaces the secrets if they are still `present`. @returns the changed endpoint, or null if they are not */
  replaceSecrets(
    endpointId: string,
    present: readonly EndpointSecret[],
    secrets: readonly EndpointSecret[],
  ): Promise<WebhookEndpoint | null>;
  /**
   * Replaces the sealed form of the secrets if they are still `present`. Clients see no change.
   * @returns whether it did
   */
  resealSecrets(
    endpointId: string,
    present: readonly EndpointSecret[],
    secrets: readonly EndpointSecret[],
  ): Promise<boolean>;
  /** Endpoints of all tenants in the order of their ids, after one. */
  pageOfAll(afterId: string, limit: number): Promise<WebhookEndpoint[]>;
  /** @returns whether it existed */
  delete(tenantId: string, environment: Environment, endpointId: string): Promise<boolean>;
}

/** The invoices' outbox: the events that are not in the log yet. Every method uses an index. */
export interface Outbox {
  /**
   * Takes up to `limit` invoices with unpublished events that are some seconds old; each again only after `pauseMs`.
   */
  takeUnpublished(limit: number, pauseMs: number): Promise<Invoice[]>;
}

/** The log of events. Every method uses an index. */
export interface EventLog {
  /**
   * Appends the events that are not in the log yet.
   * @returns all events. Appended events have the order key that they got, which is raised if the owner's log has
   *   events that are not lower
   */
  append(events: readonly WebhookEvent[]): Promise<WebhookEvent[]>;
  find(tenantId: string, environment: Environment, eventId: string): Promise<WebhookEvent | null>;
  /**
   * Finds events by id, with their total size in bytes.
   * @param maxBytes maximum total size; default 4 MiB
   * @throws {ServiceError} invalid_request if the events exceed it
   */
  findMany(owner: Owner, eventIds: readonly string[], maxBytes?: number): Promise<Found<WebhookEvent>>;
  /** Returns the bodies by event id; expired events are missing. */
  bodies(eventIds: readonly string[]): Promise<Map<string, string>>;
  page(query: PageQuery & { readonly type: EventType | null }): Promise<Page<WebhookEvent>>;
  /** Returns up to `limit` events with a higher place, lowest first. */
  after(owner: Owner, place: string, limit: number): Promise<WebhookEvent[]>;
  /** Returns the places of up to `limit` events above this place, lowest first. */
  placesAfter(owner: Owner, place: string, limit: number): Promise<string[]>;
  /** Assigns places above all others to events of one owner, in this order, so that streams send them again. */
  announce(owner: Owner, eventIds: readonly string[]): Promise<void>;
}

/** Follows the log, whichever process writes to it. */
export interface EventFeed {
  /** Resolves when no later event can be missed. @returns a function that ends the subscription */
  subscribe(owner: Owner, listener: EventListener): Promise<() => void>;
}

export interface EventListener {
  /** Called for a new event, and for an event that is sent again and therefore has a new place. */
  event(event: WebhookEvent): void;
  /** Called when events may have been missed; they are in the log. */
  gap(): void;
}

/** Filter of a list or a resend. */
export interface DeliveryFilter {
  readonly endpointId: string | null;
  readonly state: DeliveryState | null;
}

/** A delivery to store. With a lease the caller holds it from the start; without one it waits for a claim. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly lease: { readonly token: string; readonly end: number } | null;
  /** Whether it is sent by hand. */
  readonly manual: boolean;
  /** The `timesDisabled` of its endpoint, as it was read. */
  readonly timesDisabled: number;
}

/** A delivery that is sent again by hand. */
export interface ReopenedDelivery {
  readonly id: string;
  /** The `timesDisabled` of its endpoint, as it was read. */
  readonly timesDisabled: number;
}

/** An attempt and its outcome, to be recorded. */
export interface AttemptRecord {
  readonly claim: ClaimedDelivery;
  readonly attempt: Attempt;
  /** `pending` with the time of the next attempt and the time at which it was planned, or the final state. */
  readonly outcome:
    | { readonly state: 'pending'; readonly nextAttemptAt: Date; readonly plannedAt: Date }
    | { readonly state: 'delivered' | 'failed' };
}

/**
 * The ledger of deliveries. Its leases decide which process attempts a delivery and when, so a wake-up that comes
 * early, late or twice does no harm. A write under a lost lease changes nothing. Every method uses an index. `now` is
 * the caller's clock.
 */
export interface DeliveryLedger {
  /** Stores the deliveries that do not exist yet, at the top of the owner's list. @returns their ids */
  insert(deliveries: readonly NewDelivery[], now: Date): Promise<Set<string>>;
  /** Leases due deliveries of an endpoint, longest waiting first: either its retries or its first attempts. */
  claimMany(
    endpointId: string,
    query: { limit: number; retries: boolean; leaseMs: number; now: Date },
  ): Promise<ClaimedDelivery[]>;
  /**
   * Returns the earlier deliveries of each claim, to the same endpoint, that were never attempted.
   * @returns their ids by the claim's id; a claim without such deliveries is missing
   */
  unattemptedBefore(claims: readonly ClaimedDelivery[]): Promise<Map<string, string[]>>;
  /** Releases leases; deliveries that were not cancelled are due at `at`, a moment from now at most. */
  release(claims: readonly ClaimedDelivery[], at: Date): Promise<void>;
  /** Records attempts and their outcomes. Records of lost leases change nothing. */
  record(records: readonly AttemptRecord[]): Promise<void>;
  /**
   * Cancels claimed deliveries because their endpoint is inactive or deleted or was disabled since, or because their
   * event expired. Deliveries that were reopened since the claim are due now instead.
   */
  cancel(claims: readonly ClaimedDelivery[], now: Date): Promise<void>;
  /** Cancels up to `limit` pending deliveries of an endpoint. @returns the number of cancelled ones */
  cancelPending(endpointId: string, limit: number): Promise<number>;
  /**
   * Returns the endpoints of up to `limit` overdue deliveries and ended leases; each again after `pauseMs`, as long as
   * it has deliveries that are due.
   */
  sweep(limit: number, pauseMs: number, now: Date): Promise<{ endpointIds: string[]; more: boolean }>;
  /** Counts the due deliveries that no worker has, up to `limit`, and returns since when the oldest of them waits. */
  backlog(limit: number, now: Date): Promise<{ readonly waiting: number; readonly oldest: Date | null }>;
  /**
   * To be called when the clock was set back, because deliveries that the later clock planned would wait for the
   * difference, too. They keep their delay, and leases their length, counted from `now`.
   * @returns the number of deliveries changed
   */
  reschedule(now: Date): Promise<number>;
  /**
   * Ends every lease. Only for a worker that starts and is the only one. Leases of a clock that was ahead are left to
   * `reschedule`.
   * @param leaseMs the longest lease: deliveries that wait for longer are not read
   */
  freeLeases(now: Date, leaseMs: number): Promise<void>;

  find(tenantId: string, environment: Environment, id: string): Promise<Delivery | null>;
  /** Returns the deliveries of these events, in no particular order; at most 5,000. */
  ofEvents(owner: Owner, eventIds: readonly string[]): Promise<Delivery[]>;
  /**
   * Returns the attempts by delivery id, oldest first, at most `KEPT_ATTEMPTS` of each, with their total size in bytes.
   * @param fields the fields that are read: requests and answers are large
   * @param maxBytes maximum total size; default 4 MiB
   * @throws {ServiceError} invalid_request if the attempts exceed it
   */
  attempts<Field extends keyof Attempt>(
    owner: Owner,
    ids: readonly string[],
    fields: readonly Field[],
    maxBytes?: number,
  ): Promise<Found<readonly Pick<Attempt, Field>[]>>;
  page(query: PageQuery & DeliveryFilter): Promise<Page<Delivery>>;
  /**
   * Returns the same page with these fields of the attempts, oldest first, at most `KEPT_ATTEMPTS` of each delivery.
   * Their size as JSON counts towards that of the page.
   */
  pageWithAttempts<Field extends keyof Attempt>(
    query: PageQuery & DeliveryFilter,
    fields: readonly Field[],
  ): Promise<Page<DeliveryWithAttempts<Field>>>;
  /** Returns the same page with only the fields that a resend needs. */
  keys(query: PageQuery & DeliveryFilter): Promise<Page<Pick<Delivery, 'id' | 'eventId' | 'eventType' | 'order'>>>;
  /**
   * Restarts the schedule by hand: due now, after first attempts. A delivery that was cancelled under a lease is due
   * when the lease ends, unless an attempt that is under way succeeds. Other deliveries that are under way, or were
   * never attempted, stay unchanged.
   * @returns the number of changed deliveries
   */
  reopen(deliveries: readonly ReopenedDelivery[], now: Date): Promise<number>;
}

/**
 * Schedules wake-ups of workers for an endpoint's deliveries. Losing one is harmless: the sweep finds the deliveries.
 */
export interface DeliveryQueue {
  wake(endpointId: string, at: Date): Promise<void>;
}

/** The request to a receiver. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** Sends requests to receivers. Events, test events and resends all use it. */
export interface WebhookSender {
  /** Posts once, in at most 15 s. Never throws: the result contains the failure. */
  send(request: OutgoingRequest): Promise<SendResult>;
}
