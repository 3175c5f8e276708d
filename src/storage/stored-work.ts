import type { Invoice, Work } from '../domain/invoice/invoice.ts';
import { type Lane, laneOf, type PlacedWork, slotOf } from '../domain/invoice/lanes.ts';
import type { NextWork } from '../domain/invoice/repository.ts';

/** The stored work of an invoice. Fields equal to `NEW_WORK` are absent, except those that queries need. */
export interface StoredWork extends Omit<Work, 'failures' | 'tried' | 'idle' | 'blocked'> {
  failures?: Work['failures'];
  tried?: true;
  idle?: true;
  blocked?: NonNullable<Work['blocked']>;
  /** Identifies the claim that holds the lease; null if no claim does. */
  token: string | null;
  /** See {@link laneOf}; absent if it is null. */
  lane?: Lane;
  /** The slot, see {@link slotOf}. */
  partition?: number;
}

type Placed = Pick<Invoice, 'id' | 'tenantId' | 'environment'>;

/** Returns the complete work as it is stored. Every update that replaces the work of an invoice writes this. */
export function storedWork(
  invoice: Placed,
  next: NextWork,
  held: Required<Pick<StoredWork, 'claims' | 'since' | 'token' | 'dueAt'>>,
): StoredWork {
  return { stage: next.stage, ...workFields(next), ...held, ...placeOf(invoice, next) };
}

/** Returns lane and partition as an update of stored work sets them. */
export function placeFields(invoice: Placed, work: PlacedWork) {
  return Object.fromEntries(Object.entries(placeOf(invoice, work)).map(([name, value]) => [`work.${name}`, value]));
}

function placeOf(invoice: Placed, work: PlacedWork) {
  const lane = laneOf(invoice.environment, work);
  return { ...(lane && { lane }), partition: slotOf(invoice, lane) };
}

/** Returns the stored form of the fields of `NEW_WORK`. */
export function workFields({ attempts, outcomeUnknown, failures, tried, idle, blocked }: Omit<NextWork, 'stage'>) {
  return {
    attempts,
    outcomeUnknown,
    ...(failures && failures.length > 0 && { failures }),
    ...(tried && { tried }),
    ...(idle && { idle }),
    ...(blocked && { blocked }),
  };
}
