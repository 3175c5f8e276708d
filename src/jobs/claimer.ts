import { setTimeout as sleep } from 'node:timers/promises';
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
import type { ClaimRanges } from './claim-ranges.ts';
import { fixedGate } from './fixed-gate.ts';
import { inTurns, limitTenants, ofEachSlot, partsOutside, type TenantLimit } from './slot-turns.ts';
import { createTenantRests } from './tenant-rests.ts';

/** Shortest time between two looks that find nothing, milliseconds. */
const HOT_MS = 20;
/** Time between two looks of a cold lane, milliseconds. */
const COLD_MS = 1000;
/** Number of looks that find nothing until a lane is cold: the pauses double from the shortest to the longest. */
export const COLD_LOOKS = Math.ceil(Math.log2(COLD_MS / HOT_MS));
/**
 * Part of a lane's places that one slot may take in its turn, at least one: a round of all tenants that have a backlog
 * of PDFs then takes as long as with one PDF of each.
 */
const A_TURN = 1 / 8;
/**
 * Number of places of a lane that a single tenant leaves to others, in a lane that has at least four times as many: a
 * few invoices of another tenant begin at once, and need not wait until some of its burst have ended.
 */
const LEFT_TO_OTHERS = 8;
/** A worker takes up work outside of its range too when the work has been due for this long, milliseconds. */
const LATE_MS = 3000;
/** The same for a worker with work of its own. In a burst of all, their owners come to it sooner. */
const VERY_LATE_MS = 10_000;
/** Number of late invoices of which a worker takes its share. */
const LATE_CHOICE = 128;
/** Pause of a worker between two looks outside of its range, milliseconds; none while it finds something and has no own work. */
const LATE_LOOK_MS = 2000;
/** The process is idle when it has run no invoice for this long, milliseconds. */
const QUIET_MS = 1000;
/** A timer that comes later than this shows that the process or its machine has other work, milliseconds. */
const STALL_MS = 100;
/** A PDF that nobody waits for is drawn in a busy process too when it has waited for this long, milliseconds. */
const IDLE_LATE_MS = 10 * 60_000;

export interface ClaimerParts {
  readonly invoices: Pick<InvoiceClaims, 'due' | 'claimMany' | 'release'>;
  readonly ranges: Pick<ClaimRanges, 'own'>;
  /** The lanes that this worker can run. */
  readonly lanes: readonly Lane[];
  /** The lanes whose places are not a fixed number. */
  readonly gates?: Partial<Readonly<Record<Lane, LaneGate>>>;
  /** Runs a claimed invoice; it takes places of its lane until it ends. */
  readonly run: (claim: Claim) => Promise<void>;
  /** Whether this process answers clients at the moment. @param beside those of this tenant do not count; as `tenantOfSlot` */
  readonly isAnswering: (beside?: number) => boolean;
  readonly report: (message: string, error: unknown) => void;
  /** Time between two looks of a cold lane that nobody wakes, milliseconds; default 1000. */
  readonly coldMs?: number;
}

/** The counts of this process's claims, which show what they cost. */
export interface ClaimCounts {
  /** Due invoices that were found. */
  readonly found: number;
  /** Due invoices that this process claimed. Another worker was quicker with the others. */
  readonly claimed: number;
}

/** Takes up due invoices. */
export interface Claimer {
  start(): void;
  /** Looks for due work of the lane in these partitions at once. @returns false if another worker does it */
  wake(lane: Lane, partitions: PartitionRange): boolean;
  counts(): ClaimCounts;
  /** Begins no further invoice, hands back what was claimed but not begun, and waits up to `timeoutMs` for the others. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Finds the due invoices of each lane in the worker's range of partitions and claims as many as there are free places,
 * many at once. Each slot in turn gives a few, so that a tenant waits for a turn of the others and not for their
 * backlogs. A tenant leaves some places to others, so that their invoices begin at once behind its burst. While this
 * process answers others' clients, a tenant with a backlog rests between its turns (docs/decisions/0100). While work is
 * found, a lane looks again as soon as a quarter of its places is free; otherwise after 20 ms, then less and less often,
 * up to a second. A lost wake or a dead worker therefore costs a second after the work is due or the lease has ended; if
 * the owner of the range does not come, or is slower than its work comes, others with free places take up their shares
 * of the work when it is late. Idle work is taken up one at a time while there is nothing else; in a busy process after
 * ten minutes, with a rest after each for as long as it took (docs/decisions/0046).
 */
export function createClaimer(parts: ClaimerParts): Claimer {
  const { invoices, ranges, run, isAnswering, report, coldMs = COLD_MS } = parts;
  let isStopped = false;
  let found = 0;
  let claimed = 0;
  /** Runs other than those of idle work, and when the last one ended. */
  let busy = 0;
  let busyUntil = performance.now();
  const lanes = new Map(parts.lanes.map((lane) => [lane, createLane(lane)]));

  /** Whether this claimer looks into some of these partitions. */
  function isOwn({ from, until }: PartitionRange): boolean {
    const own = ranges.own();
    return !isStopped && from < own.until && until > own.from;
  }

  /** Claims; if the claimer was stopped meanwhile, hands everything back. */
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

  /** Whether the process has had nothing to do for a while, as far as it knows. */
  function isQuiet(): boolean {
    return busy === 0 && performance.now() - busyUntil >= QUIET_MS;
  }

  function createLane(lane: Lane) {
    const gate = parts.gates?.[lane] ?? fixedGate(lane, isAnswering);
    /** Number of invoices of one slot that are claimed in its turn. */
    const ofASlot = () => Math.max(1, Math.floor(gate.places() * A_TURN));
    /** Number of places that a tenant leaves to others at present. A gate may have few for all, which none may idle. */
    const leftToOthers = () => (parts.gates?.[lane] || gate.places() < 4 * LEFT_TO_OTHERS ? 0 : LEFT_TO_OTHERS);
    /** The runs, by their invoices. */
    const running = new Map<string, { readonly ended: Promise<void>; readonly tenant: number }>();
    /** The slot at which the next look begins. */
    let position = Math.floor(Math.random() * PARTITIONS);
    /** Whether there may be more that the last look could have taken. */
    let hasMore = false;
    /** The tenants of which the last look left invoices out, because they have as many places as they may. */
    let heldBack: ReadonlySet<number> = new Set();
    const rests = createTenantRests(isAnswering);
    /** Looks in a row that found nothing, and looks in a row that found nothing in the worker's range. */
    let empty = 0;
    let emptyOwn = 0;
    let lookedAt = Number.NEGATIVE_INFINITY;
    let lookedForLateAt = Number.NEGATIVE_INFINITY;
    /** No look before. */
    let restUntil = Number.NEGATIVE_INFINITY;
    let looking: Promise<void> | null = null;
    let timer: NodeJS.Timeout | null = null;
    let timerAt = Number.POSITIVE_INFINITY;

    const free = () => gate.free(running.size);

    /**
     * Up to `limit` due invoices from `position` on, once round the range: at most `ofASlot` of a slot, and more of what
     * was found if the slots with due work are too few for the places. At most two queries, and one for each slot.
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
        // Of a tenant that may have no more, nothing is left to take.
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
      // The next look begins behind the last turn. If nothing is left, it needs one query for the whole range.
      position = hasMore ? slotAfter(candidates.at(-1)?.slot ?? from) : from;
      return candidates;
    }

    /**
     * The worker's share of the late work outside of its range, from a random partition on; nothing if the range has all
     * partitions. Without shares, all workers with free places would find the same invoices.
     * @param isWorkless whether the worker has no work of its own: then it looks again at once while it finds some
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
      // What is due in the worker's own range has just been found.
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
      // Clients have come since the look was planned.
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
      // Not at once, because the owner may be about to finish too, and both would meet at its last invoices.
      const isWorkless = emptyOwn >= COLD_LOOKS;
      // With work of its own, too: the owner of another range may be slower for as long as this worker has places.
      if (isWorkless || (emptyOwn === 0 && candidates.length < limit))
        candidates.push(...(await searchLate(own, limit - candidates.length, lateMs, isWorkless, tenants)));
      if (candidates.length === 0) {
        empty++;
        return;
      }
      // Other work may have begun during the search.
      if (lane === 'idle' && !mustWait && !isQuiet()) return;
      // A run whose lease has lapsed in a stall goes on, and its lease is renewed.
      const others = candidates.filter(({ invoiceId }) => !running.has(invoiceId));
      const reserved = await reserve(others);
      // The gate was shut during the search. It tells of its next opening.
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

    /** Takes places for the first of these invoices, for as many as there are places. */
    async function reserve(candidates: readonly DueInvoice[]): Promise<DueInvoice[]> {
      const reserved: DueInvoice[] = [];
      for (const each of candidates) {
        if (!(await gate.reserve(each.invoiceId))) break;
        reserved.push(each);
      }
      return reserved;
    }

    /** Takes places for all at once, but begins each in another turn of the event loop: answers to clients go before. */
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

    /** Plans the next look, unless an earlier one is planned. @param soonMs at the latest after this time */
    function plan(soonMs = Number.POSITIVE_INFINITY): void {
      if (looking || isStopped) return;
      // The end of a run plans it.
      if (free() <= 0) {
        hasMore = true;
        return;
      }
      const now = performance.now();
      // The places that are left to others do not count, or the looks of a burst would follow one another.
      const room = free() - (heldBack.size > 0 ? leftToOthers() : 0);
      const isRoomy = room >= Math.ceil(gate.places() / 4);
      const pauseOfEmpty = lane === 'idle' || empty >= COLD_LOOKS ? coldMs : HOT_MS * 2 ** empty;
      const pause = hasMore ? (isRoomy ? 0 : HOT_MS) : pauseOfEmpty;
      const at = Math.min(now + soonMs, rests.nextEnd(now), Math.max(now, lookedAt + pause, restUntil));
      if (timer && timerAt <= at) return;
      if (timer) clearTimeout(timer);
      timerAt = at;
      // Not `every` of the kit: when the next look is due depends on what the last one found.
      timer = setTimeout(tick, at - now);
    }

    function tick(): void {
      timer = null;
      if (performance.now() - timerAt > STALL_MS) busyUntil = performance.now();
      looking = look()
        .catch((error: unknown) => {
          // Otherwise a lane with a backlog would look again at once, for as long as the store refuses.
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
        // More of a tenant that was held back: the end of one of its runs makes room for it.
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
      const over = Promise.all([...lanes.values()].map((lane) => lane.end()));
      await Promise.race([over, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Resolves in the next turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
