import type { BreakerState } from './breaker.ts';

/** The state of the live authority that all processes share. */
export interface AuthorityState {
  /** Grows with each change of the breaker. */
  readonly version: number;
  readonly breaker: BreakerState;
  /** Set by an operator: nothing is sent. */
  readonly pause: Pause | null;
  /** The authority takes nothing before this time. */
  readonly notBefore: Date | null;
}

export interface Pause {
  /** The author of the pause, such as the user and the machine of the command. */
  readonly by: string;
  readonly reason: string | null;
  readonly since: Date;
}

/** The store of the shared state. Each method is atomic. */
export interface AuthorityStateStore {
  read(): Promise<AuthorityState>;
  /**
   * Applies a transition to the newest state of the breaker. It runs again if another process has changed the state
   * meanwhile, so it must be pure. Returning null or the same state writes nothing.
   * @returns the state afterwards, and what the transition that was written (or refused) returned as `result`
   */
  update<Result>(transition: Transition<Result>): Promise<{ readonly state: AuthorityState; readonly result: Result }>;
  /** Postpones everything to a time, unless it is postponed further already (at most by `LONGEST_WAIT_MS`). */
  postpone(until: Date): Promise<void>;
  pause(pause: Pause): Promise<void>;
  /** @returns the pause that it ended; null if there was none */
  resume(): Promise<Pause | null>;
}

export type Transition<Result> = (state: BreakerState) => {
  readonly next: BreakerState | null;
  readonly result: Result;
};
