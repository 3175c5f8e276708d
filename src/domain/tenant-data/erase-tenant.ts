import { setTimeout as sleep } from 'node:timers/promises';
import { LATER_STAGES, type Stage } from '../invoice/lifecycle.ts';
import { ENVIRONMENTS, type Environment, type Owner } from '../tenant/tenant.ts';
import type { ErasableInvoice, Erasure, ErasureStore, KeptInvoice } from './erasure.ts';

/** Number of documents in one step. */
const PIECE = 50;
/** Number of events and log records in one step. They are small, and removing them removes nothing else. */
const RECORDS = 200;
/** The pause after each step, as a multiple of the step's duration. It leaves the store to others most of the time. */
const PAUSE_TIMES = 2;
const PAUSE = { least: 5, most: 2000 } as const;
/**
 * How long a worker may still write documents of an invoice after its work was taken away, milliseconds. This is longer
 * than any lease. Documents stored in that time are found by their names.
 */
const SETTLE_MS = 15_000;
/**
 * How long a request that began with a key of the tenant, or a batch of events in a process's memory, may still write
 * data, milliseconds.
 */
const QUIET_MS = 60_000;
/** Number of tenants whose erasures a sweep reads at once. */
const TENANTS = 100;

/** The remaining work of an erasure. */
export interface ErasureState {
  /** Number of live invoices that the service must finish first. */
  readonly underWay: number;
  /** Whether everything that must be erased is gone. */
  readonly isDone: boolean;
}

export interface EraseParts {
  readonly store: ErasureStore;
  /** Number of years, after the year of its issue, for which a live invoice's documents are kept. */
  readonly retentionYears: number;
  /** Whether no other process uses the store, so that nothing is written meanwhile. */
  readonly alone: boolean;
  readonly now: () => Date;
  /** Returns the current year in Morocco. */
  readonly year: () => number;
  readonly pause?: (ms: number) => Promise<void>;
  /** Ends the erasure after the current step. */
  readonly signal?: AbortSignal;
}

const isLater = (stage: Stage): boolean => (LATER_STAGES as readonly Stage[]).includes(stage);

type Fate = 'remove' | 'keep' | 'detach' | 'withhold' | 'settling' | 'under way';

/**
 * Decides what must happen to an invoice now.
 *
 * - A test invoice is removed. If a worker has it, the worker is cut off first.
 * - A live invoice that is undecided, or whose receipt has not been fetched, is finished: the authority may hold it
 *   already, and its number is taken. From now on no reader sees it.
 * - A live invoice that is decided gets no PDF and no mail any more. It is kept if it was issued.
 */
export function fateOf(
  { isDecided, stage, withheldAt, isIssued }: ErasableInvoice,
  environment: Environment,
  settledBefore: Date,
): Fate {
  const isFinished = environment === 'test' || (isDecided && (stage === null || isLater(stage)));
  if (!isFinished) return withheldAt === null ? 'withhold' : 'under way';
  if (stage !== null) return 'detach';
  if (withheldAt !== null && withheldAt > settledBefore) return 'settling';
  return environment === 'live' && isIssued ? 'keep' : 'remove';
}

/** Creates the erasure of tenants, in small steps with pauses (docs/decisions/0072). */
export function createEraseTenant(parts: EraseParts) {
  const { store, alone, now, signal, retentionYears } = parts;
  const { pause = async (ms) => void (await sleep(ms, undefined, signal && { signal })) } = parts;

  async function piece<T>(work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const start = performance.now();
    const result = await work();
    const took = performance.now() - start;
    await pause(Math.min(PAUSE.most, Math.max(PAUSE.least, took * PAUSE_TIMES)));
    return result;
  }

  async function all(work: (limit: number) => Promise<number>, limit = PIECE): Promise<number> {
    let sum = 0;
    for (;;) {
      const done = await piece(() => work(limit));
      sum += done;
      if (done === 0) return sum;
    }
  }

  /** Reads each invoice once and does what its fate requires. @returns how many there are of each fate */
  async function invoicesOf(owner: Owner): Promise<Record<Fate, number>> {
    const sums = { remove: 0, keep: 0, detach: 0, withhold: 0, settling: 0, 'under way': 0 };
    let before: string | null = null;
    for (;;) {
      const found: ErasableInvoice[] = await piece(() => store.invoices(owner, before, PIECE));
      const last = found.at(-1);
      if (last === undefined) return sums;
      const settledBefore = new Date(now().getTime() - (alone ? 0 : SETTLE_MS));
      const fates = Map.groupBy(found, (invoice) => fateOf(invoice, owner.environment, settledBefore));
      const idsOf = (fate: Fate) => (fates.get(fate) ?? []).map(({ id }) => id);
      for (const [fate, each] of fates) sums[fate] += each.length;
      const stages = owner.environment === 'test' ? null : LATER_STAGES;
      const steps: Partial<Record<Fate, (ids: string[]) => Promise<void>>> = {
        withhold: (ids) => store.withhold(ids, now()),
        detach: (ids) => store.detach(ids, stages, now()),
        keep: (ids) => store.keepLegal(ids, retentionYears),
        remove: (ids) => store.removeInvoices(owner, ids),
      };
      for (const [fate, step] of Object.entries(steps)) {
        const ids = idsOf(fate as Fate);
        if (ids.length > 0) await piece(() => step(ids));
      }
      before = last.order;
    }
  }

  /** Does what can be done now. @returns whether anything was done or must wait to settle, and what is under way */
  async function pass(tenantId: string, say: (what: string) => void) {
    let done = 0;
    say('people, webhook endpoints');
    done += await all((limit) => store.removePeople(tenantId, limit));
    done += await all((limit) => store.removeEndpoints(tenantId, limit));
    let [settling, underWay] = [0, 0];
    for (const environment of ENVIRONMENTS) {
      say(`${environment} invoices`);
      const sums = await invoicesOf({ tenantId, environment });
      done += sums.remove + sums.keep + sums.withhold;
      settling += sums.detach + sums.settling;
      underWay += sums.withhold + sums['under way'];
    }
    done += await all((limit) => store.removePdfs(tenantId, limit));
    say('deliveries, events, logs');
    done += await all((limit) => store.removeDeliveries(tenantId, limit));
    done += await all((limit) => store.removeRecords(tenantId, limit), RECORDS);
    if (settling === 0) done += await all((limit) => store.removeNumbers(tenantId, 'test', limit));
    return { done, settling, underWay };
  }

  /** Continues an erasure. @param isPatient whether to wait for what must settle */
  async function goOn({ tenantId, since }: Erasure, isPatient: boolean, say: (what: string) => void) {
    for (;;) {
      // A single pass may miss data that is written after it started.
      const isQuiet = alone || now().getTime() - since.getTime() >= QUIET_MS;
      const { done, settling, underWay } = await pass(tenantId, say);
      if (settling > 0 && isPatient) {
        say('waiting for workers');
        await pause(alone ? 0 : SETTLE_MS / 3);
      } else if (done === 0 || settling > 0) {
        const isDone = isQuiet && settling + underWay === 0;
        if (isDone) {
          await store.removeLogos(tenantId);
          await store.finish(tenantId);
        }
        return { underWay, isDone };
      }
    }
  }

  return {
    /**
     * Erases a tenant as far as possible now. It may be repeated: after a crash it continues where it stopped.
     * @param say called with a description of each step
     * @returns null if there is no such tenant
     */
    async erase(tenantId: string, say: (what: string) => void): Promise<ErasureState | null> {
      const begun = await store.begin(tenantId, now());
      return begun && goOn(begun, true, say);
    },
    /**
     * Continues pending erasures, and removes legal documents whose retention period is over.
     * @param sayExpired called with the invoices before their documents are removed
     */
    async sweep(sayExpired: (expired: readonly KeptInvoice[]) => void): Promise<void> {
      await all(async (limit) => {
        const expired = await store.expired({ year: parts.year(), retentionYears }, limit);
        if (expired.length > 0) {
          sayExpired(expired);
          await store.removeExpired(expired.map(({ id }) => id));
        }
        return expired.length;
      });
      let found: Erasure[] = [];
      do {
        found = await store.pending(found.at(-1)?.tenantId ?? null, TENANTS);
        for (const each of found) await goOn(each, false, () => undefined);
      } while (found.length === TENANTS);
    },
  };
}
