// Milliseconds.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The times (`StoreClock`) of processes that share a store differ by less than this. */
export const CLOCK_SKEW_MS = 5000;
