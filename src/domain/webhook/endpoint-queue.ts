import { createBell } from '../kit/bell.ts';
import type { ClaimedDelivery } from './delivery.ts';

/**
 * Maximum number of concurrent attempts to one endpoint, and to one whose last {@link FAILING_AFTER} attempts failed.
 */
const CONCURRENCY = 16;
const CONCURRENCY_WHEN_FAILING = 4;
const FAILING_AFTER = 3;
/** Maximum number of deliveries of one endpoint in memory; the others wait in the ledger. */
const CAPACITY = 64;

/**
 * Maximum number of concurrent attempts of this process. `suspect` attempts (see {@link AttemptKind}) get at most half.
 */
const SLOTS = 512;
/**
 * An attempt that takes longer than this, in milliseconds, counts as hanging: it leaves its slot to another attempt and
 * counts towards {@link HANGING} instead.
 */
const HANGS_AFTER_MS = 1000;
const HANGING = 1536;

/** A delivery whose lease this process holds. */
export interface QueuedDelivery {
  readonly claim: ClaimedDelivery;
  /** The body of its event. */
  readonly body: string;
}

/** `suspect`: the endpoint is failing, or only retries are queued, so the attempt is more likely to hang. */
export type AttemptKind = 'normal' | 'suspect';

/**
 * One endpoint's deliveries in this process: first attempts before retries; the events of one invoice one at a time, in
 * the order in which they were enqueued.
 */
export interface EndpointQueue {
  readonly endpointId: string;
  /** The tenant of the endpoint; empty until the first delivery is enqueued. */
  readonly tenantId: string;
  /**
   * Reserves room for a delivery that is about to be stored. @returns false if deliveries wait in the ledger or the
   * queue is full: the new one then waits in the ledger
   */
  reserve(): boolean;
  unreserve(): void;
  enqueue(delivery: QueuedDelivery): void;
  /** Number of deliveries that may still be claimed. */
  room(): number;
  /**
   * Whether an attempt may begin now, within the endpoint's concurrency: a delivery is queued whose invoice has no
   * attempt under way.
   */
  mayBegin(): boolean;
  kind(): AttemptKind;
  /**
   * Takes the next delivery to attempt.
   * @param leaseUntil UNIX milliseconds: deliveries whose lease ends before this are `expiring`. They leave the queue,
   *   together with the later events of their invoices
   * @param leaseAtMost UNIX milliseconds: the same for deliveries whose lease ends after this, longer than any lease.
   *   The clock was set back since, and the ledger has shortened the lease
   */
  take(leaseUntil: number, leaseAtMost: number): { next: QueuedDelivery | null; expiring: ClaimedDelivery[] };
  /** Ends an attempt. @param delivered null when nothing was sent */
  finish(delivery: QueuedDelivery, delivered: boolean | null): void;
  /** Whether the delivery is queued or under way here, or its outcome is not recorded yet. */
  holds(deliveryId: string): boolean;
  /** Called when the outcome of a delivery is recorded. */
  forget(deliveryId: string): void;
  /** Whether deliveries of the endpoint may wait in the ledger. */
  setBacklog(backlog: boolean): void;
  wantsMore(): boolean;
  beginRefill(): void;
  endRefill(): void;
  /** Whether nothing is queued, under way or unrecorded, and the ledger has no known backlog. */
  isIdle(): boolean;
  /** Removes all queued deliveries and returns their claims. */
  empty(): ClaimedDelivery[];
  /** Resolves when no attempt is under way. */
  finished(): Promise<void>;
}

export function createEndpointQueue(endpointId: string): EndpointQueue {
  const firsts: QueuedDelivery[] = [];
  const retries: QueuedDelivery[] = [];
  /** Invoices with an attempt under way. */
  const busy = new Set<string>();
  const held = new Set<string>();
  let tenantId = '';
  /** Bounds of the lease ends in the queue, UNIX milliseconds. */
  let soonestEnd = Number.POSITIVE_INFINITY;
  let latestEnd = Number.NEGATIVE_INFINITY;
  // Not turns of the kit: the number of attempts at once depends on failures, and an invoice has one at a time.
  let reserved = 0;
  let underWay = 0;
  let failures = 0;
  let backlog = false;
  /** Whether a wake-up came during a refill: the ledger's answer may be older than the wake-up. */
  let wokenMeanwhile = false;
  let refilling = false;
  const finished = createBell();

  const isFailing = () => failures >= FAILING_AFTER;
  const concurrency = () => (isFailing() ? CONCURRENCY_WHEN_FAILING : CONCURRENCY);
  const queued = () => firsts.length + retries.length;
  const room = () => Math.max(0, (isFailing() ? concurrency() : CAPACITY) - queued() - reserved);

  const isNext = ({ claim }: QueuedDelivery) => !busy.has(claim.invoiceId);

  function takeFrom(queue: QueuedDelivery[]): QueuedDelivery | null {
    const index = queue.findIndex(isNext);
    return index < 0 ? null : (queue.splice(index, 1)[0] ?? null);
  }

  function takeExpiring(leaseUntil: number, leaseAtMost: number): ClaimedDelivery[] {
    const holds = (leaseEnd: number) => leaseEnd >= leaseUntil && leaseEnd <= leaseAtMost;
    if (soonestEnd >= leaseUntil && latestEnd <= leaseAtMost) return [];
    const expiring = [...expiringOf(firsts, holds), ...expiringOf(retries, holds)];
    for (const { id } of expiring) held.delete(id);
    const ends = [...firsts, ...retries].map(({ claim }) => claim.leaseEnd);
    [soonestEnd, latestEnd] = [Math.min(...ends), Math.max(...ends)];
    return expiring;
  }

  return {
    endpointId,
    get tenantId() {
      return tenantId;
    },
    reserve() {
      if (backlog || refilling || room() === 0) return false;
      reserved++;
      return true;
    },
    unreserve() {
      reserved--;
    },
    enqueue(delivery) {
      tenantId = delivery.claim.tenantId;
      held.add(delivery.claim.id);
      soonestEnd = Math.min(soonestEnd, delivery.claim.leaseEnd);
      latestEnd = Math.max(latestEnd, delivery.claim.leaseEnd);
      (delivery.claim.retry ? retries : firsts).push(delivery);
    },
    room,
    mayBegin: () => underWay < concurrency() && (firsts.some(isNext) || retries.some(isNext)),
    kind: () => (isFailing() || (firsts.length === 0 && retries.length > 0) ? 'suspect' : 'normal'),
    take(leaseUntil, leaseAtMost) {
      const expiring = takeExpiring(leaseUntil, leaseAtMost);
      const next = takeFrom(firsts) ?? takeFrom(retries);
      if (next) {
        underWay++;
        busy.add(next.claim.invoiceId);
      }
      return { next, expiring };
    },
    finish({ claim }, delivered) {
      underWay--;
      busy.delete(claim.invoiceId);
      if (delivered !== null) failures = delivered ? 0 : failures + 1;
      if (underWay === 0) finished.ring();
    },
    holds: (deliveryId) => held.has(deliveryId),
    forget(deliveryId) {
      held.delete(deliveryId);
    },
    setBacklog(value) {
      if (value && refilling) wokenMeanwhile = true;
      backlog = value || wokenMeanwhile;
    },
    wantsMore: () => backlog && !refilling && queued() < concurrency() && room() > 0,
    beginRefill() {
      refilling = true;
      wokenMeanwhile = false;
    },
    endRefill() {
      refilling = false;
    },
    isIdle: () => !backlog && !refilling && reserved + underWay + queued() + held.size === 0,
    empty: () => [...firsts.splice(0), ...retries.splice(0)].map(({ claim }) => claim),
    async finished() {
      while (underWay > 0) await finished.heard();
    },
  };
}

/** Removes the deliveries whose leases do not hold and the later ones of the same invoices. */
function expiringOf(queue: QueuedDelivery[], holds: (leaseEnd: number) => boolean): ClaimedDelivery[] {
  const invoices = new Set<string>();
  const expiring: ClaimedDelivery[] = [];
  const kept = queue.splice(0).filter(({ claim }) => {
    if (holds(claim.leaseEnd) && !invoices.has(claim.invoiceId)) return true;
    invoices.add(claim.invoiceId);
    expiring.push(claim);
    return false;
  });
  queue.push(...kept);
  return expiring;
}

export interface AttemptSlot {
  readonly kind: AttemptKind;
  readonly tenantId: string;
  /** When it was taken, in milliseconds of the monotonic clock. */
  readonly at: number;
}

/**
 * Limits the concurrent attempts of this process over all endpoints, and so its sockets and memory. As long as fewer
 * than {@link HANGING} attempts hang, receivers that hang take no slots from the others.
 */
export interface AttemptSlots {
  /** Whether `take` may be called. If not, `whenFree` is called when a slot may have become free. */
  isFree(kind: AttemptKind): boolean;
  /** Takes a slot that is free for an attempt of this kind and tenant. */
  take(kind: AttemptKind, tenantId: string): AttemptSlot;
  /** Number of slots that a tenant's attempts of this kind hold: all of them that do not count as hanging. */
  heldBy(kind: AttemptKind, tenantId: string): number;
  release(slot: AttemptSlot): void;
  close(): void;
}

export function createAttemptSlots(whenFree: () => void): AttemptSlots {
  const free = { all: SLOTS, suspect: SLOTS / 2 };
  /** Slots of each tenant that holds any. */
  const held = { normal: new Map<string, number>(), suspect: new Map<string, number>() };
  /** Attempts that do not count as hanging, in the order in which they began. */
  const prompt = new Set<AttemptSlot>();
  const hanging = new Set<AttemptSlot>();
  let timer: NodeJS.Timeout | null = null;

  const has = (kind: AttemptKind) => free.all > 0 && (kind === 'normal' || free.suspect > 0);

  const heldBy = (kind: AttemptKind, tenantId: string) => held[kind].get(tenantId) ?? 0;

  function vacate(slot: AttemptSlot): void {
    const { kind, tenantId } = slot;
    prompt.delete(slot);
    free.all++;
    if (kind === 'suspect') free.suspect++;
    const others = heldBy(kind, tenantId) - 1;
    if (others > 0) held[kind].set(tenantId, others);
    else held[kind].delete(tenantId);
  }

  function moveHanging(): void {
    const before = performance.now() - HANGS_AFTER_MS;
    for (const slot of prompt) {
      if (slot.at > before || hanging.size >= HANGING) return;
      vacate(slot);
      hanging.add(slot);
    }
  }

  return {
    isFree(kind) {
      if (!has(kind)) moveHanging();
      if (has(kind)) return true;
      timer ??= setTimeout(() => {
        timer = null;
        whenFree();
      }, HANGS_AFTER_MS);
      return false;
    },
    take(kind, tenantId) {
      free.all--;
      if (kind === 'suspect') free.suspect--;
      held[kind].set(tenantId, heldBy(kind, tenantId) + 1);
      const slot = { kind, tenantId, at: performance.now() };
      prompt.add(slot);
      return slot;
    },
    heldBy,
    release(slot) {
      if (!hanging.delete(slot)) vacate(slot);
    },
    close() {
      if (timer) clearTimeout(timer);
    },
  };
}
