// Milliseconds.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** What processes that share a store take for the time (`StoreClock`) differs by less than this. */
export const CLOCK_SKEW_MS = 5000;
