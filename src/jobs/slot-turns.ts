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

/** Whether a further invoice may begin; counts it if so. */
export type Admit = (due: DueInvoice) => boolean;

/**
 * Limits the invoices of each tenant.
 * @param running the tenant of each running invoice
 * @param most maximum number of invoices of one tenant, those that run included
 * @returns `refused` fills with the tenants of which an invoice was not admitted
 */
export function limitTenants(running: readonly number[], most: number): { admit: Admit; refused: ReadonlySet<number> } {
  const counts = new Map<number, number>();
  const refused = new Set<number>();
  const admit: Admit = ({ slot }) => {
    const tenant = tenantOfSlot(slot);
    const count = counts.get(tenant) ?? 0;
    if (count < most) counts.set(tenant, count + 1);
    else refused.add(tenant);
    return count < most;
  };
  for (const tenant of running) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return { admit, refused };
}

/** Returns the parts of all partitions outside of a range, once round from `start` on: at most three. */
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
