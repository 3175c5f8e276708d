/**
 * While this process answers clients of others, a tenant with a backlog begins invoices for the first time only, and none
 * for the second, milliseconds. Fewer places at all times would delay the others more: what runs at the same time shares
 * its writes.
 */
const [TURN_MS, REST_MS] = [200, 1200];

/** The turns and rests of the tenants with a backlog in one lane (docs/decisions/0100). Tenants are as `tenantOfSlot`. */
export interface TenantRests {
  /** Whether no invoice of the tenant may begin, because its turn is over and its rest is not. */
  rests(tenant: number): boolean;
  /** @param refused the tenants with a backlog, which now have all places that they may have */
  note(refused: ReadonlySet<number>): void;
  /** When the next rest ends, on the clock of `performance.now()`; infinite if none is under way. */
  nextEnd(now: number): number;
}

/** @param isAnswering whether this process answers clients of other tenants at the moment */
export function createTenantRests(isAnswering: (beside: number) => boolean): TenantRests {
  /** When the turn of each tenant has begun. */
  const turns = new Map<number, number>();
  return {
    rests(tenant) {
      const sinceMs = performance.now() - (turns.get(tenant) ?? Number.NEGATIVE_INFINITY);
      return sinceMs >= TURN_MS && sinceMs < TURN_MS + REST_MS && isAnswering(tenant);
    },
    note(refused) {
      const now = performance.now();
      for (const [tenant, begun] of turns) if (now - begun >= TURN_MS + REST_MS) turns.delete(tenant);
      for (const tenant of refused) if (!turns.has(tenant) && isAnswering(tenant)) turns.set(tenant, now);
    },
    nextEnd(now) {
      const ends = [...turns.values()].map((begun) => begun + TURN_MS + REST_MS);
      return Math.min(...ends.filter((end) => end > now));
    },
  };
}
