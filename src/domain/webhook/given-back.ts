/** Of how many endpoints it is known exactly. */
const REMEMBERED = 10_000;

/** When each endpoint's lane last gave a delivery back to the ledger unsent, by this process's monotonic clock, milliseconds. */
export interface GivenBack {
  note(endpointId: string): void;
  /** Whether nothing was given back since then. Never wrongly true; wrongly false for times before what was forgotten. */
  noneSince(endpointId: string, since: number): boolean;
}

export function createGivenBack(): GivenBack {
  const last = new Map<string, number>();
  let forgotten = Number.NEGATIVE_INFINITY;
  return {
    note(endpointId) {
      last.delete(endpointId);
      last.set(endpointId, performance.now());
      if (last.size <= REMEMBERED) return;
      for (const [oldest, oldestAt] of last) {
        last.delete(oldest);
        forgotten = Math.max(forgotten, oldestAt);
        return;
      }
    },
    noneSince: (endpointId, since) => since > (last.get(endpointId) ?? forgotten),
  };
}
