/** The authority's clock, which may be wrong. Times are milliseconds since 1970. */
export interface Clock {
  /** Returns the time by the authority's clock: in `Date` headers, tokens and every time that it states. */
  now(): number;
  /** Returns the time by which delays and limits pass; the control port does not change it. */
  steady(): number;
  /** Difference by which `now` is ahead of `steady`; negative: behind. */
  offset: number;
}

export function createClock(steady: () => number): Clock {
  const clock = { offset: 0, steady, now: () => steady() + clock.offset };
  return clock;
}

/** Writes a time as the protocol does: RFC 3339 in UTC. */
export function timestamp(time: number): string {
  return new Date(time).toISOString();
}
