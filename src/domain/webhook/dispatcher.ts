import { CLOCK_SKEW_MS } from '../durations.ts';
import { createBell } from '../kit/bell.ts';
import { createTurns, type Turns } from '../kit/turns.ts';
import { within } from '../kit/within.ts';
import type { AttemptDelivery } from './attempt-delivery.ts';
import { type Attempt, type ClaimedDelivery, earlierDeliveries } from './delivery.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import {
  type AttemptKind,
  type AttemptSlot,
  createAttemptSlots,
  createEndpointQueue,
  type EndpointQueue,
  type QueuedDelivery,
} from './endpoint-queue.ts';
import { createEndpointSnapshots } from './endpoint-snapshots.ts';
import type { CountAttempts } from './endpoint-statistics.ts';
import type { DeliveryLedger, EventLog } from './ports.ts';
import type { RecordAttempts } from './record-attempts.ts';

/** Length of a lease, in milliseconds: longer than an attempt, so that no delivery is attempted twice at once. */
export const LEASE_MS = 30_000;
/** Minimum time that is left of a lease when an attempt begins, in milliseconds. An attempt takes at most 15 s. */
const ATTEMPT_MS = 18_000;
/** Maximum number of queues in memory before idle queues of failing endpoints are dropped. */
const REMEMBERED = 10_000;
/**
 * How long a delivery waits after its lease was released, in milliseconds. The usual reason is that another process has
 * not attempted an earlier event of its invoice yet.
 */
const RELEASE_MS = 300;
const SWEEP_LIMIT = 200;
const SWEEP_PAGES = 10;
const SWEEP_PAUSE_MS = 15_000;

/** A new delivery that the publisher has tried to store. */
export interface StoredDelivery {
  readonly endpoint: WebhookEndpoint;
  /** When reading the endpoint began, UNIX milliseconds. */
  readonly readAt: number;
  /** Whether `reserve` reserved room for it. */
  readonly reserved: boolean;
  /** null when it was stored without a lease, another process had stored it before, or the insert failed. */
  readonly leased: { readonly claim: ClaimedDelivery; readonly body: string } | null;
}

/**
 * Attempts deliveries. Each endpoint has its own queue and concurrency, so a slow or dead endpoint delays no other
 * endpoint. First attempts go before retries.
 *
 * When all attempt slots of this process are taken, a slot that becomes free goes to the tenant that holds the fewest,
 * however many endpoints and deliveries the others have; the endpoints of a tenant take turns. Each kind of attempts is
 * counted separately, and attempts that hang are not counted, so a dead endpoint takes no turns from the tenant's other
 * endpoints.
 *
 * Order of events: an event is first attempted at an endpoint only after each earlier event of its invoice was
 * attempted there. A delivery is enqueued only when all its earlier deliveries have been attempted or are ahead of it
 * in the same queue; otherwise its lease is released and it is claimed again later. The queue attempts the events of an
 * invoice one at a time, in order. Publishers store an earlier event first. A failed first attempt does not delay later
 * events, and events that are sent by hand are not ordered.
 *
 * Disabled endpoints: no delivery that was made before its endpoint was disabled is attempted after it, also if the
 * endpoint is enabled again. This holds from the call of `endpointChanged`, in other processes a second later.
 */
export interface Dispatcher {
  /** Reserves room for a new delivery. @returns true: the publisher stores it with a lease; false: without one */
  reserve(endpointId: string): boolean;
  /**
   * Takes over the deliveries that the publisher has stored or failed to store, with or without reserved room. Never
   * rejects. The publisher awaits it before it stores later events, so that their earlier deliveries are already in the
   * queue.
   */
  accept(stored: readonly StoredDelivery[]): Promise<void>;
  /** Claims the due deliveries of this endpoint, if there are any. */
  wake(endpointId: string): void;
  /** To be called when this process has changed or deleted an endpoint: later attempts use its new state. */
  endpointChanged(endpointId: string): void;
  /** Wakes endpoints whose due deliveries no process has claimed in time. */
  sweep(): Promise<void>;
  /** Resolves when no attempt is under way and no known delivery is due. */
  settle(): Promise<void>;
  /**
   * Begins no further attempts, waits up to `timeoutMs` for those under way, releases the leases of queued deliveries.
   */
  stop(timeoutMs: number): Promise<void>;
}

export interface DispatcherParts {
  readonly deliveries: DeliveryLedger;
  readonly events: Pick<EventLog, 'bodies'>;
  /** Finds an endpoint of any tenant by its id; null when it is deleted. */
  readonly endpointOf: (endpointId: string) => Promise<WebhookEndpoint | null>;
  readonly attempt: AttemptDelivery;
  readonly records: RecordAttempts;
  readonly health: Pick<EndpointHealth, 'noteResult'>;
  readonly statistics: Pick<CountAttempts, 'note'>;
  /** Called with each attempt. Default: nothing is measured. */
  readonly measure?: (attempt: Attempt, traceparent: string | null) => void;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const queues = new Map<string, EndpointQueue>();
  const slots = createAttemptSlots(giveSlots);
  /** Queues that wait for a slot, by the kind of their next attempt. */
  const waiting: Readonly<Record<AttemptKind, Turns<EndpointQueue>>> = {
    normal: createTurns((tenantId) => slots.heldBy('normal', tenantId)),
    suspect: createTurns((tenantId) => slots.heldBy('suspect', tenantId)),
  };
  const snapshots = createEndpointSnapshots(parts);
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  let abandoned = false;
  /** Rings when a queue has become idle. */
  const idle = createBell();

  function queueOf(endpointId: string): EndpointQueue {
    let queue = queues.get(endpointId);
    if (!queue) {
      queue = createEndpointQueue(endpointId);
      queues.set(endpointId, queue);
    }
    return queue;
  }

  function pump(queue: EndpointQueue): void {
    lineUp(queue);
    giveSlots();
  }

  /** A queue that may begin an attempt waits for a slot, and keeps its place; any other queue claims deliveries. */
  function lineUp(queue: EndpointQueue): void {
    const own = !stopped && queue.mayBegin() ? waiting[queue.kind()] : null;
    for (const each of Object.values(waiting)) if (each !== own) each.delete(queue.tenantId, queue);
    if (own) own.add(queue.tenantId, queue);
    else claimMore(queue);
  }

  function claimMore(queue: EndpointQueue): void {
    if (!stopped && queue.wantsMore()) void refill(queue);
    else settled(queue);
  }

  /** Begins attempts, in turns, as long as slots are free. @param first the kind that goes first */
  function giveSlots(first: AttemptKind = 'normal'): void {
    const kinds = [first, 'normal', 'suspect'] as const;
    while (!stopped) {
      const kind = kinds.find((each) => waiting[each].size > 0 && slots.isFree(each));
      const queue = kind && waiting[kind].take();
      if (!queue) return;
      begin(queue, kind);
    }
  }

  /** Begins the next attempt of a queue whose turn it is. */
  function begin(queue: EndpointQueue, kind: AttemptKind): void {
    const now = parts.now().getTime();
    const { next, expiring } = queue.take(now + ATTEMPT_MS, now + LEASE_MS + CLOCK_SKEW_MS);
    if (expiring.length > 0) release(queue, expiring);
    if (next) {
      void attempt(queue, next, slots.take(kind, queue.tenantId));
      lineUp(queue);
    } else claimMore(queue);
  }

  async function attempt(queue: EndpointQueue, delivery: QueuedDelivery, slot: AttemptSlot): Promise<void> {
    const endpoint = await snapshots.current(queue.endpointId);
    const record = isFor(endpoint, delivery.claim)
      ? await parts.attempt(delivery.claim, endpoint, delivery.body)
      : null;
    // Our own stop interrupted the attempt, so it is not counted as a failure: the lease ends and the delivery is
    // attempted again.
    if (abandoned) return;
    slots.release(slot);
    const delivered = record && record.outcome.state === 'delivered';
    queue.finish(delivery, delivered);
    if (record) {
      parts.statistics.note(record);
      parts.measure?.(record.attempt, record.claim.traceparent ?? null);
    }
    if (delivered !== null) parts.health.noteResult(queue.endpointId, delivered);
    void (record ? parts.records.record(record) : cancel([delivery.claim])).then(() => {
      queue.forget(delivery.claim.id);
      settled(queue);
    });
    lineUp(queue);
    giveSlots(slot.kind);
  }

  async function cancel(claims: readonly ClaimedDelivery[]): Promise<void> {
    await parts.deliveries
      .cancel(claims, parts.now())
      .catch((error) => parts.report('deliveries were not cancelled', error));
  }

  function settled(queue: EndpointQueue): void {
    if (!queue.isIdle()) return;
    const { endpointId } = queue;
    if (queues.get(endpointId) === queue) {
      snapshots.forget(endpointId);
      queues.delete(endpointId);
      // The queue of a failing endpoint is kept, because it holds the count of failures.
      if (queue.kind() !== 'normal') {
        queues.set(endpointId, queue);
        if (queues.size > REMEMBERED) forgetOldest();
      }
    }
    idle.ring();
  }

  /**
   * Removes the queue that has been idle for the longest time. An LRU cache could evict a queue that has deliveries.
   */
  function forgetOldest(): void {
    for (const [endpointId, queue] of queues) {
      if (!queue.isIdle()) continue;
      queues.delete(endpointId);
      return;
    }
  }

  /** Claims due deliveries: first attempts, then retries. */
  async function refill(queue: EndpointQueue): Promise<void> {
    queue.beginRefill();
    try {
      const now = parts.now();
      const query = { leaseMs: LEASE_MS, now };
      const room = queue.room();
      const firsts = await parts.deliveries.claimMany(queue.endpointId, { ...query, limit: room, retries: false });
      const left = room - firsts.length;
      const retries =
        left > 0 ? await parts.deliveries.claimMany(queue.endpointId, { ...query, limit: left, retries: true }) : [];
      queue.setBacklog(firsts.length + retries.length >= room);
      await enqueueClaimed(queue, [...firsts, ...retries]);
    } catch (error) {
      // Leases that were taken run out, and the sweep finds the deliveries.
      queue.setBacklog(false);
      parts.report(`the deliveries of ${queue.endpointId} could not be claimed`, error);
    } finally {
      queue.endRefill();
      pump(queue);
    }
  }

  async function enqueueClaimed(queue: EndpointQueue, claims: readonly ClaimedDelivery[]): Promise<void> {
    if (claims.length === 0) return;
    const readAt = parts.now().getTime();
    const [endpoint, bodies, unattempted] = await Promise.all([
      parts.endpointOf(queue.endpointId),
      parts.events.bodies([...new Set(claims.map(({ eventId }) => eventId))]),
      parts.deliveries.unattemptedBefore(claims),
    ]);
    if (!endpoint) return cancel(claims);
    snapshots.note(endpoint, readAt);
    const early: ClaimedDelivery[] = [];
    const ended: ClaimedDelivery[] = [];
    for (const claim of [...claims].sort(inOrderOfEvents)) {
      const body = bodies.get(claim.eventId);
      // An event is stored before its deliveries, so a missing one has expired.
      if (body === undefined || !isFor(endpoint, claim)) ended.push(claim);
      else if (mustWait(queue, claim, unattempted)) early.push(claim);
      else queue.enqueue({ claim, body });
    }
    if (early.length > 0) release(queue, early);
    if (ended.length > 0) await cancel(ended);
  }

  /** Whether an earlier delivery is unattempted and not ahead in the queue. */
  function mustWait(
    queue: EndpointQueue,
    { id }: ClaimedDelivery,
    unattempted: ReadonlyMap<string, string[]>,
  ): boolean {
    return unattempted.get(id)?.some((earlier) => !queue.holds(earlier)) ?? false;
  }

  /** Releases leases and claims the deliveries again after the delay. */
  function release(queue: EndpointQueue, claims: readonly ClaimedDelivery[]): void {
    const at = new Date(parts.now().getTime() + RELEASE_MS);
    parts.deliveries.release(claims, at).catch((error) => parts.report('leases were not released', error));
    if (stopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      wake(queue.endpointId);
    }, RELEASE_MS + 50);
    timers.add(timer);
  }

  function wake(endpointId: string): void {
    if (stopped) return;
    const queue = queueOf(endpointId);
    queue.setBacklog(true);
    pump(queue);
  }

  async function accept(stored: readonly StoredDelivery[]): Promise<void> {
    for (const { endpoint, readAt, leased } of stored) if (leased) snapshots.note(endpoint, readAt);
    const leased = stored.flatMap(({ endpoint, leased }) =>
      leased ? [{ queue: queueOf(endpoint.id), delivery: leased }] : [],
    );
    const asked: typeof leased = [];
    // Most first attempts need no query: there is no earlier event, or all earlier deliveries are in the queue.
    for (const each of leased) {
      if (isBehindAllEarlier(each.queue, each.delivery.claim)) each.queue.enqueue(each.delivery);
      else asked.push(each);
    }
    const unattempted = await unattemptedBefore(asked.map(({ delivery }) => delivery.claim));
    const blocked = asked.filter(({ queue, delivery }) => {
      const waits = stopped || mustWait(queue, delivery.claim, unattempted);
      if (!waits) queue.enqueue(delivery);
      return waits;
    });
    for (const [queue, each] of Map.groupBy(blocked, ({ queue }) => queue)) {
      release(
        queue,
        each.map(({ delivery }) => delivery.claim),
      );
    }
    for (const { endpoint, reserved } of stored) {
      const queue = queueOf(endpoint.id);
      if (reserved) queue.unreserve();
      else queue.setBacklog(true);
    }
    for (const endpointId of new Set(stored.map(({ endpoint }) => endpoint.id))) lineUp(queueOf(endpointId));
    giveSlots();
  }

  /** Queries the ledger. If it does not answer, every earlier delivery counts as unattempted. */
  async function unattemptedBefore(claims: readonly ClaimedDelivery[]): Promise<ReadonlyMap<string, string[]>> {
    try {
      return await parts.deliveries.unattemptedBefore(claims);
    } catch (error) {
      parts.report('the order of events could not be checked', error);
      return new Map(claims.map((claim) => [claim.id, earlierDeliveries(claim)]));
    }
  }

  const isQuiet = () => timers.size === 0 && [...queues.values()].every((queue) => queue.isIdle());

  return {
    reserve: (endpointId) => !stopped && queueOf(endpointId).reserve(),
    accept,
    wake,
    endpointChanged: snapshots.changed,
    async sweep() {
      for (let page = 0; page < SWEEP_PAGES; page++) {
        const { endpointIds, more } = await parts.deliveries.sweep(SWEEP_LIMIT, SWEEP_PAUSE_MS, parts.now());
        for (const endpointId of endpointIds) wake(endpointId);
        if (!more) return;
      }
    },
    async settle() {
      while (!isQuiet()) await idle.heard();
      await parts.records.recorded();
    },
    async stop(timeoutMs) {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      slots.close();
      const unsent = [...queues.values()].flatMap((queue) => queue.empty());
      const over = Promise.all([...queues.values()].map((queue) => queue.finished()));
      await within(timeoutMs, over);
      abandoned = true;
      if (unsent.length > 0) {
        await parts.deliveries
          .release(unsent, parts.now())
          .catch((error) => parts.report('leases were not released', error));
      }
      await parts.records.recorded();
    },
  };
}

/** Whether a delivery may be sent to the endpoint as it is now. */
function isFor(endpoint: WebhookEndpoint, { timesDisabled }: ClaimedDelivery): boolean {
  return endpoint.active && endpoint.timesDisabled === timesDisabled;
}

function isBehindAllEarlier(queue: EndpointQueue, claim: ClaimedDelivery): boolean {
  return earlierDeliveries(claim).every((id) => queue.holds(id));
}

function inOrderOfEvents(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || a.sequence - b.sequence;
}
