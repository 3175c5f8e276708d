import type { ClaimedDelivery } from './delivery.ts';
import type { WebhookEndpoint } from './endpoint.ts';

/** Attempts at once to an endpoint, and to one that has failed the last few times. */
const PLACES = 16;
const PLACES_WHEN_DOUBTFUL = 4;
const DOUBTFUL_AFTER = 3;
/** How many deliveries wait in memory; the ledger has the others. */
const QUEUE = 64;

/** A delivery that is ready to be attempted. */
export interface Work {
  readonly claim: ClaimedDelivery;
  readonly endpoint: WebhookEndpoint;
  /** When the endpoint was read, UNIX milliseconds. */
  readonly readAt: number;
  readonly body: string;
}

/** One endpoint's deliveries in this process. */
export interface Lane {
  readonly endpointId: string;
  /** Takes a place in the queue for a delivery that is about to be stored, if there is one and none waits in the ledger. */
  reserve(): boolean;
  unreserve(): void;
  put(work: Work): void;
  /** How many more it may claim. */
  room(): number;
  hasPlace(): boolean;
  /** Whether attempts may well hang: the endpoint keeps failing, or retries are all there is. */
  isDoubtful(): boolean;
  /**
   * The next delivery to attempt: first attempts before retries, and none of an invoice of which one is under way.
   * @param leaseUntil leases that end before are `stale`: they leave the queue, and so does what is behind them of their invoices
   */
  take(leaseUntil: number): { work: Work | null; stale: ClaimedDelivery[] };
  /** @param delivered null when nothing was attempted */
  finish(work: Work, delivered: boolean | null): void;
  /** Whether this process has the delivery: it waits here, is under way, or its outcome is not written yet. */
  holds(deliveryId: string): boolean;
  /** The outcome is written. */
  forget(deliveryId: string): void;
  /** Whether something of it waits in the ledger, as far as is known. */
  setBacklog(backlog: boolean): void;
  wantsMore(): boolean;
  beginRefill(): void;
  endRefill(): void;
  /** Nothing waits, nothing is under way. */
  isIdle(): boolean;
  /** Takes everything out of the queue. */
  empty(): ClaimedDelivery[];
  /** Resolves when nothing is under way. */
  finished(): Promise<void>;
}

export function createLane(endpointId: string): Lane {
  const firsts: Work[] = [];
  const retries: Work[] = [];
  /** Invoices of which a delivery is under way. */
  const busy = new Set<string>();
  const held = new Set<string>();
  /** No lease in the queues ends before. */
  let soonestEnd = Number.POSITIVE_INFINITY;
  let reserved = 0;
  let underWay = 0;
  let failures = 0;
  let backlog = false;
  /** Set when a wake comes while the ledger is being asked: its answer may be older. */
  let wokenMeanwhile = false;
  let refilling = false;
  let whenFinished: () => void = () => undefined;

  const places = () => (failures >= DOUBTFUL_AFTER ? PLACES_WHEN_DOUBTFUL : PLACES);
  const room = () =>
    Math.max(0, (failures >= DOUBTFUL_AFTER ? places() : QUEUE) - firsts.length - retries.length - reserved);

  function takeFrom(queue: Work[]): Work | null {
    const index = queue.findIndex(({ claim }) => !busy.has(claim.invoiceId));
    return index < 0 ? null : (queue.splice(index, 1)[0] ?? null);
  }

  function takeStale(leaseUntil: number): ClaimedDelivery[] {
    if (soonestEnd >= leaseUntil) return [];
    const stale = [...staleOf(firsts, leaseUntil), ...staleOf(retries, leaseUntil)];
    for (const { id } of stale) held.delete(id);
    soonestEnd = Math.min(...[...firsts, ...retries].map(({ claim }) => claim.leaseEnd));
    return stale;
  }

  function staleOf(queue: Work[], leaseUntil: number): ClaimedDelivery[] {
    const invoices = new Set<string>();
    const stale: ClaimedDelivery[] = [];
    const sound = queue.splice(0).filter(({ claim }) => {
      if (claim.leaseEnd >= leaseUntil && !invoices.has(claim.invoiceId)) return true;
      invoices.add(claim.invoiceId);
      stale.push(claim);
      return false;
    });
    queue.push(...sound);
    return stale;
  }

  return {
    endpointId,
    reserve() {
      if (backlog || refilling || room() === 0) return false;
      reserved++;
      return true;
    },
    unreserve() {
      reserved--;
    },
    put(work) {
      held.add(work.claim.id);
      soonestEnd = Math.min(soonestEnd, work.claim.leaseEnd);
      (work.claim.retry ? retries : firsts).push(work);
    },
    room,
    hasPlace: () => underWay < places() && firsts.length + retries.length > 0,
    isDoubtful: () => failures >= DOUBTFUL_AFTER || (firsts.length === 0 && retries.length > 0),
    take(leaseUntil) {
      const stale = takeStale(leaseUntil);
      const work = takeFrom(firsts) ?? takeFrom(retries);
      if (work) {
        underWay++;
        busy.add(work.claim.invoiceId);
      }
      return { work, stale };
    },
    finish({ claim }, delivered) {
      underWay--;
      busy.delete(claim.invoiceId);
      if (delivered !== null) failures = delivered ? 0 : failures + 1;
      if (underWay === 0) whenFinished();
    },
    holds: (deliveryId) => held.has(deliveryId),
    forget(deliveryId) {
      held.delete(deliveryId);
    },
    setBacklog(value) {
      if (value && refilling) wokenMeanwhile = true;
      backlog = value || wokenMeanwhile;
    },
    wantsMore: () => backlog && !refilling && firsts.length + retries.length < places() && room() > 0,
    beginRefill() {
      refilling = true;
      wokenMeanwhile = false;
    },
    endRefill() {
      refilling = false;
    },
    isIdle: () => !backlog && !refilling && reserved + underWay + firsts.length + retries.length + held.size === 0,
    empty: () => [...firsts.splice(0), ...retries.splice(0)].map(({ claim }) => claim),
    async finished() {
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          whenFinished = resolve;
        });
      }
    },
  };
}
