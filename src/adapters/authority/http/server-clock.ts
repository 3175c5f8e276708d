/**
 * The clock of a server, derived from its `Date` headers. Between responses it advances with this process's monotonic
 * clock. So a wrong or adjusted clock of this machine does not matter once a response was seen.
 */
export interface ServerClock {
  /** Returns milliseconds since 1970. Before the first response: the time of `fallback`, or of this machine. */
  now(): number;
  /**
   * Learns the server's time from a response.
   * @param date the `Date` header; anything that is not a date is ignored
   * @param latencyMs time from the request to the complete response, which has just arrived
   */
  learn(date: string | undefined, latencyMs: number): void;
  /** Returns by how many milliseconds the server's clock is ahead of this machine's; null before the first response. */
  offset(): number | null;
}

/** This machine's clocks, which tests replace. */
export interface LocalClock {
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds from a clock that is never set back. */
  readonly monotonic: () => number;
}

export const LOCAL_CLOCK: LocalClock = { wall: () => Date.now(), monotonic: () => performance.now() };

/** A `Date` header has whole seconds, so the real time is half a second later on average. */
const HALF_SECOND_MS = 500;
/** A response that took longer than this, milliseconds, does not correct the clock. */
const SLOW_MS = 5000;

export function createServerClock(local: LocalClock = LOCAL_CLOCK, fallback?: ServerClock): ServerClock {
  let anchor: { readonly server: number; readonly at: number } | null = null;
  const now = () => {
    if (anchor) return anchor.server + local.monotonic() - anchor.at;
    return fallback ? fallback.now() : local.wall();
  };
  return {
    now,
    learn(date, latencyMs) {
      const time = Date.parse(date ?? '');
      if (Number.isNaN(time)) return;
      // The time of a slow response is less precise than what is already known.
      if (anchor !== null && latencyMs > SLOW_MS) return;
      // The server wrote the header some time between sending and now; half the latency is assumed.
      anchor = { server: time + HALF_SECOND_MS, at: local.monotonic() - latencyMs / 2 };
    },
    offset: () => (anchor ? now() - local.wall() : (fallback?.offset() ?? null)),
  };
}
