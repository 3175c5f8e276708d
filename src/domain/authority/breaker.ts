export const BREAKER_PHASES = ['closed', 'open', 'half_open'] as const;

/**
 * The circuit breaker of the live authority, as a pure state machine (docs/decisions/0045). Its state is shared by all
 * processes. While it is not closed, only one invoice goes at a time, and failures count no attempt.
 */
export interface BreakerState {
  readonly phase: (typeof BREAKER_PHASES)[number];
  /**
   * Number of the latest failure. Failures are numbered, so that neither a change of the clock nor the difference of
   * two clocks moves a failure into an outage or out of one.
   */
  readonly lastFailure: number;
  /** Failed submissions since the latest one that was answered; null if there are none. */
  readonly streak: Streak | null;
  /** Number of outages so far; in an outage, its own number. */
  readonly opened: number;
  /** The latest outages, oldest first. */
  readonly outages: readonly Outage[];
  /** The failures of all outages as intervals of their numbers, ascending; the last one is open (null) in an outage. */
  readonly excused: readonly Excused[];
  /** The probes of an open breaker. */
  readonly probe: Probes | null;
  /** Number of the latest failure when an invoice last failed for good; absent before the first time. */
  readonly concluded?: number;
  /** When the only invoice that may go while the breaker is half-open counts as lost; null if none is going. */
  readonly trialUntil: Date | null;
}

/** An interval of failures; the end is inclusive, and null while it is open. */
export type Excused = readonly [from: number, to: number | null];

interface Probes {
  readonly dueAt: Date;
  /** Number of probes and trials of this outage that failed. */
  readonly failed: number;
  /** Whether the latest probe was answered, so that the failure is that of the invoice after it. */
  readonly answered: boolean;
  /** The failed trials of this outage; absent before the first. */
  readonly trials?: Trials;
}

/** Failed submissions with no answered one in between. */
interface Trials {
  readonly failures: number;
  /** The first {@link STREAK_INVOICES} different invoices. */
  readonly invoices: readonly string[];
}

interface Streak extends Trials {
  /** Number of its first failure. */
  readonly from: number;
  readonly since: Date;
}

/** An outage, from the first failure of the streak that opened the breaker until the breaker closed. */
export interface Outage {
  readonly since: Date;
  readonly until: Date | null;
}

export const CLOSED: BreakerState = {
  phase: 'closed',
  lastFailure: 0,
  streak: null,
  opened: 0,
  outages: [],
  excused: [],
  probe: null,
  trialUntil: null,
};

/**
 * Number of failures in a row, and of different invoices among them, that open the breaker without a failed probe. As
 * many failed trials of fewer invoices close it: an answered probe came before each, so they are the invoices' own.
 */
const [STREAK_FAILURES, STREAK_INVOICES] = [5, 3] as const;
const FIRST_PROBE_MS = 1000;
export const LAST_PROBE_MS = 60_000;
/** The longest wait that the authority can demand, milliseconds. */
export const LONGEST_WAIT_MS = 3_600_000;
/** Number of outages, and of intervals of failures, that the state keeps. */
export const MOST_OUTAGES = 50;

/**
 * The state in which a call to the authority began: what {@link failed} needs to tell whether an outage came between.
 */
export interface Beginning {
  readonly opened: number;
  readonly wasClosed: boolean;
  /** Whether it is the one invoice of a half-open breaker. */
  readonly isTrial: boolean;
}

export function beginning({ opened, phase }: BreakerState, isTrial: boolean): Beginning {
  return { opened, wasClosed: phase === 'closed', isTrial };
}

/** A failed submission. */
export interface Failure {
  readonly invoiceId: string;
  readonly at: Date;
  readonly began: Beginning;
  /** How long the authority asked to wait, milliseconds. */
  readonly retryAfterMs: number | null;
}

/**
 * Notes a failed submission; its number is `lastFailure` of the returned state.
 * @returns `excused`: whether it is known already that it counts no attempt, because an outage is or was under way
 *   during the call
 */
export function failed(state: BreakerState, failure: Failure): { state: BreakerState; excused: boolean } {
  const { at, began } = failure;
  const lastFailure = state.lastFailure + 1;
  const numbered = { ...state, lastFailure };
  if (state.phase === 'closed') {
    // A straggler: the outage during which it was sent is over, and it says nothing of the time after it.
    if (!began.wasClosed || began.opened !== state.opened) return { state: numbered, excused: true };
    const streak = {
      from: state.streak?.from ?? lastFailure,
      since: state.streak?.since ?? at,
      ...longer(state.streak, failure.invoiceId),
    };
    const isOutage = streak.failures >= STREAK_FAILURES && streak.invoices.length >= STREAK_INVOICES;
    const next = { ...numbered, streak };
    return isOutage ? { state: open(next, streak, failure), excused: true } : { state: next, excused: false };
  }
  return { state: isTrialOf(state, began) ? afterTrial(numbered, failure) : numbered, excused: true };
}

function isTrialOf({ phase, opened }: BreakerState, began: Beginning): boolean {
  return phase === 'half_open' && began.isTrial && began.opened === opened;
}

function afterTrial(state: BreakerState, failure: Failure): BreakerState {
  const trials = longer(state.probe?.trials ?? null, failure.invoiceId);
  const isTheirOwn = trials.failures >= STREAK_FAILURES && trials.invoices.length < STREAK_INVOICES;
  if (isTheirOwn) return close(state, failure.at);
  const { probe } = probeAfter(state, failure.at, failure, true);
  return { ...state, phase: 'open', trialUntil: null, probe: { ...probe, trials } };
}

function longer(trials: Trials | null, invoiceId: string): Trials {
  const { failures, invoices } = trials ?? { failures: 0, invoices: [] };
  const isNew = !invoices.includes(invoiceId) && invoices.length < STREAK_INVOICES;
  return { failures: failures + 1, invoices: isNew ? [...invoices, invoiceId] : invoices };
}

/**
 * Notes that the probes after a failure failed too. It has no effect if an outage has begun since the failure, also one
 * that is over: its own probes know more.
 * @param failure `number`: the number of the failure; null for a failed look-up, which has none. `opened`: that of the
 *   state in which it was noted
 */
export function confirmed(
  state: BreakerState,
  failure: Pick<Failure, 'at' | 'retryAfterMs'> & { readonly number: number | null; readonly opened: number },
): BreakerState {
  if (state.phase === 'open' || state.opened !== failure.opened) return state;
  const { at, number } = failure;
  if (state.phase === 'half_open')
    return { ...state, phase: 'open', trialUntil: null, ...probeAfter(state, at, failure, false) };
  const from = state.streak?.from ?? state.lastFailure + 1;
  const since = state.streak?.since ?? at;
  if (number === null) return open(state, { from, since }, failure);
  // Excuses this failure alone: later ones may belong to an invoice that has failed for good meanwhile.
  if (number <= (state.concluded ?? 0))
    return open({ ...state, excused: [...state.excused, [number, number]] }, { from, since }, failure);
  return open(state, { from: Math.min(from, number), since }, failure);
}

function open(
  state: BreakerState,
  { from, since }: Pick<Streak, 'from' | 'since'>,
  { at, retryAfterMs }: Pick<Failure, 'at' | 'retryAfterMs'>,
): BreakerState {
  return {
    ...state,
    phase: 'open',
    streak: null,
    opened: state.opened + 1,
    outages: [...state.outages, { since, until: null }].slice(-MOST_OUTAGES),
    excused: joined([...state.excused, [from, null]]),
    probe: { dueAt: later(at, Math.max(FIRST_PROBE_MS, retryAfterMs ?? 0)), failed: 0, answered: false },
    trialUntil: null,
  };
}

/**
 * Joins intervals with no failure between them. Beyond {@link MOST_OUTAGES} the two oldest become one: this excuses
 * failures between them, which is safe, while to forget an interval would count the failures of an outage.
 */
function joined(intervals: readonly Excused[]): readonly Excused[] {
  const result: Excused[] = [];
  for (const interval of intervals) {
    const last = result.at(-1);
    if (last && (last[1] === null || last[1] + 1 >= interval[0]))
      result[result.length - 1] = [Math.min(last[0], interval[0]), interval[1]];
    else result.push(interval);
  }
  const [first, second, ...rest] = result;
  return first && second && result.length > MOST_OUTAGES ? [[first[0], second[1]], ...rest] : result;
}

/** Returns the next probe after a failed probe or a failed trial, at growing intervals. */
function probeAfter(
  { probe }: BreakerState,
  at: Date,
  { retryAfterMs }: Pick<Failure, 'retryAfterMs'>,
  answered: boolean,
) {
  const count = (probe?.failed ?? 0) + 1;
  const interval = Math.min(FIRST_PROBE_MS * 2 ** Math.min(count, 10), LAST_PROBE_MS);
  const dueAt = later(at, Math.max(interval, retryAfterMs ?? 0));
  return { probe: { ...probe, dueAt, failed: count, answered } };
}

/** Notes that the authority answered a submission, with whatever decision. */
export function succeeded(state: BreakerState, began: Beginning, at: Date): BreakerState {
  if (state.phase === 'closed') return state.streak === null ? state : { ...state, streak: null };
  return isTrialOf(state, began) ? close(state, at) : state;
}

function close(state: BreakerState, at: Date): BreakerState {
  return {
    ...state,
    phase: 'closed',
    streak: null,
    outages: state.outages.map((outage) => (outage.until === null ? { ...outage, until: at } : outage)),
    excused: state.excused.map(([from, to]) => [from, to ?? state.lastFailure] as const),
    probe: null,
    trialUntil: null,
  };
}

/**
 * Whether the authority answers nothing at the moment. An open breaker whose probe was answered holds back only
 * submissions: an invoice that fails alone, however often, must not keep other invoices from their decisions and
 * receipts.
 */
export function isAway({ phase, probe }: BreakerState): boolean {
  return phase === 'open' && !probe?.answered;
}

/** Whether a probe is due. A due time that is too far away comes from a clock that was set back. */
export function probeIsDue({ phase, probe }: BreakerState, now: Date): boolean {
  if (phase !== 'open' || probe === null) return false;
  const wait = probe.dueAt.getTime() - now.getTime();
  return wait <= 0 || wait > LONGEST_WAIT_MS;
}

/** Reserves the due probe for the caller, for `ms` milliseconds. @returns null if no probe is due */
export function probeClaimed(state: BreakerState, now: Date, ms: number): BreakerState | null {
  if (!state.probe || !probeIsDue(state, now)) return null;
  return { ...state, probe: { ...state.probe, dueAt: new Date(now.getTime() + ms) } };
}

/** Notes the result of a reserved probe. @param opened that of the state in which it was reserved */
export function probed(state: BreakerState, at: Date, answered: boolean, opened = state.opened): BreakerState {
  if (state.phase !== 'open' || state.opened !== opened) return state;
  if (!answered) return { ...state, ...probeAfter(state, at, { retryAfterMs: null }, false) };
  return { ...state, phase: 'half_open', trialUntil: null };
}

/** Reserves the one place of a half-open breaker for `ms` milliseconds. @returns null if it is taken */
export function trialClaimed(state: BreakerState, now: Date, ms: number): BreakerState | null {
  if (state.phase !== 'half_open' || !trialIsFree(state, now)) return null;
  return { ...state, trialUntil: new Date(now.getTime() + ms) };
}

/**
 * Whether nobody has the one place of a half-open breaker. A time that is too far away comes from a clock that was set
 * back.
 */
export function trialIsFree({ trialUntil }: BreakerState, now: Date): boolean {
  const wait = (trialUntil?.getTime() ?? 0) - now.getTime();
  return wait <= 0 || wait > LONGEST_WAIT_MS;
}

/** Frees the place of a half-open breaker after a trial that was neither a failure nor a success. */
export function trialReleased(state: BreakerState): BreakerState {
  return state.phase === 'half_open' && state.trialUntil !== null ? { ...state, trialUntil: null } : state;
}

/** Returns the failures that no outage excuses: the attempts of an invoice. */
export function countedFailures({ excused }: BreakerState, failures: readonly number[]): readonly number[] {
  return failures.filter((number) => !excused.some(([from, to]) => from <= number && (to === null || number <= to)));
}

/**
 * Ends the current streak, when an invoice fails for good: its failures are attributed to the invoice, so no later
 * opening may excuse them.
 * @returns null if fewer than `attempts` of the failures count
 */
export function concluded(state: BreakerState, failures: readonly number[], attempts: number): BreakerState | null {
  if (countedFailures(state, failures).length < attempts) return null;
  return { ...state, streak: null, concluded: state.lastFailure };
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + Math.min(ms, LONGEST_WAIT_MS));
}
