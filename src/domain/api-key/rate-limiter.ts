/** Whose limit applies: a secret key's, a publishable key's or client_secret's, or a network address's. */
export type LimitKind = 'secret' | 'publishable' | 'address';

export interface LimitState {
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** UNIX milliseconds at which the window ends. */
  readonly resetAt: number;
  readonly allowed: boolean;
}

/** Counts requests in fixed windows of 60 s (docs/api/contract.md, "Limits"). */
export interface RateLimiter {
  /** @param requests how many to count; 0 asks for the state */
  consume(kind: LimitKind, id: string, requests?: number): Promise<LimitState>;
  /** A window that begins now and counts nothing: what the answers to requests show that are never limited. */
  uncounted(kind: LimitKind): LimitState;
}
