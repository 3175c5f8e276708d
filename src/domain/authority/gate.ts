import { NOT_HELD, type SubmitAnswer } from './ports.ts';

/** Decides when an invoice may go to the authority, and which failures count as its attempts. */
export interface Gate {
  /** Lets an invoice in. @returns null if it must wait: the breaker, a pause, or no free place */
  enter(invoiceId: string): Promise<Pass | null>;
  /** Whether nothing is sent at the moment: the breaker is open, or an operator paused the transmission. */
  isShut(): boolean;
  /** Whether the authority is away, or is tried again after it was: the breaker is not closed. */
  isAway(): boolean;
  /** How long a look-up outside of {@link enter} must wait, in milliseconds; 0 if it may go. */
  lookUpWait(): number;
  /** Notes that a look-up was answered. A failure that is being confirmed then does not open the breaker. */
  answered(): void;
  /** Notes a failed look-up. Probes the authority, and opens the breaker if that fails too. */
  lookUpFailed(retryAfterMs: number | null): Promise<void>;
  /** Returns the failures that no outage excuses, by the latest known state. */
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
  isShut: () => false,
  isAway: () => false,
  lookUpWait: () => 0,
  answered: () => undefined,
  lookUpFailed: async () => undefined,
  counted: (failures) => failures,
  conclude: async (failures, attempts) => failures.length >= attempts,
};

/** Whether the answer is a failure for the circuit breaker. */
export function isFailure(answer: SubmitAnswer): boolean {
  return answer.kind === 'unknown' || (answer.kind === 'not_held' && NOT_HELD[answer.reason].isFailure);
}
