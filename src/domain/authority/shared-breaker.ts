import {
  type Beginning,
  type BreakerState,
  concluded,
  confirmed,
  countedFailures,
  failed,
  probeClaimed,
  probed,
  succeeded,
  trialClaimed,
  trialReleased,
} from './breaker.ts';
import type { Authority } from './ports.ts';
import type { AuthorityState, AuthorityStateStore } from './state.ts';

export interface SharedBreakerParts {
  readonly store: AuthorityStateStore;
  readonly authority: Pick<Authority, 'probe'>;
  /** Number of live workers, this one included, which share the authority's limits. */
  readonly workers: () => number;
  readonly report: (event: BreakerReport) => void;
  readonly clock: () => Date;
}

/** A log entry about the authority. */
export interface BreakerReport {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly [fact: string]: unknown;
}

/**
 * Time during which a probe or a trial prevents others, milliseconds. Calls may take longer. But with a longer time, a
 * process that is killed during a call would hold up everything for as long.
 */
const CLAIM_MS = 5000;
/**
 * Pause between the two probes that confirm a failure, milliseconds. One lost probe is no outage, and any call that is
 * answered meanwhile proves that there is none.
 */
const SECOND_PROBE_MS = 1000;

/**
 * The state of the authority that all processes share, as this process last saw it, with the transitions of the breaker
 * and its probes. Every method throws what the store throws.
 */
export class SharedBreaker {
  /** Null before the first {@link refresh}. */
  state: AuthorityState | null = null;
  readonly #parts: SharedBreakerParts;
  readonly #clock: () => Date;
  #probing: Promise<string | null> | null = null;
  /** The probes after a failure, with the number of outages when they began. */
  #confirming: { readonly opened: number; readonly isAway: Promise<boolean> } | null = null;
  #isProbingOutage = false;
  /** Calls that the authority answered. */
  #answers = 0;

  constructor(parts: SharedBreakerParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  /** Reads the state. */
  async refresh(): Promise<void> {
    this.#adopt(await this.#parts.store.read());
  }

  counted(failures: readonly number[]): readonly number[] {
    return this.state ? countedFailures(this.state.breaker, failures) : failures;
  }

  async conclude(failures: readonly number[], attempts: number): Promise<boolean> {
    return this.#update((state) => {
      const next = concluded(state, failures, attempts);
      return { next, result: next !== null };
    });
  }

  /** This process's share of a limit of all processes: at least 1. */
  share(limit: number): number {
    return Math.max(1, Math.floor(limit / Math.max(1, this.#parts.workers())));
  }

  /** Reserves the one place of a half-open breaker. @returns false if it is taken */
  async claimTrial(): Promise<boolean> {
    return this.#update((breaker) => {
      const next = trialClaimed(breaker, this.#clock(), CLAIM_MS);
      return { next, result: next !== null };
    });
  }

  async releaseTrial(): Promise<void> {
    await this.#update((state) => ({ next: trialReleased(state), result: null }));
  }

  /** Notes that any call was answered. */
  answered(): void {
    this.#answers++;
  }

  /** Notes that a submission was answered. */
  async succeeded(began: Beginning): Promise<void> {
    await this.#update((state) => ({ next: succeeded(state, began, this.#clock()), result: null }));
  }

  /** Nothing is sent by any process before this time. */
  async postpone(notBefore: Date): Promise<void> {
    const { state } = this;
    const isLater = (state?.notBefore?.getTime() ?? 0) < notBefore.getTime();
    // Applied here at once. A known time that is too far away comes from a clock that was set back; the store replaces
    // it.
    if (state && isLater) this.state = { ...state, notBefore };
    await this.#parts.store.postpone(notBefore);
  }

  /** Makes the due probe of an open breaker, unless another process does. @returns whether it was made */
  async probeIfDue(): Promise<boolean> {
    if (this.state === null || this.state.pause !== null || this.state.breaker.phase !== 'open') return false;
    if (this.#isProbingOutage) return false;
    this.#isProbingOutage = true;
    try {
      return await this.#probeOutage();
    } finally {
      this.#isProbingOutage = false;
    }
  }

  async #probeOutage(): Promise<boolean> {
    const opened = await this.#update((breaker) => {
      const next = probeClaimed(breaker, this.#clock(), CLAIM_MS);
      return { next, result: next === null ? null : next.opened };
    });
    if (opened === null) return false;
    const trouble = await this.#probeOnce();
    await this.#update((breaker) => ({ next: probed(breaker, this.#clock(), trouble === null, opened), result: null }));
    const { probe } = this.state?.breaker ?? {};
    const facts = { probes: probe?.failed ?? 0, nextAt: probe?.dueAt ?? null, reason: trouble };
    if (trouble !== null) this.#report('warn', 'the tax authority is still away', facts);
    else this.#report('info', 'the tax authority answers a probe; one invoice is sent', {});
    return true;
  }

  /**
   * Notes a failed submission, and probes.
   * @returns its number; null if it is known already that an outage excuses it
   */
  async failed(invoiceId: string, began: Beginning, retryAfterMs: number | null): Promise<number | null> {
    const at = this.#clock();
    const { number, opened, excused } = await this.#update((state) => {
      const { state: next, excused } = failed(state, { invoiceId, at, began, retryAfterMs });
      return { next, result: { number: next.lastFailure, opened: next.opened, excused } };
    });
    if (excused) return null;
    await this.confirm({ number, opened, at }, retryAfterMs);
    return number;
  }

  /**
   * Probes the authority after a failure, and opens the breaker if that fails twice and nothing is answered meanwhile.
   * @param failure null for a failed look-up
   */
  async confirm(
    failure: { readonly number: number; readonly opened: number; readonly at: Date } | null,
    retryAfterMs: number | null,
  ): Promise<void> {
    const { phase, opened: known = 0 } = this.state?.breaker ?? {};
    if (phase === 'open') return;
    const { number, opened, at } = failure ?? { number: null, opened: known, at: this.#clock() };
    if (!(await this.#confirms(opened))) return;
    await this.#update((state) => ({ next: confirmed(state, { at, number, opened, retryAfterMs }), result: null }));
  }

  /** Whether probes fail too; concurrent callers that know of the same outages share the probes. */
  #confirms(opened: number): Promise<boolean> {
    if (this.#confirming?.opened === opened) return this.#confirming.isAway;
    const confirming = {
      opened,
      isAway: this.#isAway().finally(() => {
        if (this.#confirming === confirming) this.#confirming = null;
      }),
    };
    this.#confirming = confirming;
    return confirming.isAway;
  }

  async #isAway(): Promise<boolean> {
    const before = this.#answers;
    const isAway = async () => (await this.#probeOnce()) !== null && this.#answers === before;
    if (!(await isAway())) return false;
    await new Promise((resolve) => setTimeout(resolve, SECOND_PROBE_MS));
    return this.#answers === before && isAway();
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

  /** Takes over a state that was read, unless a later version of it is known. */
  #adopt(state: AuthorityState): void {
    const known = this.state;
    this.state =
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
    } else if (after.phase === 'closed' && after.lastFailure > before.lastFailure) {
      const facts = { outage: after.opened, invoices: before.probe?.trials?.invoices ?? [] };
      this.#report('warn', 'the tax authority answers, and only these invoices fail: all are sent again', facts);
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
