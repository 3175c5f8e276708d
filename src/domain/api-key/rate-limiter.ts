/**
 * What a limit applies to: a secret key, all secret keys of a tenant in an environment, a publishable key or
 * client_secret, or a network address; and the files that are the same for everybody, for which an address has a
 * separate allowance.
 */
export type LimitKind = 'secret' | 'tenant' | 'publishable' | 'address' | 'common';

export interface LimitState {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, UNIX milliseconds. */
  readonly resetAt: number;
  readonly allowed: boolean;
}

/** Counts requests in fixed windows of 60 s (docs/api/contract.md, "Limits"). */
export interface RateLimiter {
  /**
   * Counts requests.
   * @param requests number to count, by default 1; 0 only returns the state
   * @param limit requests per minute, instead of the kind's
   */
  consume(kind: LimitKind, id: string, requests?: number, limit?: number): Promise<LimitState>;
  /** Returns a new window without requests, for the headers of answers that are never limited. */
  uncounted(kind: LimitKind): LimitState;
}
