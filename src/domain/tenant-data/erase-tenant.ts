import { setTimeout as sleep } from 'node:timers/promises';
import { LATER_STAGES, type Stage } from '../invoice/lifecycle.ts';
import { ENVIRONMENTS, type Environment, type Owner } from '../tenant/tenant.ts';
import type { ErasableInvoice, Erasure, ErasureStore, KeptInvoice } from './erasure.ts';

/** Documents in one piece of work. */
const PIECE = 50;
/** Events and records of the logs in one piece: they are small, and nothing else goes with them. */
const RECORDS = 200;
/** After each piece comes a pause of this many times its duration, so that others have the store most of the time. */
const PAUSE_TIMES = 2;
const PAUSE = { least: 5, most: 2000 } as const;
/**
 * How long a worker may still write documents of an invoice after its work was taken away, milliseconds: longer than any
 * lease. Documents that it stores then are found by their names.
 */
const SETTLE_MS = 15_000;
/**
 * How long a request that began with a key of the tenant, or a batch of events in the memory of a process, may still write
 * something, milliseconds.
 */
const QUIET_MS = 60_000;
/** Tenants whose erasures a sweep reads at once. */
const TENANTS = 100;

/** The work of an erasure that remains. */
export interface ErasureState {
  /** Live invoices that the service finishes first. */
  readonly underWay: number;
  /** Whether everything is gone that has to go. */
  readonly isDone: boolean;
}

export interface EraseParts {
  readonly store: ErasureStore;
  /** Years after that of its issue in which a live invoice's documents are kept. */
  readonly retentionYears: number;
  /** Whether no other process uses the store, so that nothing is written meanwhile. */
  readonly alone: boolean;
  readonly now: () => Date;
  /** The present year in Morocco. */
  readonly year: () => number;
  readonly pause?: (ms: number) => Promise<void>;
  /** Ends the work after the piece that is under way. */
  readonly signal?: AbortSignal;
}

const isLater = (stage: Stage): boolean => (LATER_STAGES as readonly Stage[]).includes(stage);

type Fate = 'remove' | 'keep' | 'detach' | 'withhold' | 'settling' | 'under way';

/**
 * The present fate of an invoice.
 *
 * - An invoice of the test environment is removed. A worker that has the invoice is first cut off.
 * - A live invoice that is not decided, or whose receipt is to come, is finished: the authority may hold it already,
 *   and its number is taken. Nobody reads it from now on.
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

/** Erases tenants in small pieces with pauses (docs/decisions/0072). */
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

  /** One look at each invoice. @returns how many there are of each fate */
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

  /** Does what can be done now. @returns whether anything was done or has to settle, and what is under way */
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

  /** @param isPatient whether to wait for what has to settle */
  async function goOn({ tenantId, since }: Erasure, isPatient: boolean, say: (what: string) => void) {
    for (;;) {
      // A pass may miss data that is written after it began.
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
     * Erases a tenant as far as that is possible now, and may be repeated: after a crash it goes on where it was.
     * @param say called with what is being done
     * @returns null if there is no such tenant
     */
    async erase(tenantId: string, say: (what: string) => void): Promise<ErasureState | null> {
      const begun = await store.begin(tenantId, now());
      return begun && goOn(begun, true, say);
    },
    /**
     * Goes on with what is pending, and removes legal documents whose time has passed.
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
