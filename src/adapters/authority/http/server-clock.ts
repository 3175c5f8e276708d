/**
 * The clock of a server, as its `Date` headers tell. Between answers it advances with this process's monotonic clock, so
 * a wrong or adjusted clock of this machine does not matter once an answer was seen.
 */
export interface ServerClock {
  /** Milliseconds since 1970. Before the first answer: the time of `fallback`, or of this machine. */
  now(): number;
  /**
   * Takes the time of an answer.
   * @param date the `Date` header; anything that is not a date is ignored
   * @param latencyMs from the request to the complete answer, which ended just now
   */
  learn(date: string | undefined, latencyMs: number): void;
  /** Milliseconds by which the server's clock is ahead of this machine's; null before the first answer. */
  offset(): number | null;
}

/** The local clocks, which tests replace. */
export interface LocalClock {
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds; never set back. */
  readonly monotonic: () => number;
}

export const LOCAL_CLOCK: LocalClock = { wall: () => Date.now(), monotonic: () => performance.now() };

/** A `Date` header has whole seconds: on average the time is half a second later. */
const HALF_SECOND_MS = 500;
/** An answer that took longer does not correct the clock. */
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
      // The time of a slow answer says less than what is known already.
      if (anchor !== null && latencyMs > SLOW_MS) return;
      // The server wrote the header between sending and now.
      anchor = { server: time + HALF_SECOND_MS, at: local.monotonic() - latencyMs / 2 };
    },
    offset: () => (anchor ? now() - local.wall() : (fallback?.offset() ?? null)),
  };
}
