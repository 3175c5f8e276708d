import { LRUCache } from 'lru-cache';
import type { CallName } from './faults.ts';

/** The counts of the calls since the start or the last reset, as the control port reports them. */
export interface CountersReport {
  readonly calls: Readonly<Record<string, number>>;
  /** Answers by call and status; `cut` where the connection ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  readonly puts: { readonly now: number; readonly peak: number };
  /** Maximum number of look-ups of one submission within any minute and any hour, and that submission. */
  readonly lookups: {
    readonly per_minute: { readonly peak: number; readonly submission: string | null };
    readonly per_hour: { readonly peak: number; readonly submission: string | null };
  };
  readonly callbacks: Readonly<Record<'sent' | 'failed' | 'dropped', number>>;
  readonly tls_failures: number;
}

export interface Counters {
  call(name: CallName): void;
  answer(name: CallName, status: number | 'cut'): void;
  putStarted(): void;
  putEnded(): void;
  readonly putsNow: number;
  /** Counts a look-up at `now` (milliseconds). @param submission its id, or the requested digest */
  lookUp(submission: string, now: number): void;
  callback(outcome: 'sent' | 'failed' | 'dropped'): void;
  tlsFailure(): void;
  report(): CountersReport;
  reset(): void;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Memory is bounded: the submissions looked up last, and for each the last look-ups. */
const MAX_SUBMISSIONS = 20_000;
const MAX_LOOKUPS = 2_000;

export function createCounters(): Counters {
  const times = new LRUCache<string, number[]>({ max: MAX_SUBMISSIONS });
  let putsNow = 0;
  let state = empty();

  function note(span: 'per_minute' | 'per_hour', count: number, submission: string): void {
    if (count > state.lookups[span].peak) state.lookups[span] = { peak: count, submission };
  }

  return {
    call(name) {
      state.calls[name] = (state.calls[name] ?? 0) + 1;
    },
    answer(name, status) {
      const key = `${name} ${status}`;
      state.answers[key] = (state.answers[key] ?? 0) + 1;
    },
    putStarted() {
      state.peak = Math.max(state.peak, ++putsNow);
    },
    putEnded() {
      putsNow--;
    },
    get putsNow() {
      return putsNow;
    },
    lookUp(submission, now) {
      const recent = [...(times.get(submission) ?? []).filter((time) => time > now - HOUR), now].slice(-MAX_LOOKUPS);
      times.set(submission, recent);
      note('per_hour', recent.length, submission);
      note('per_minute', recent.filter((time) => time > now - MINUTE).length, submission);
    },
    callback(outcome) {
      state.callbacks[outcome]++;
    },
    tlsFailure() {
      state.tlsFailures++;
    },
    report: () => ({
      calls: { ...state.calls },
      answers: { ...state.answers },
      puts: { now: putsNow, peak: state.peak },
      lookups: { ...state.lookups },
      callbacks: { ...state.callbacks },
      tls_failures: state.tlsFailures,
    }),
    reset() {
      state = empty();
      state.peak = putsNow;
    },
  };
}

function empty() {
  const peak = (): { peak: number; submission: string | null } => ({ peak: 0, submission: null });
  return {
    calls: {} as Record<string, number>,
    answers: {} as Record<string, number>,
    peak: 0,
    lookups: { per_minute: peak(), per_hour: peak() },
    callbacks: { sent: 0, failed: 0, dropped: 0 },
    tlsFailures: 0,
  };
}
