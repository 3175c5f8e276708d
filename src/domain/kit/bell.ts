/** Wakes code that waits for others to change something. */
export interface Bell {
  /** Wakes the code that waits. If there is none, the next call of `heard` resolves at once. */
  ring(): void;
  /**
   * Resolves at the next ring, or at once if there was one since the last time it resolved.
   * @param withinMs rings the bell itself after this time, milliseconds; default: never
   */
  heard(withinMs?: number): Promise<void>;
}

/**
 * Creates a bell. Use it with a queue or a state of your own: check the state, and wait for the bell while there is
 * nothing to do. A ring during the check is not lost. Several rings count as one, so check everything after each.
 */
export function createBell(): Bell {
  let isRung = false;
  let waiting: PromiseWithResolvers<void> | null = null;

  function ring(): void {
    isRung = waiting === null;
    waiting?.resolve();
    waiting = null;
  }

  return {
    ring,
    heard(withinMs) {
      if (isRung) {
        isRung = false;
        return Promise.resolve();
      }
      waiting ??= Promise.withResolvers();
      const { promise } = waiting;
      if (withinMs === undefined) return promise;
      const timer = setTimeout(ring, withinMs);
      return promise.finally(() => clearTimeout(timer));
    },
  };
}
