import type { AttemptDelivery } from './attempt-delivery.ts';
import type { ClaimedDelivery } from './delivery.ts';
import type { DeliveryLedger, EventLog } from './delivery-ports.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { createGivenBack } from './given-back.ts';
import { createLane, type Lane, type Work } from './lane.ts';
import type { RecordAttempts } from './record-attempts.ts';

/** Longer than an attempt with all its limits, so that no delivery is attempted twice at once. */
export const LEASE_MS = 30_000;
/** An attempt takes 15 s at most; with less of its lease left it is not begun, milliseconds. */
const ATTEMPT_MS = 18_000;
/** Attempts under way in this process. Those that may well hang (retries, endpoints that keep failing) get half of the places at most. */
const PLACES = 512;
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
  const free = { all: PLACES, doubtful: PLACES / 2 };
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
      const kind = lane.isDoubtful() ? 'doubtful' : 'sound';
      if (free.all === 0 || (kind === 'doubtful' && free.doubtful === 0)) {
        waiting[kind].add(lane);
        return;
      }
      const { work, stale } = lane.take(parts.now().getTime() + ATTEMPT_MS);
      if (stale.length > 0) putOff(lane, stale);
      if (!work) break;
      void begin(lane, work, kind);
    }
    if (!stopped && lane.wantsMore()) void refill(lane);
    else settled(lane);
  }

  async function begin(lane: Lane, work: Work, kind: keyof typeof waiting): Promise<void> {
    free.all--;
    if (kind === 'doubtful') free.doubtful--;
    const record = await parts.attempt(work.claim, work.endpoint, work.body);
    // It was cut off by our own end, which is no failure of the receiver's: the lease runs out and it is attempted again.
    if (abandoned) return;
    free.all++;
    if (kind === 'doubtful') free.doubtful++;
    const delivered = record.outcome.state === 'delivered';
    lane.finish(work, delivered);
    parts.health.noted(lane.endpointId, delivered);
    void parts.records.record(record).then(() => {
      lane.forget(work.claim.id);
      settled(lane);
    });
    // Whoever waits for a place of this kind is first; this lane waits behind them.
    const [next = lane] = [...waiting[kind], ...waiting.sound, ...waiting.doubtful];
    if (next !== lane && lane.hasPlace()) waiting[lane.isDoubtful() ? 'doubtful' : 'sound'].add(lane);
    pump(next);
    if (next !== lane && free.all > 0) pump(lane);
  }

  function settled(lane: Lane): void {
    if (!lane.isIdle()) return;
    // What is known of a failing endpoint is kept.
    if (!lane.isDoubtful() && lanes.get(lane.endpointId) === lane) lanes.delete(lane.endpointId);
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
    if (!endpoint?.active) return parts.deliveries.cancel(claims);
    const later: ClaimedDelivery[] = [];
    const taken = new Set<string>();
    for (const claim of [...claims].sort(inOrderOfEvents)) {
      const body = bodies.get(claim.eventId);
      const waitsForOthers = untried.get(claim.id)?.some((id) => !taken.has(id) && !lane.holds(id)) ?? false;
      if (body === undefined || waitsForOthers) later.push(claim);
      else {
        taken.add(claim.id);
        lane.put({ claim, endpoint, body });
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
      for (const { endpoint, reserved, since, work } of offers) {
        const lane = laneOf(endpoint.id);
        touched.add(lane);
        if (reserved) lane.unreserve();
        else lane.setBacklog(true);
        if (work && !stopped && isStraight(endpoint.id, since)) lane.put({ ...work, endpoint });
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

function inOrderOfEvents(a: ClaimedDelivery, b: ClaimedDelivery): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || a.sequence - b.sequence;
}
