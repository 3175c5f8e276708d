import { ALL_PARTITIONS, type PartitionRange } from '../domain/invoice/lanes.ts';
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
