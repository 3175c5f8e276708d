/**
 * Length of a turn and of the rest after it, milliseconds. While this process answers clients of other tenants, a
 * tenant with a backlog begins invoices only during its turns. Permanently fewer places would delay the others more,
 * because runs at the same time share their writes.
 */
const [TURN_MS, REST_MS] = [200, 1200];

/**
 * The turns and rests of the tenants with a backlog in one lane (docs/decisions/0100). Tenants are numbered as in
 * `tenantOfSlot`.
 */
export interface TenantRests {
  /** Whether the tenant is in its rest, so that none of its invoices may begin. */
  rests(tenant: number): boolean;
  /** Starts the turns of tenants. @param refused the tenants with a backlog that occupy all places they may have */
  note(refused: ReadonlySet<number>): void;
  /** When the next rest ends, on the clock of `performance.now()`; infinite if no tenant has a turn or rest. */
  nextEnd(now: number): number;
}

/** @param isAnswering whether this process is answering clients of other tenants now */
export function createTenantRests(isAnswering: (beside: number) => boolean): TenantRests {
  /** The start of each tenant's turn. */
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
