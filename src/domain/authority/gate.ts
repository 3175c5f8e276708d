import {
  type Beginning,
  type BreakerState,
  beginning,
  concluded,
  confirmed,
  countedFailures,
  failed,
  LONGEST_WAIT_MS,
  probeClaimed,
  probed,
  succeeded,
  trialClaimed,
  trialReleased,
} from './breaker.ts';
import { type Authority, NOT_HELD, type SubmitAnswer } from './ports.ts';
import type { AuthorityState, AuthorityStateStore } from './state.ts';
import { countWorkers } from './workers.ts';

/** Decides when an invoice may go to the authority, and which failures count as its attempts. */
export interface Gate {
  /** Lets an invoice in. @returns null if it must wait: the breaker, a pause, no free place, or others who wait */
  enter(invoiceId: string): Promise<Pass | null>;
  /** Called when an invoice was parked, for the dispatcher to take it. */
  parked(): void;
  /** Whether nothing is sent at the moment: the breaker is open, or an operator paused the transmission. */
  isShut(): boolean;
  /** How long a look-up outside of {@link enter} must wait, in milliseconds; 0 if it may go. */
  lookUpWait(): number;
  /** Notes a failed look-up. Probes the authority, and opens the breaker if that fails too. */
  lookUpFailed(retryAfterMs: number | null): Promise<void>;
  /** The failures that no outage excuses, by the latest known state. */
  counted(failures: readonly number[]): readonly number[];
  /**
   * Decides, by the newest state, that an invoice has failed for good. Afterwards no outage can excuse its failures.
   * @returns false if fewer than `attempts` of them count
   */
  conclude(failures: readonly number[], attempts: number): Promise<boolean>;
}

/** An invoice's place at the authority. */
export interface Pass {
  /**
   * Notes the answer to a submission. A failure is confirmed by a probe before this returns.
   * @returns the number of the failure; null if it was none, or counts no attempt because of an outage
   */
  submitted(answer: SubmitAnswer): Promise<number | null>;
  /** Notes that a look-up proved that the authority holds the document. */
  found(): Promise<void>;
  lookUpFailed(retryAfterMs: number | null): Promise<void>;
  /** Frees the place. Never throws; further calls have no effect. */
  leave(): void;
}

/** The gate of an authority that is never away: of the mock. */
export const OPEN_GATE: Gate = {
  enter: async () => ({
    submitted: async (answer) => (isFailure(answer) ? 0 : null),
    found: async () => undefined,
    lookUpFailed: async () => undefined,
    leave: () => undefined,
  }),
  parked: () => undefined,
  isShut: () => false,
  lookUpWait: () => 0,
  lookUpFailed: async () => undefined,
  counted: (failures) => failures,
  conclude: async (failures, attempts) => failures.length >= attempts,
};

/** The gate of the live authority, with what its dispatcher needs. */
export interface LiveGate extends Gate {
  /** Reads the shared state and sends a heartbeat if one is due. @throws what the store throws */
  refresh(): Promise<void>;
  /** Makes the due probe of an open breaker, unless another process does. @throws what the store throws */
  probe(): Promise<void>;
  /** Takes a place for an invoice that waits; {@link enter} finds it. @returns false if there is none */
  reserve(invoiceId: string): Promise<boolean>;
  /** Frees a reserved place that was not used. */
  cancel(invoiceId: string): void;
  /** States whether invoices wait in the store: then new ones queue behind them. */
  setWaiting(waiting: boolean): void;
  /** Places of this process: its share of the authority's limit. */
  places(): number;
  /** Calls `listener` whenever a place may have become free or an invoice was parked. */
  onChange(listener: () => void): void;
  /** Removes this worker's heartbeat. */
  close(): Promise<void>;
}

export interface GateParts {
  readonly store: AuthorityStateStore;
  readonly authority: Pick<Authority, 'probe' | 'capabilities'>;
  /** Maximum number of invoices at the authority at the same time, of all processes together. */
  readonly concurrency: number;
  /** The name of this process, unique, without dots and dollar signs. */
  readonly worker: string;
  readonly report: (event: BreakerReport) => void;
  /** Told of the number of live workers, this one included, which share the authority's limits. */
  readonly onWorkers?: (count: number) => void;
  readonly clock?: () => Date;
}

/** A log entry about the authority. */
export interface BreakerReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** Interval of heartbeats, milliseconds. */
const HEARTBEAT_MS = 5000;
/** How long a probe or a trial of this process may take before another process repeats it: longer than any call. */
const CALL_MS = 60_000;
/** How long everything waits after 429 without Retry-After, milliseconds. */
const RATE_LIMITED_MS = 1000;
/** How long look-ups of decisions wait while the authority is away, milliseconds. */
const LOOK_UP_PAUSE_MS = 30_000;
const MINUTE_MS = 60_000;
/**
 * How long an invoice waits in memory for a place, milliseconds, and how many may: where the authority is only busy, this
 * is cheaper than parking. The time is well below a shutdown's, and a stage's lease is renewed meanwhile.
 */
const PATIENCE_MS = 1000;
const MOST_PATIENT = 32;

function isFailure(answer: SubmitAnswer): boolean {
  return answer.kind === 'unknown' || (answer.kind === 'not_held' && NOT_HELD[answer.reason].isFailure);
}

export function createGate(parts: GateParts): LiveGate {
  return new SharedGate(parts);
}

/** The shared state as this process last saw it, and this process's own places. */
class SharedGate implements LiveGate {
  readonly #parts: GateParts;
  readonly #clock: () => Date;
  readonly #workers = countWorkers();
  /** The passes of this process: the number of places in use. */
  readonly #passes = new Set<Pass>();
  readonly #reserved = new Map<string, Pass>();
  /** When the submissions of the last minute began, UNIX milliseconds. */
  #begun: number[] = [];
  #state: AuthorityState | null = null;
  #waiting = false;
  /** Called when a place becomes free, in the order of arrival. */
  readonly #patient: (() => void)[] = [];
  /** When this process alone may send again: the client holds calls back to stay within the limits. */
  #deferredUntil = 0;
  #heartbeatAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<string | null> | null = null;
  #listener: () => void = () => undefined;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? (() => new Date());
  }

  async refresh(): Promise<void> {
    const { store, worker } = this.#parts;
    const due = performance.now() - this.#heartbeatAt >= HEARTBEAT_MS;
    const state = await (due
      ? store.heartbeat({ id: worker, at: this.#clock(), inFlight: this.#passes.size })
      : store.read());
    if (due) this.#heartbeatAt = performance.now();
    this.#adopt(state);
    for (const { id, at } of this.#workers.seen(state.workers)) if (id !== worker) await store.forget(id, at);
    this.#parts.onWorkers?.(Math.max(1, this.#workers.live()));
  }

  async close(): Promise<void> {
    await this.#parts.store.forget(this.#parts.worker, null);
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  setWaiting(waiting: boolean): void {
    this.#waiting = waiting;
  }

  parked(): void {
    this.#waiting = true;
    this.#listener();
  }

  places(): number {
    return this.#share(Math.min(this.#parts.concurrency, this.#limits.concurrent));
  }

  async enter(invoiceId: string): Promise<Pass | null> {
    const reserved = this.#reserved.get(invoiceId);
    if (reserved) {
      this.#reserved.delete(invoiceId);
      return reserved;
    }
    if (this.#waiting) return null;
    const isBehind = this.#patient.length > 0;
    const pass = isBehind ? null : await this.#take(invoiceId);
    if (pass || !(isBehind || this.#isBusy()) || this.#patient.length >= MOST_PATIENT) return pass;
    return (await this.#placeFreed()) ? this.#take(invoiceId) : null;
  }

  /** Whether a place is all that is missing. */
  #isBusy(): boolean {
    const state = this.#state;
    const isOpen = state !== null && state.pause === null && state.breaker.phase === 'closed';
    return isOpen && this.#wait(state) === 0 && this.#passes.size >= this.places();
  }

  /** @returns false if no place became free in time */
  #placeFreed(): Promise<boolean> {
    return new Promise((resolve) => {
      const freed = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#patient.splice(this.#patient.indexOf(freed), 1);
        resolve(false);
      }, PATIENCE_MS);
      this.#patient.push(freed);
    });
  }

  async reserve(invoiceId: string): Promise<boolean> {
    const pass = await this.#take(invoiceId);
    if (pass) this.#reserved.set(invoiceId, pass);
    return pass !== null;
  }

  cancel(invoiceId: string): void {
    this.#reserved.get(invoiceId)?.leave();
    this.#reserved.delete(invoiceId);
  }

  isShut(): boolean {
    return this.#state === null || this.#state.breaker.phase === 'open' || this.#state.pause !== null;
  }

  lookUpWait(): number {
    const state = this.#state;
    if (state === null || state.pause !== null || state.breaker.phase === 'open') return LOOK_UP_PAUSE_MS;
    return this.#wait(state);
  }

  counted(failures: readonly number[]): readonly number[] {
    return this.#state ? countedFailures(this.#state.breaker, failures) : failures;
  }

  async conclude(failures: readonly number[], attempts: number): Promise<boolean> {
    return this.#update((state) => {
      const next = concluded(state, failures, attempts);
      return { next, result: next !== null };
    });
  }

  async lookUpFailed(retryAfterMs: number | null): Promise<void> {
    await this.#confirm(null, retryAfterMs);
  }

  async probe(): Promise<void> {
    const state = this.#state;
    if (state === null || state.pause !== null || state.breaker.phase !== 'open') return;
    const claimed = await this.#update((breaker) => {
      const next = probeClaimed(breaker, this.#clock(), CALL_MS);
      return { next, result: next !== null };
    });
    if (!claimed) return;
    const trouble = await this.#probeOnce();
    await this.#update((breaker) => ({ next: probed(breaker, this.#clock(), trouble === null), result: null }));
    const { probe } = this.#state?.breaker ?? {};
    const facts = { probes: probe?.failed ?? 0, nextAt: probe?.dueAt ?? null, reason: trouble };
    if (trouble !== null) this.#report('warn', 'the tax authority is still away', facts);
    else this.#report('info', 'the tax authority answers a probe; one invoice is sent', {});
    this.#listener();
  }

  get #limits() {
    return this.#parts.authority.capabilities().limits;
  }

  /** This process's share of a limit: at least 1. */
  #share(limit: number): number {
    return Math.max(1, Math.floor(limit / Math.max(1, this.#workers.live())));
  }

  /** How long the authority's own limits hold everything back, milliseconds. */
  #wait({ notBefore }: AuthorityState): number {
    const now = this.#clock().getTime();
    const waits = [(notBefore?.getTime() ?? 0) - now, this.#deferredUntil - now];
    // A wait that is too long comes from a clock that was set back.
    return Math.max(0, ...waits.filter((wait) => wait <= LONGEST_WAIT_MS));
  }

  #rateIsFree(): boolean {
    const limit = this.#limits.submissionsPerMinute;
    if (!Number.isFinite(limit)) return true;
    const now = this.#clock().getTime();
    this.#begun = this.#begun.filter((at) => at > now - MINUTE_MS && at <= now);
    return this.#begun.length < this.#share(limit);
  }

  async #take(invoiceId: string): Promise<Pass | null> {
    const state = this.#state;
    if (state === null || state.pause !== null || state.breaker.phase === 'open') return null;
    if (this.#wait(state) > 0 || this.#passes.size >= this.places() || !this.#rateIsFree()) return null;
    const isTrial = state.breaker.phase === 'half_open';
    const pass = this.#pass(invoiceId, beginning(state.breaker, isTrial));
    this.#passes.add(pass);
    if (!isTrial) return pass;
    const claimed = await this.#update((breaker) => {
      const next = trialClaimed(breaker, this.#clock(), CALL_MS);
      return { next, result: next !== null };
    }).catch((error: unknown) => {
      this.#passes.delete(pass);
      throw error;
    });
    if (claimed) return pass;
    this.#passes.delete(pass);
    return null;
  }

  #pass(invoiceId: string, began: Beginning): Pass {
    if (Number.isFinite(this.#limits.submissionsPerMinute)) this.#begun.push(this.#clock().getTime());
    let isNoted = !began.isTrial;
    const answered = async () => {
      if (!isNoted || this.#state?.breaker.streak) {
        await this.#update((state) => ({ next: succeeded(state, began, this.#clock()), result: null }));
      }
      isNoted = true;
    };
    const pass: Pass = {
      submitted: async (answer) => {
        if (isFailure(answer)) {
          const { retryAfterMs } = answer as Extract<SubmitAnswer, { readonly retryAfterMs: unknown }>;
          const number = await this.#submissionFailed(invoiceId, began, retryAfterMs);
          isNoted = true;
          return number;
        }
        if (answer.kind === 'not_held') await this.#postpone(answer.reason === 'deferred', answer.retryAfterMs);
        else await answered();
        return null;
      },
      // A look-up proves nothing about submissions, so it ends a trial but no streak.
      found: async () => {
        if (!isNoted) await answered();
      },
      lookUpFailed: (retryAfterMs) => this.#confirm(null, retryAfterMs),
      leave: () => {
        if (!this.#passes.delete(pass)) return;
        if (!isNoted) void this.#releaseTrial();
        this.#patient.shift()?.();
        this.#listener();
      },
    };
    return pass;
  }

  async #submissionFailed(invoiceId: string, began: Beginning, retryAfterMs: number | null): Promise<number | null> {
    const at = this.#clock();
    const { number, excused } = await this.#update((state) => {
      const after = failed(state, { invoiceId, at, began, retryAfterMs });
      return { next: after.state, result: { number: after.state.lastFailure, excused: after.excused } };
    });
    if (excused) return null;
    await this.#confirm({ number, at }, retryAfterMs);
    return number;
  }

  /** Probes the authority after a failure, and opens the breaker if the probe fails too. */
  async #confirm(failure: { number: number; at: Date } | null, retryAfterMs: number | null): Promise<void> {
    if (this.#state?.breaker.phase === 'open') return;
    const reason = await this.#probeOnce();
    if (reason === null) return;
    const at = failure?.at ?? this.#clock();
    await this.#update((state) => ({
      next: confirmed(state, { at, number: failure?.number ?? null, retryAfterMs }),
      result: null,
    }));
  }

  /** Probes; concurrent callers share one probe. @returns null if the authority answers, otherwise why not */
  #probeOnce(): Promise<string | null> {
    this.#probing ??= this.#parts.authority
      .probe()
      .catch((error: unknown) => `the probe failed with an internal error: ${String(error)}`)
      .finally(() => {
        this.#probing = null;
      });
    return this.#probing;
  }

  async #postpone(isOurs: boolean, retryAfterMs: number | null): Promise<void> {
    const ms = Math.min(Math.max(retryAfterMs ?? RATE_LIMITED_MS, 1), LONGEST_WAIT_MS);
    const until = new Date(this.#clock().getTime() + ms);
    if (isOurs) {
      this.#deferredUntil = Math.max(this.#deferredUntil, until.getTime());
      return;
    }
    this.#report('warn', 'the tax authority limits the rate', { waitMs: ms });
    if (this.#state) this.#state = { ...this.#state, notBefore: until };
    await this.#parts.store.postpone(until);
  }

  async #releaseTrial(): Promise<void> {
    await this.#update((state) => ({ next: trialReleased(state), result: null })).catch(() => undefined);
    this.#listener();
  }

  async #update<Result>(
    transition: (state: BreakerState) => { next: BreakerState | null; result: Result },
  ): Promise<Result> {
    let change: readonly [BreakerState, BreakerState] | null = null;
    const { state, result } = await this.#parts.store.update((before) => {
      const { next, result } = transition(before);
      change = next ? [before, next] : null;
      return { next, result };
    });
    this.#adopt(state);
    if (change) this.#reportChange(...(change as readonly [BreakerState, BreakerState]));
    return result;
  }

  /** Takes over a state that was read, unless a later one of the breaker is known. */
  #adopt(state: AuthorityState): void {
    const known = this.#state;
    this.#state =
      known && known.version > state.version ? { ...state, version: known.version, breaker: known.breaker } : state;
  }

  #reportChange(before: BreakerState, after: BreakerState): void {
    if (before.phase === after.phase) return;
    const seconds = (since: Date | undefined) =>
      since ? Math.round((this.#clock().getTime() - since.getTime()) / 1000) : null;
    const outage = after.outages.at(-1);
    if (before.phase === 'closed') {
      const facts = { outage: after.opened, since: outage?.since ?? null, failures: before.streak?.failures ?? 0 };
      this.#report('error', 'the tax authority is away: invoices wait, and nothing is sent but probes', facts);
    } else if (after.phase === 'closed') {
      const facts = { outage: after.opened, seconds: seconds(outage?.since) };
      this.#report('info', 'the tax authority takes invoices again: waiting ones are sent', facts);
    } else if (before.phase === 'half_open') {
      const facts = { outage: after.opened, nextAt: after.probe?.dueAt ?? null };
      this.#report('warn', 'the invoice that was tried failed: the tax authority is still away', facts);
    }
  }

  #report(level: BreakerReport['level'], message: string, facts: Record<string, unknown>): void {
    this.#parts.report({ ...facts, level, message });
  }
}
