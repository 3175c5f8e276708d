/** Limits how often something happens. */
export interface Rate {
  /** @returns whether it may happen now; it then counts */
  take(): boolean;
}

/**
 * A token bucket that holds the tokens of one second.
 * @param perSecond how often it may happen a second, on average; 0: never
 * @param clock monotonic, milliseconds
 */
export function createRate(perSecond: number, clock: () => number = () => performance.now()): Rate {
  let tokens = perSecond;
  let filledAt = clock();
  return {
    take() {
      const now = clock();
      tokens = Math.min(perSecond, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
