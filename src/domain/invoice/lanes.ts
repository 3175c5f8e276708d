import type { Environment } from '../tenant/tenant.ts';
import type { Invoice, Work } from './invoice.ts';
import { LEGAL_STAGES, type Stage } from './lifecycle.ts';

/**
 * The kinds of due work. Each has places of its own, so that slow work takes none from other work. `places`: invoices
 * that one process runs at once; `besideClients`: the same while it also answers clients. A {@link LaneGate} replaces
 * both numbers.
 */
export const LANES = {
  /** Test invoices up to the receipt. They need nothing outside the service. */
  stages: { places: 128, besideClients: 32 },
  /** Live invoices until they are signed. */
  signing: { places: 32, besideClients: 32 },
  /** Signed live invoices until the authority holds them, as many at the same time as it allows. */
  transmissions: { places: 32, besideClients: 32 },
  /** Live invoices that wait for the authority's decision or receipt. */
  answers: { places: 24, besideClients: 24 },
  /** PDFs. Each needs a page of the browser. */
  documents: { places: 4, besideClients: 4 },
  mail: { places: 8, besideClients: 8 },
  /** PDFs that no request waits for. They are drawn while a process has nothing else to do. */
  idle: { places: 1, besideClients: 1 },
} as const satisfies Readonly<Record<string, { readonly places: number; readonly besideClients: number }>>;

export type Lane = keyof typeof LANES;
export const LANE_NAMES = Object.keys(LANES) as Lane[];

const LANE_OF_STAGE: Readonly<Record<Stage, Readonly<Record<Environment, Lane>>>> = {
  normalize: { test: 'stages', live: 'signing' },
  sign: { test: 'stages', live: 'signing' },
  transmit: { test: 'stages', live: 'transmissions' },
  decide: { test: 'stages', live: 'answers' },
  receipt: { test: 'stages', live: 'answers' },
  render: { test: 'documents', live: 'documents' },
  email: { test: 'mail', live: 'mail' },
};

/** The lanes of live invoices that need the authority: those without a decision or a receipt. */
export const LIVE_LANES: readonly Lane[] = [...new Set(LEGAL_STAGES.map((stage) => LANE_OF_STAGE[stage].live))];

/** Decides how many invoices of a lane may run. */
export interface LaneGate {
  /** Number of invoices that may begin at the moment. @param running number of those that run */
  free(running: number): number;
  /** Number of places when all are free. */
  places(): number;
  /** Takes a place before the invoice is claimed. @returns false if there is none */
  reserve(invoiceId: string): Promise<boolean>;
  /** Frees a reserved place that was not used. */
  cancel(invoiceId: string): void;
  /** Calls `listener` whenever places may have become free. */
  onChange(listener: () => void): void;
}

/** The lane of idle work after a request waits for it or a worker has claimed it. It is no longer idle then. */
export const HURRIED_LANE = 'documents' satisfies Lane;

/** The fields that decide the lane of work. */
export type PlacedWork = Pick<Work, 'stage'> & Partial<Pick<Work, 'idle' | 'blocked'>>;

/** Returns the lane of work; null for work that waits for an operator, so that no worker takes it up. */
export function laneOf(environment: Environment, { stage, idle, blocked }: PlacedWork): Lane | null {
  if (blocked) return null;
  return idle ? 'idle' : LANE_OF_STAGE[stage][environment];
}

/**
 * Number of partitions of the invoices, which workers divide among themselves. It is part of stored values, so it can
 * never change.
 */
export const PARTITIONS = 4096;
/**
 * Number of partitions of one tenant. They are as far apart as possible, so that several workers share the burst of a
 * single tenant. Workers take the partitions in turn, and thereby the tenants.
 */
const OF_A_TENANT = 4;
/** The distance between two slots. A partition has 2^20 slots, over which its tenants are spread. */
const SLOT = 2 ** -20;

/**
 * Returns the slot of an invoice, from 0 to below `PARTITIONS`. The integer part is its partition. The fraction is its
 * tenant's place within it, so that no tenant waits for another one's backlog in the same partition. It is computed
 * from the ids, so every process gets the same. A tenant has one slot for live transmissions, which are sent in the
 * order of their age, and four slots for other work.
 */
export function slotOf({ tenantId, id }: Pick<Invoice, 'tenantId' | 'id'>, lane: Lane | null): number {
  const place = hash(tenantId);
  const nth = lane === 'transmissions' ? 0 : hash(id) % OF_A_TENANT;
  return ((place + nth * (PARTITIONS / OF_A_TENANT)) % PARTITIONS) + Math.floor(place / PARTITIONS) * SLOT;
}

/** Returns what the slots of a tenant have in common: a number that hardly any other tenant has. */
export function tenantOfSlot(slot: number): number {
  return slot % (PARTITIONS / OF_A_TENANT);
}

/** Returns the number of a tenant that {@link tenantOfSlot} gives for each of its slots. */
export function tenantNumber(tenantId: string): number {
  return tenantOfSlot(slotOf({ tenantId, id: '' }, null));
}

/** Returns the next slot. */
export function slotAfter(slot: number): number {
  return slot + SLOT;
}

/**
 * Whether a late invoice is the share of the worker with this range. Workers share late work by other hashes than those
 * of the slots. With each turn the invoice becomes the share of the next worker, so it does not depend on a single one.
 */
export function isLateShare(invoiceId: string, { from, until }: PartitionRange, turn: number): boolean {
  const partition = (hash(invoiceId) + turn * (until - from)) % PARTITIONS;
  return partition >= from && partition < until;
}

/** Computes FNV-1a with 32 bits and the last step of MurmurHash3, which spreads differences to the low bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The slots from `from` (inclusive) to `until` (exclusive). Workers divide whole partitions. */
export interface PartitionRange {
  readonly from: number;
  readonly until: number;
}

export const ALL_PARTITIONS: PartitionRange = { from: 0, until: PARTITIONS };

/**
 * Returns the partitions of a worker. The ranges of all workers are disjoint, about equal, and cover every partition. A
 * worker that is not in the list gets all partitions.
 */
export function rangeOf(workers: readonly string[], worker: string): PartitionRange {
  const place = workers.toSorted().indexOf(worker);
  if (place < 0) return ALL_PARTITIONS;
  const start = (n: number) => Math.floor((PARTITIONS * n) / workers.length);
  return { from: start(place), until: start(place + 1) };
}
