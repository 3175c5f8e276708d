import {
  isLateShare,
  type Lane,
  type LaneGate,
  PARTITIONS,
  type PartitionRange,
  slotAfter,
  tenantOfSlot,
} from '../domain/invoice/lanes.ts';
import type { Claim, DueInvoice, InvoiceClaims } from '../domain/invoice/repository.ts';
import { LEASE_MS } from '../domain/invoice/stages/stage.ts';
import { within } from '../domain/kit/within.ts';
import type { ClaimRanges } from './claim-ranges.ts';
import { fixedGate } from './fixed-gate.ts';
import { inTurns, limitTenants, ofEachSlot, partsOutside, type TenantLimit } from './slot-turns.ts';
import { createTenantRests } from './tenant-rests.ts';

/** Minimum pause between two searches that find nothing, milliseconds. */
const HOT_MS = 20;
/** Pause between two searches of a cold lane, milliseconds. */
const COLD_MS = 1000;
/**
 * Number of successive empty searches after which a lane is cold. The pauses double from the minimum to the maximum.
 */
export const COLD_LOOKS = Math.ceil(Math.log2(COLD_MS / HOT_MS));
/**
 * Fraction of a lane's places that one slot may take in its turn, but at least one place. With it, a round of all
 * tenants with a backlog of PDFs takes as long as a round with one PDF each.
 */
const A_TURN = 1 / 8;
/**
 * Number of places of a lane that a single tenant leaves to others, if the lane has at least four times as many. So a
 * few invoices of another tenant begin immediately and need not wait for the end of some of its burst.
 */
const LEFT_TO_OTHERS = 8;
/**
 * A worker without work of its own claims work outside of its range when the work has been due this long, milliseconds.
 */
const LATE_MS = 3000;
/** The same for a worker with work of its own. If all workers have a burst, the owner claims its late work sooner. */
const VERY_LATE_MS = 10_000;
/** Number of late invoices that are read, of which a worker claims its share. */
const LATE_CHOICE = 128;
/**
 * Pause of a worker between two searches outside of its range, milliseconds; none while it finds work and has no work
 * of its own.
 */
const LATE_LOOK_MS = 2000;
/** The process is idle when it has run no invoice for this time, milliseconds. */
const QUIET_MS = 1000;
/** A timer that fires later than this shows that the process or its machine has other work, milliseconds. */
const STALL_MS = 100;
/** A PDF that nobody has requested is drawn in a busy process, too, when it has waited this long, milliseconds. */
const IDLE_LATE_MS = 10 * 60_000;

export interface ClaimerParts {
  readonly invoices: Pick<InvoiceClaims, 'due' | 'claimMany' | 'release'>;
  readonly ranges: Pick<ClaimRanges, 'own'>;
  /** The lanes that this worker can run. */
  readonly lanes: readonly Lane[];
  /** Gates of the lanes whose number of places varies. */
  readonly gates?: Partial<Readonly<Record<Lane, LaneGate>>>;
  /** Runs a claimed invoice, which occupies places of its lane until the run ends. */
  readonly run: (claim: Claim) => Promise<void>;
  /**
   * Whether this process is answering clients now.
   * @param beside a tenant whose clients do not count, as of `tenantOfSlot`
   */
  readonly isAnswering: (beside?: number) => boolean;
  readonly report: (message: string, error: unknown) => void;
  /** Pause between two searches of a cold lane that is not woken, milliseconds; default 1000. */
  readonly coldMs?: number;
}

/** The counts of this process's claims, which show their cost. */
export interface ClaimCounts {
  /** Number of due invoices found. */
  readonly found: number;
  /** Number of due invoices that this process claimed. Other workers claimed the rest first. */
  readonly claimed: number;
}

/** Claims due invoices and runs them. */
export interface Claimer {
  start(): void;
  /**
   * Searches for due work of the lane in these partitions immediately.
   * @returns false if they belong to another worker
   */
  wake(lane: Lane, partitions: PartitionRange): boolean;
  counts(): ClaimCounts;
  /**
   * Begins no further invoice, releases the claims of invoices not begun, and waits up to `timeoutMs` for running ones.
   */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Finds the due invoices of each lane in the worker's range of partitions and claims as many as there are free places,
 * many at once.
 * Fairness: slots take turns with a few invoices each, so that a tenant waits for a turn of the others and not for
 * their backlogs. A tenant leaves some places to others, so that their invoices begin immediately despite its burst.
 * While this process answers clients of others, a tenant with a backlog rests between its turns (docs/decisions/0100).
 * Pauses: while a lane finds work, it searches again as soon as a quarter of its places is free. Otherwise it searches
 * after 20 ms, and then at growing intervals, up to a second. So a lost wake or a dead worker delays work by at most a
 * second after the work is due or the lease has ended. If the owner of a range is dead or too slow, other workers with
 * free places claim their shares of its late work.
 * Idle work is claimed one at a time while there is no other work. A busy process claims it after ten minutes, and then
 * rests for as long as it took (docs/decisions/0046).
 */
export function createClaimer(parts: ClaimerParts): Claimer {
  const { invoices, ranges, run, isAnswering, report, coldMs = COLD_MS } = parts;
  let isStopped = false;
  let found = 0;
  let claimed = 0;
  /** Number of runs of work that is not idle, and the time when the last one ended. */
  let busy = 0;
  let busyUntil = performance.now();
  const lanes = new Map(parts.lanes.map((lane) => [lane, createLane(lane)]));

  /** Whether some of these partitions are in the worker's range. */
  function isOwn({ from, until }: PartitionRange): boolean {
    const own = ranges.own();
    return !isStopped && from < own.until && until > own.from;
  }

  /** Claims invoices. If the claimer was stopped meanwhile, releases all claims. */
  async function claim(lane: Lane, candidates: readonly DueInvoice[]): Promise<Claim[]> {
    if (candidates.length === 0 || isStopped) return [];
    const claims = await invoices.claimMany(
      lane,
      candidates.map(({ invoiceId }) => invoiceId),
      LEASE_MS,
    );
    found += candidates.length;
    claimed += claims.length;
    if (!isStopped) return claims;
    if (claims.length > 0) await invoices.release(claims);
    return [];
  }

  async function besides(work: () => Promise<void>): Promise<void> {
    busy++;
    try {
      await work();
    } finally {
      busy--;
      busyUntil = performance.now();
    }
  }

  /** Whether this process has had no work for a while. */
  function isQuiet(): boolean {
    return busy === 0 && performance.now() - busyUntil >= QUIET_MS;
  }

  function createLane(lane: Lane) {
    const gate = parts.gates?.[lane] ?? fixedGate(lane, isAnswering);
    /** Number of invoices of one slot that are claimed in its turn. */
    const ofASlot = () => Math.max(1, Math.floor(gate.places() * A_TURN));
    /**
     * Number of places that a tenant leaves to others now; 0 with a gate, whose places may be few and must not stay
     * free.
     */
    const leftToOthers = () => (parts.gates?.[lane] || gate.places() < 4 * LEFT_TO_OTHERS ? 0 : LEFT_TO_OTHERS);
    /** The runs by the ids of their invoices. */
    const running = new Map<string, { readonly ended: Promise<void>; readonly tenant: number }>();
    /** The slot at which the next search begins. */
    let position = Math.floor(Math.random() * PARTITIONS);
    /** Whether there may be more work that the last search could have taken. */
    let hasMore = false;
    /** The tenants whose invoices the last search left out, because they occupy as many places as they may. */
    let heldBack: ReadonlySet<number> = new Set();
    const rests = createTenantRests(isAnswering);
    /** Number of successive searches that found nothing, and of those that found nothing in the worker's range. */
    let empty = 0;
    let emptyOwn = 0;
    let lookedAt = Number.NEGATIVE_INFINITY;
    let lookedForLateAt = Number.NEGATIVE_INFINITY;
    /** No search before this time. */
    let restUntil = Number.NEGATIVE_INFINITY;
    let looking: Promise<void> | null = null;
    let timer: NodeJS.Timeout | null = null;
    let timerAt = Number.POSITIVE_INFINITY;

    const free = () => gate.free(running.size);

    /**
     * Returns up to `limit` due invoices from `position` on, once around the range: at most `ofASlot` of each slot. If
     * too few slots have due work to fill the places, returns more of those found. Takes at most two queries, and one
     * for each slot.
     */
    async function search(
      { from, until }: PartitionRange,
      limit: number,
      lateMs: number,
      { admit, isFull }: TenantLimit,
    ): Promise<DueInvoice[]> {
      const start = position >= from && position < until ? position : from;
      const candidates: DueInvoice[] = [];
      const others: DueInvoice[] = [];
      hasMore = false;
      let part = { from: start, until };
      for (let wrapped = start === from; candidates.length < limit; ) {
        const wanted = limit - candidates.length;
        const next = part.from < part.until ? await invoices.due(lane, part, wanted, lateMs) : [];
        const taken = new Set(ofEachSlot(next, ofASlot()).filter(admit));
        candidates.push(...taken);
        others.push(...next.filter((each) => !taken.has(each)));
        const last = next.at(-1);
        // If the last invoice's tenant occupies all its places, there is no more to take.
        hasMore ||= next.length === wanted && !isFull(last as DueInvoice);
        if (last && next.length === wanted) {
          position = slotAfter(last.slot);
          part = { from: position, until: part.until };
        } else if (wrapped) {
          for (const each of inTurns(others)) if (candidates.length < limit && admit(each)) candidates.push(each);
          break;
        } else {
          wrapped = true;
          part = { from, until: start };
        }
      }
      hasMore ||= others.some((each) => !isFull(each) && !candidates.includes(each));
      // The next search begins after the last turn. If nothing is left, it needs one query for the whole range.
      position = hasMore ? slotAfter(candidates.at(-1)?.slot ?? from) : from;
      return candidates;
    }

    /**
     * Returns the worker's share of the late work outside of its range, from a random partition on; nothing if its
     * range has all partitions. Without shares, all workers with free places would find the same invoices.
     * @param isWorkless whether the worker has no work of its own: then it searches again immediately while it finds
     *   some
     */
    async function searchLate(
      own: PartitionRange,
      limit: number,
      lateMs: number,
      isWorkless: boolean,
      { admit }: TenantLimit,
    ): Promise<DueInvoice[]> {
      const now = performance.now();
      if (own.until - own.from === PARTITIONS || now - lookedForLateAt < LATE_LOOK_MS) return [];
      let late: DueInvoice[] = [];
      // Due work in the worker's own range has just been found.
      for (const part of partsOutside(own, Math.floor(Math.random() * PARTITIONS)))
        if (late.length === 0)
          late = await invoices.due(lane, part, LATE_CHOICE, Math.max(isWorkless ? LATE_MS : VERY_LATE_MS, lateMs));
      lookedForLateAt = isWorkless && late.length > 0 ? Number.NEGATIVE_INFINITY : now;
      const turn = Math.floor(Date.now() / LATE_MS);
      const share = late.filter(({ invoiceId }) => isLateShare(invoiceId, own, turn));
      return ofEachSlot(share, ofASlot()).filter(admit).slice(0, limit);
    }

    async function look(): Promise<void> {
      const limit = free();
      // Clients have connected since the search was planned.
      if (limit <= 0) {
        hasMore = true;
        return;
      }
      const own = ranges.own();
      const mustWait = lane === 'idle' && !isQuiet();
      const lateMs = mustWait ? IDLE_LATE_MS : 0;
      const left = leftToOthers();
      const tenants = limitTenants(
        [...running.values()].map(({ tenant }) => tenant),
        (tenant) => (left === 0 ? Number.POSITIVE_INFINITY : rests.rests(tenant) ? 0 : gate.places() - left),
      );
      heldBack = tenants.refused;
      const candidates = await search(own, limit, lateMs, tenants);
      if (left > 0) rests.note(tenants.refused);
      emptyOwn = candidates.length > 0 ? 0 : emptyOwn + 1;
      // Not immediately: the owner may be about to finish, too, and both would claim its last invoices.
      const isWorkless = emptyOwn >= COLD_LOOKS;
      // Also with work of its own: another owner may be slower for as long as this worker has free places.
      if (isWorkless || (emptyOwn === 0 && candidates.length < limit))
        candidates.push(...(await searchLate(own, limit - candidates.length, lateMs, isWorkless, tenants)));
      if (candidates.length === 0) {
        empty++;
        return;
      }
      // Other work may have begun during the search.
      if (lane === 'idle' && !mustWait && !isQuiet()) return;
      // If a run's lease expired while the process was stalled, the run continues and renews its lease.
      const others = candidates.filter(({ invoiceId }) => !running.has(invoiceId));
      const reserved = await reserve(others);
      // The gate was closed during the search. It notifies of its next opening.
      if (reserved.length === 0 && others.length > 0) hasMore = false;
      const claims = await claim(lane, reserved).catch((error: unknown) => {
        for (const { invoiceId } of reserved) gate.cancel(invoiceId);
        throw error;
      });
      const taken = new Set(claims.map(({ invoice }) => invoice.id));
      for (const { invoiceId } of reserved) if (!taken.has(invoiceId)) gate.cancel(invoiceId);
      beginAll(claims, mustWait, new Map(reserved.map(({ invoiceId, slot }) => [invoiceId, tenantOfSlot(slot)])));
      empty = 0;
    }

    /** Reserves places for the first of these invoices, for as many as there are places. */
    async function reserve(candidates: readonly DueInvoice[]): Promise<DueInvoice[]> {
      const reserved: DueInvoice[] = [];
      for (const each of candidates) {
        if (!(await gate.reserve(each.invoiceId))) break;
        reserved.push(each);
      }
      return reserved;
    }

    /**
     * Occupies places for all claims at once, but begins each in its own turn of the event loop, so that answers to
     * clients come first.
     */
    function beginAll(claims: readonly Claim[], isRestAfter: boolean, tenants: ReadonlyMap<string, number>): void {
      let turn = Promise.resolve();
      for (const each of claims) {
        const mine = turn.then(nextTurn);
        turn = mine;
        const work = async (): Promise<void> => {
          await mine;
          const begun = performance.now();
          await (isStopped ? invoices.release([each]) : run(each));
          if (isRestAfter) restUntil = 2 * performance.now() - begun;
        };
        begin(work, each.invoice.id, tenants.get(each.invoice.id) ?? 0);
      }
    }

    function begin(work: () => Promise<void>, invoiceId: string, tenant: number): void {
      const ended = (lane === 'idle' ? work() : besides(work))
        .catch((error: unknown) => report(`the run of ${invoiceId} in the lane ${lane} failed`, error))
        .finally(() => {
          gate.cancel(invoiceId);
          running.delete(invoiceId);
          hasMore ||= heldBack.has(tenant) && !rests.rests(tenant);
          if (hasMore) plan();
        });
      running.set(invoiceId, { ended, tenant });
    }

    /** Plans the next search, unless an earlier one is planned. @param soonMs maximum delay */
    function plan(soonMs = Number.POSITIVE_INFINITY): void {
      if (looking || isStopped) return;
      // The end of a run plans the next search.
      if (free() <= 0) {
        hasMore = true;
        return;
      }
      const now = performance.now();
      // Places that are left to others do not count. Otherwise the searches of a burst would follow one another without
      // a pause.
      const room = free() - (heldBack.size > 0 ? leftToOthers() : 0);
      const isRoomy = room >= Math.ceil(gate.places() / 4);
      const pauseOfEmpty = lane === 'idle' || empty >= COLD_LOOKS ? coldMs : HOT_MS * 2 ** empty;
      const pause = hasMore ? (isRoomy ? 0 : HOT_MS) : pauseOfEmpty;
      const at = Math.min(now + soonMs, rests.nextEnd(now), Math.max(now, lookedAt + pause, restUntil));
      if (timer && timerAt <= at) return;
      if (timer) clearTimeout(timer);
      timerAt = at;
      // Not `every` of the kit: the time of the next search depends on what the last one found.
      timer = setTimeout(tick, at - now);
    }

    function tick(): void {
      timer = null;
      if (performance.now() - timerAt > STALL_MS) busyUntil = performance.now();
      looking = look()
        .catch((error: unknown) => {
          // Otherwise a lane with a backlog would search again immediately, as long as the store refuses.
          hasMore = false;
          empty++;
          report(`due invoices of the lane ${lane} could not be claimed`, error);
        })
        .finally(() => {
          looking = null;
          lookedAt = performance.now();
          plan();
        });
    }

    gate.onChange(() => plan());
    return {
      plan,
      wake({ from, until }: PartitionRange) {
        // More work of a tenant that was held back: it begins when one of the tenant's runs ends.
        if (until <= slotAfter(from) && heldBack.has(tenantOfSlot(from))) return;
        empty = 0;
        plan();
      },
      async end(): Promise<void> {
        if (timer) clearTimeout(timer);
        await looking;
        await Promise.all([...running.values()].map(({ ended }) => ended));
      },
    };
  }

  return {
    start() {
      for (const lane of lanes.values()) lane.plan(0);
    },
    wake(lane, partitions) {
      const own = isOwn(partitions) ? lanes.get(lane) : undefined;
      own?.wake(partitions);
      return own !== undefined;
    },
    counts: () => ({ found, claimed }),
    async stop(timeoutMs) {
      isStopped = true;
      await within(timeoutMs, Promise.all([...lanes.values()].map((lane) => lane.end())));
    },
  };
}

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
