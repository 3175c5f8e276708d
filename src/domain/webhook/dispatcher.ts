import type { AttemptDelivery } from './attempt-delivery.ts';
import type { ClaimedDelivery } from './delivery.ts';
import type { DeliveryLedger, EventLog } from './delivery-ports.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { createGivenBack } from './given-back.ts';
import { createLane, type Lane, type Work } from './lane.ts';
import { type AttemptKind, createPlaces, type Place } from './places.ts';
import type { RecordAttempts } from './record-attempts.ts';

/** Longer than an attempt with all its limits, so that no delivery is attempted twice at once. */
export const LEASE_MS = 30_000;
/** An attempt takes 15 s at most; with less of its lease left it is not begun, milliseconds. */
const ATTEMPT_MS = 18_000;
/** What waited longer is not sent before its endpoint is read again: it may be disabled, or have another address or secret. */
const ENDPOINT_FRESH_MS = 1000;
/** Of how many idle endpoints it is known that they keep failing. */
const REMEMBERED = 10_000;
/** How long a delivery rests whose event has not reached the log, or whose predecessor is in another process's hands. */
const PUT_OFF_MS = 300;
const SWEEP_LIMIT = 200;
const SWEEP_PAGES = 10;
const SWEEP_PAUSE_MS = 15_000;

/** A delivery for which a place was or was not reserved; `work` is null when it was not stored with a lease. */
export interface Offer {
  readonly endpoint: WebhookEndpoint;
  readonly reserved: boolean;
  /**
   * When this process began with the invoice (milliseconds of its own monotonic clock), all of whose earlier events it stored itself and offered to this lane, each with a lease; null
   * where one of them went another way.
   */
  readonly since: number | null;
  readonly work: { readonly claim: ClaimedDelivery; readonly body: string } | null;
}

/**
 * Attempts deliveries: each endpoint has a lane of its own with a few places, so that one which is slow or dead delays no other. First
 * attempts go before retries, and an invoice's events in their order.
 *
 * The order: no event goes to an endpoint before each earlier one of its invoice was attempted there. A lane sends an invoice's first
 * attempts one at a time, as they came in, and gives back none without those behind it; so what is to be shown is that no event comes in
 * before an earlier one that was not attempted. There are two ways in:
 * 1. Straight from the publisher, past the ledger: only where every earlier event took this way, in this process (`Offer.since`), and the
 *    lane gave nothing back meanwhile. So they are ahead in the lane, or were attempted.
 * 2. From the ledger: those that were not attempted are asked for (`untriedBefore`). Each must be in the lane, or in the same claim ahead of
 *    it; otherwise another process has it or may take it, and the event waits. The publisher stores the earlier one first.
 * Who was attempted and failed holds nobody up, and an event that is sent by hand has no place in the order.
 */
export interface Dispatcher {
  /**
   * Whether a new delivery of this endpoint may begin at once, without the way through the ledger. Each one, with or without, is to be
   * offered when it is stored. @param since as in {@link Offer}
   */
  reserve(endpointId: string, since: number | null): boolean;
  offer(offers: readonly Offer[]): void;
  /** Something of this endpoint may be due. */
  wake(endpointId: string): void;
  /** Finds what is due and woke nobody. */
  sweep(): Promise<void>;
  /** Resolves when nothing is under way and nothing is due that is known of. */
  settle(): Promise<void>;
  /** Begins nothing more, waits for attempts under way, gives the rest back. */
  stop(timeoutMs: number): Promise<void>;
}

export interface DispatcherParts {
  readonly deliveries: DeliveryLedger;
  readonly events: Pick<EventLog, 'bodies'>;
  /** An endpoint by its id, whoever's; null when it is gone. */
  readonly endpointOf: (endpointId: string) => Promise<WebhookEndpoint | null>;
  readonly attempt: AttemptDelivery;
  readonly records: RecordAttempts;
  readonly health: Pick<EndpointHealth, 'noted'>;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const lanes = new Map<string, Lane>();
  /** Lanes that could go on if there were places, by what they would do with them. */
  const waiting = { sound: new Set<Lane>(), doubtful: new Set<Lane>() };
  const places = createPlaces(() => {
    for (const lane of [...waiting.sound, ...waiting.doubtful]) pump(lane);
  });
  const timers = new Set<NodeJS.Timeout>();
  const givenBack = createGivenBack();
  let stopped = false;
  let abandoned = false;
  let whenIdle: () => void = () => undefined;

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      lane = createLane(endpointId);
      lanes.set(endpointId, lane);
    }
    return lane;
  }

  /** Begins what the lane has places for. */
  function pump(lane: Lane): void {
    for (const queue of [waiting.sound, waiting.doubtful]) queue.delete(lane);
    while (!stopped && lane.hasPlace()) {
      const kind = kindOf(lane);
      const place = places.take(kind);
      if (!place) {
        waiting[kind].add(lane);
        return;
      }
      const { work, stale } = lane.take(parts.now().getTime() + ATTEMPT_MS);
      if (stale.length > 0) putOff(lane, stale);
      if (!work) {
        places.giveBack(place);
        break;
      }
      void begin(lane, work, place);
    }
    if (!stopped && lane.wantsMore()) void refill(lane);
    else settled(lane);
  }

  async function begin(lane: Lane, work: Work, place: Place): Promise<void> {
    const isFresh = parts.now().getTime() - work.readAt <= ENDPOINT_FRESH_MS;
    const endpoint = isFresh ? work.endpoint : await endpointNow(work);
    const record = endpoint.active ? await parts.attempt(work.claim, endpoint, work.body) : null;
    // It was cut off by our own end, which is no failure of the receiver's: the lease runs out and it is attempted again.
    if (abandoned) return;
    places.giveBack(place);
    const delivered = record && record.outcome.state === 'delivered';
    lane.finish(work, delivered);
    if (delivered !== null) parts.health.noted(lane.endpointId, delivered);
    void (record ? parts.records.record(record) : cancel([work.claim])).then(() => {
      lane.forget(work.claim.id);
      settled(lane);
    });
    // Whoever waits for a place of this kind is first; this lane waits behind them.
    const next = firstOf(waiting[place.kind]) ?? firstOf(waiting.sound) ?? firstOf(waiting.doubtful) ?? lane;
    if (next !== lane && lane.hasPlace()) waiting[kindOf(lane)].add(lane);
    pump(next);
    if (next !== lane) pump(lane);
  }

  /** The endpoint as it is; inactive when it is gone, and as it was when it can not be read. */
  async function endpointNow({ endpoint }: Work): Promise<WebhookEndpoint> {
    try {
      return (await parts.endpointOf(endpoint.id)) ?? { ...endpoint, active: false };
    } catch (error) {
      parts.report(`the endpoint ${endpoint.id} could not be read`, error);
      return endpoint;
    }
  }

  async function cancel(claims: readonly ClaimedDelivery[]): Promise<void> {
    await parts.deliveries.cancel(claims).catch((error) => parts.report('deliveries were not cancelled', error));
  }

  function settled(lane: Lane): void {
    if (!lane.isIdle()) return;
    // What is known of a failing endpoint is kept.
    if ((!lane.isDoubtful() || lanes.size > REMEMBERED) && lanes.get(lane.endpointId) === lane)
      lanes.delete(lane.endpointId);
    whenIdle();
  }

  /** Claims what is due: first attempts, then retries. */
  async function refill(lane: Lane): Promise<void> {
    lane.beginRefill();
    try {
      const now = parts.now();
      const query = { leaseMs: LEASE_MS, now };
      const room = lane.room();
      const firsts = await parts.deliveries.claim(lane.endpointId, { ...query, limit: room, retries: false });
      const left = room - firsts.length;
      const retries =
        left > 0 ? await parts.deliveries.claim(lane.endpointId, { ...query, limit: left, retries: true }) : [];
      lane.setBacklog(firsts.length + retries.length >= room);
      await takeOn(lane, [...firsts, ...retries]);
    } catch (error) {
      // Leases run out, and the sweep finds all of it.
      lane.setBacklog(false);
      parts.report(`the deliveries of ${lane.endpointId} could not be claimed`, error);
    } finally {
      lane.endRefill();
      pump(lane);
    }
  }

  async function takeOn(lane: Lane, claims: readonly ClaimedDelivery[]): Promise<void> {
    if (claims.length === 0) return;
    const [endpoint, bodies, untried] = await Promise.all([
      parts.endpointOf(lane.endpointId),
      parts.events.bodies([...new Set(claims.map(({ eventId }) => eventId))]),
      parts.deliveries.untriedBefore(claims.filter(({ retry, earlier }) => !retry && earlier.length > 0)),
    ]);
    if (!endpoint?.active) return cancel(claims);
    const readAt = parts.now().getTime();
    const later: ClaimedDelivery[] = [];
    const taken = new Set<string>();
    for (const claim of [...claims].sort(inOrderOfEvents)) {
      const body = bodies.get(claim.eventId);
      const waitsForOthers = untried.get(claim.id)?.some((id) => !taken.has(id) && !lane.holds(id)) ?? false;
      if (body === undefined || waitsForOthers) later.push(claim);
      else {
        taken.add(claim.id);
        lane.put({ claim, endpoint, readAt, body });
      }
    }
    if (later.length > 0) putOff(lane, later);
  }

  /** Gives leases back and comes again for them. */
  function putOff(lane: Lane, claims: readonly ClaimedDelivery[]): void {
    const now = parts.now().getTime();
    givenBack.note(lane.endpointId);
    const at = new Date(now + PUT_OFF_MS);
    parts.deliveries.release(claims, at).catch((error) => parts.report('leases were not given back', error));
    const timer = setTimeout(() => {
      timers.delete(timer);
      wake(lane.endpointId);
    }, PUT_OFF_MS + 50);
    timers.add(timer);
  }

  function wake(endpointId: string): void {
    if (stopped) return;
    const lane = laneOf(endpointId);
    lane.setBacklog(true);
    pump(lane);
  }

  const isStraight = (endpointId: string, since: number | null) =>
    since !== null && givenBack.noneSince(endpointId, since);
  const isQuiet = () => timers.size === 0 && [...lanes.values()].every((lane) => lane.isIdle());

  return {
    reserve: (endpointId, since) => !stopped && isStraight(endpointId, since) && laneOf(endpointId).reserve(),
    offer(offers) {
      const touched = new Set<Lane>();
      const readAt = parts.now().getTime();
      for (const { endpoint, reserved, since, work } of offers) {
        const lane = laneOf(endpoint.id);
        touched.add(lane);
        if (reserved) lane.unreserve();
        else lane.setBacklog(true);
        if (work && !stopped && isStraight(endpoint.id, since)) lane.put({ ...work, endpoint, readAt });
        else if (work) putOff(lane, [work.claim]);
      }
      for (const lane of touched) pump(lane);
    },
    wake,
    async sweep() {
      for (let page = 0; page < SWEEP_PAGES; page++) {
        const { endpointIds, more } = await parts.deliveries.takeOverdue(SWEEP_LIMIT, SWEEP_PAUSE_MS, parts.now());
        for (const endpointId of endpointIds) wake(endpointId);
        if (!more) return;
      }
    },
    async settle() {
      while (!isQuiet()) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve;
        });
      }
      await parts.records.recorded();
    },
    async stop(timeoutMs) {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      places.close();
      const unsent = [...lanes.values()].flatMap((lane) => lane.empty());
      const over = Promise.all([...lanes.values()].map((lane) => lane.finished()));
      await Promise.race([over, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
      abandoned = true;
      if (unsent.length > 0) {
        await parts.deliveries
          .release(unsent, parts.now())
          .catch((error) => parts.report('leases were not given back', error));
      }
      await parts.records.recorded();
    },
  };
}

function kindOf(lane: Lane): AttemptKind {
  return lane.isDoubtful() ? 'doubtful' : 'sound';
}

function firstOf<Item>(items: Iterable<Item>): Item | undefined {
  const [first] = items;
  return first;
}

function inOrderOfEvents(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || a.sequence - b.sequence;
}
