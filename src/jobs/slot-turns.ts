import { ALL_PARTITIONS, type PartitionRange, tenantOfSlot } from '../domain/invoice/lanes.ts';
import type { DueInvoice } from '../domain/invoice/repository.ts';

/** Returns the first `most` invoices of each slot. */
export function ofEachSlot(found: readonly DueInvoice[], most: number): DueInvoice[] {
  const taken = new Map<number, number>();
  return found.filter(({ slot }) => {
    const count = (taken.get(slot) ?? 0) + 1;
    taken.set(slot, count);
    return count <= most;
  });
}

/** Orders invoices by turns of their slots: the first of each slot, then the second of each, and so on. */
export function inTurns(found: readonly DueInvoice[]): DueInvoice[] {
  const seen = new Map<number, number>();
  const turns = found.map((each) => {
    const turn = seen.get(each.slot) ?? 0;
    seen.set(each.slot, turn + 1);
    return { each, turn };
  });
  return turns.sort((one, other) => one.turn - other.turn).map(({ each }) => each);
}

/** Limits the number of running invoices of each tenant. */
export interface TenantLimit {
  /** Whether a further invoice may begin; counts it if so. */
  admit(due: DueInvoice): boolean;
  /** Whether no further invoice of the tenant of `due` may begin. */
  isFull(due: DueInvoice): boolean;
  /** The tenants with an invoice that was not admitted. Grows with calls of `admit`. */
  readonly refused: ReadonlySet<number>;
}

/**
 * Creates the limit for one search.
 * @param running the tenant of each running invoice
 * @param most maximum number of invoices of a tenant, including its running ones
 */
export function limitTenants(running: readonly number[], most: (tenant: number) => number): TenantLimit {
  const counts = new Map<number, number>();
  const refused = new Set<number>();
  const countOf = (tenant: number) => counts.get(tenant) ?? 0;
  const hasRoom = (tenant: number) => countOf(tenant) < most(tenant);
  for (const tenant of running) counts.set(tenant, countOf(tenant) + 1);
  return {
    admit({ slot }) {
      const tenant = tenantOfSlot(slot);
      const isAdmitted = hasRoom(tenant);
      if (isAdmitted) counts.set(tenant, countOf(tenant) + 1);
      else refused.add(tenant);
      return isAdmitted;
    },
    isFull: ({ slot }) => !hasRoom(tenantOfSlot(slot)),
    refused,
  };
}

/** Returns the partitions outside of a range as at most three parts, once around from `start` on. */
export function partsOutside({ from, until }: PartitionRange, start: number): PartitionRange[] {
  const around = [
    { ...ALL_PARTITIONS, from: start },
    { ...ALL_PARTITIONS, until: start },
  ];
  return around
    .flatMap((part) => [
      { from: part.from, until: Math.min(part.until, from) },
      { from: Math.max(part.from, until), until: part.until },
    ])
    .filter((part) => part.from < part.until);
}
