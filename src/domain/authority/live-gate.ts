import { MINUTE_MS } from '../durations.ts';
import { type Beginning, beginning, isAway, LONGEST_WAIT_MS, trialIsFree } from './breaker.ts';
import { type Gate, isFailure, type Pass } from './gate.ts';
import type { Authority, SubmitAnswer } from './ports.ts';
import { type BreakerReport, SharedBreaker } from './shared-breaker.ts';
import type { AuthorityState, AuthorityStateStore } from './state.ts';

/** The gate of the live authority, with what the lane of its transmissions needs. */
export interface LiveGate extends Gate {
  /** Reads the shared state. @throws what the store throws */
  refresh(): Promise<void>;
  /** Makes the due probe of an open breaker, unless another process does. @throws what the store throws */
  probe(): Promise<void>;
  /** Takes a place for an invoice that waits; {@link enter} finds it. @returns false if there is none */
  reserve(invoiceId: string): Promise<boolean>;
  /** Frees a reserved place that was not used. */
  cancel(invoiceId: string): void;
  /** Returns the failures of the latest outage, if it is over; null before the first one, and during one. */
  excused(): { readonly outage: number; readonly from: number; readonly to: number } | null;
  /** Places of this process: its share of the authority's limit. */
  places(): number;
  /** Number of invoices that may go at the moment, by the latest known state: 0 while the gate is shut. */
  free(): number;
  /** Calls `listener` whenever a place may have become free. */
  onChange(listener: () => void): void;
  /** Number of invoices of this process at the authority. */
  inFlight(): number;
}

export interface GateParts {
  readonly store: AuthorityStateStore;
  readonly authority: Pick<Authority, 'probe' | 'capabilities'>;
  /** Maximum number of invoices at the authority at the same time, of all processes together. */
  readonly concurrency: number;
  /** Number of live workers, this one included, which share the authority's limits. */
  readonly workers: () => number;
  readonly report: (event: BreakerReport) => void;
  readonly clock?: () => Date;
}

/** The least time that everything waits after an answer 429, also one with `Retry-After: 0`, milliseconds. */
const LEAST_RATE_LIMITED_MS = 1000;
/**
 * While nothing is sent, look-ups wait for this fraction of the time since sending stopped, within these limits in
 * milliseconds. So a short interruption delays a decision at most by its own length, and a long interruption does not
 * make the store busy.
 */
const LOOK_UP_PART = 0.1;
const [LEAST_LOOK_UP_PAUSE_MS, LONGEST_LOOK_UP_PAUSE_MS] = [1000, 600_000] as const;
export function createLiveGate(parts: GateParts): LiveGate {
  return new SharedGate(parts);
}

/** The places of this process, under the state that all processes share. */
class SharedGate implements LiveGate {
  readonly #parts: GateParts;
  readonly #clock: () => Date;
  readonly #shared: SharedBreaker;
  /** The passes of this process: the number of places in use. */
  readonly #passes = new Set<Pass>();
  readonly #reserved = new Map<string, Pass>();
  /** When the submissions of the last minute began, UNIX milliseconds. */
  #begun: number[] = [];
  /** When this process alone may send again: the client holds calls back to stay within the limits. */
  #deferredUntil = 0;
  #listener: () => void = () => undefined;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? (() => new Date());
    this.#shared = new SharedBreaker({ ...parts, clock: this.#clock });
  }

  refresh(): Promise<void> {
    return this.#shared.refresh();
  }

  async probe(): Promise<void> {
    if (await this.#shared.probeIfDue()) this.#listener();
  }

  inFlight(): number {
    return this.#passes.size;
  }

  counted(failures: readonly number[]): readonly number[] {
    return this.#shared.counted(failures);
  }

  conclude(failures: readonly number[], attempts: number): Promise<boolean> {
    return this.#shared.conclude(failures, attempts);
  }

  answered(): void {
    this.#shared.answered();
  }

  lookUpFailed(retryAfterMs: number | null): Promise<void> {
    return this.#shared.confirm(null, retryAfterMs);
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  excused(): { readonly outage: number; readonly from: number; readonly to: number } | null {
    const { opened = 0, excused = [] } = this.#shared.state?.breaker ?? {};
    const [from, to = null] = excused.at(-1) ?? [0];
    return to === null ? null : { outage: opened, from, to };
  }

  places(): number {
    return this.#shared.share(Math.min(this.#parts.concurrency, this.#limits.concurrent));
  }

  free(): number {
    const { state } = this.#shared;
    if (state === null || this.isShut() || this.#wait(state) > 0) return 0;
    const free = Math.max(0, Math.min(this.places() - this.#passes.size, this.#rateLeft()));
    return state.breaker.phase === 'half_open' && !trialIsFree(state.breaker, this.#clock()) ? 0 : free;
  }

  async enter(invoiceId: string): Promise<Pass | null> {
    const pass = this.#reserved.get(invoiceId) ?? (await this.#take(invoiceId));
    this.#reserved.delete(invoiceId);
    if (pass && Number.isFinite(this.#limits.submissionsPerMinute)) this.#begun.push(this.#clock().getTime());
    return pass;
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
    const { state } = this.#shared;
    return state === null || state.breaker.phase === 'open' || state.pause !== null;
  }

  isAway(): boolean {
    const { phase = 'closed' } = this.#shared.state?.breaker ?? {};
    return phase !== 'closed';
  }

  lookUpWait(): number {
    const { state } = this.#shared;
    if (state === null) return LEAST_LOOK_UP_PAUSE_MS;
    const { pause, breaker, notBefore } = state;
    const now = this.#clock().getTime();
    const shutSince = pause?.since ?? (isAway(breaker) ? breaker.outages.at(-1)?.since : undefined);
    if (shutSince === undefined) return remaining(notBefore?.getTime() ?? 0, now);
    const part = (now - shutSince.getTime()) * LOOK_UP_PART;
    return Math.ceil(Math.min(Math.max(part, LEAST_LOOK_UP_PAUSE_MS), LONGEST_LOOK_UP_PAUSE_MS));
  }

  get #limits() {
    return this.#parts.authority.capabilities().limits;
  }

  /** How long the authority's own limits hold submissions back, milliseconds. */
  #wait({ notBefore }: AuthorityState): number {
    const now = this.#clock().getTime();
    return Math.max(remaining(notBefore?.getTime() ?? 0, now), remaining(this.#deferredUntil, now));
  }

  /** Number of submissions that may still begin in this minute; reserved ones count as begun. */
  #rateLeft(): number {
    const limit = this.#limits.submissionsPerMinute;
    if (!Number.isFinite(limit)) return Number.POSITIVE_INFINITY;
    const now = this.#clock().getTime();
    this.#begun = this.#begun.filter((at) => at > now - MINUTE_MS && at <= now);
    return this.#shared.share(limit) - this.#begun.length - this.#reserved.size;
  }

  async #take(invoiceId: string): Promise<Pass | null> {
    const { state } = this.#shared;
    if (state === null || this.free() === 0) return null;
    const isTrial = state.breaker.phase === 'half_open';
    const pass = this.#pass(invoiceId, beginning(state.breaker, isTrial));
    this.#passes.add(pass);
    if (!isTrial) return pass;
    const claimed = await this.#shared.claimTrial().catch((error: unknown) => {
      this.#passes.delete(pass);
      throw error;
    });
    if (claimed) return pass;
    this.#passes.delete(pass);
    return null;
  }

  #pass(invoiceId: string, began: Beginning): Pass {
    let isNoted = !began.isTrial;
    const answered = async () => {
      this.#shared.answered();
      if (!isNoted || this.#shared.state?.breaker.streak) await this.#shared.succeeded(began);
      isNoted = true;
    };
    const pass: Pass = {
      submitted: async (answer) => {
        if (isFailure(answer)) {
          const { retryAfterMs } = answer as Extract<SubmitAnswer, { readonly retryAfterMs: unknown }>;
          const number = await this.#shared.failed(invoiceId, began, retryAfterMs);
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
      lookUpFailed: (retryAfterMs) => this.#shared.confirm(null, retryAfterMs),
      leave: () => {
        if (!this.#passes.delete(pass)) return;
        if (!isNoted) void this.#releaseTrial();
        this.#listener();
      },
    };
    return pass;
  }

  async #postpone(isOurs: boolean, retryAfterMs: number | null): Promise<void> {
    const least = isOurs && retryAfterMs !== null ? 1 : LEAST_RATE_LIMITED_MS;
    const ms = Math.min(Math.max(retryAfterMs ?? 0, least), LONGEST_WAIT_MS);
    const until = new Date(this.#clock().getTime() + ms);
    if (isOurs) {
      this.#deferredUntil = Math.max(this.#deferredUntil, until.getTime());
      return;
    }
    this.#parts.report({ level: 'warn', message: 'the tax authority limits the rate', waitMs: ms });
    await this.#shared.postpone(until);
  }

  async #releaseTrial(): Promise<void> {
    // If the store fails, the trial counts as lost after a while.
    await this.#shared.releaseTrial().catch(() => undefined);
    this.#listener();
  }
}

/**
 * Returns the milliseconds until a moment; 0 if it has passed, or is so far away that it comes from a clock that was
 * set back.
 */
function remaining(until: number, now: number): number {
  const wait = until - now;
  return wait > LONGEST_WAIT_MS ? 0 : Math.max(0, wait);
}
