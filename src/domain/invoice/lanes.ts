import type { Environment } from '../tenant/tenant.ts';
import type { Invoice, Work } from './invoice.ts';
import type { Stage } from './lifecycle.ts';

/**
 * The kinds of due work, so that what is slow takes no place of something else. `places`: invoices that one process
 * runs at the same time; `besideClients`: while it answers clients, too.
 */
export const LANES = {
  /** Test invoices up to the receipt: they reach nothing outside the service. */
  stages: { places: 128, besideClients: 32 },
  /** Live invoices until the authority holds them: a run goes on from one of these stages to the authority. */
  transmissions: { places: 32, besideClients: 32 },
  /** Live invoices whose decision or receipt is asked for. */
  answers: { places: 24, besideClients: 24 },
  /** PDFs. Each occupies a page of the browser. */
  documents: { places: 4, besideClients: 4 },
  mail: { places: 8, besideClients: 8 },
  /** PDFs that nobody waits for. They are drawn while a process has nothing else to do. */
  idle: { places: 1, besideClients: 1 },
} as const satisfies Readonly<Record<string, { readonly places: number; readonly besideClients: number }>>;

export type Lane = keyof typeof LANES;
export const LANE_NAMES = Object.keys(LANES) as Lane[];
/** The lanes of live invoices that need the authority: those without a decision or a receipt. */
export const LIVE_LANES = ['transmissions', 'answers'] as const satisfies readonly Lane[];

const LANE_OF_STAGE: Readonly<Record<Stage, Readonly<Record<Environment, Lane>>>> = {
  normalize: { test: 'stages', live: 'transmissions' },
  sign: { test: 'stages', live: 'transmissions' },
  transmit: { test: 'stages', live: 'transmissions' },
  decide: { test: 'stages', live: 'answers' },
  receipt: { test: 'stages', live: 'answers' },
  render: { test: 'documents', live: 'documents' },
  email: { test: 'mail', live: 'mail' },
};

/** The lane of idle work that somebody waits for or a worker has claimed: it is no longer idle. */
export const HURRIED_LANE = 'documents' satisfies Lane;

/** The fields that decide the lane of work. */
export type PlacedWork = Pick<Work, 'stage'> & Partial<Pick<Work, 'parked' | 'idle' | 'blocked'>>;

/** The lane of work; null for work that no worker takes up by itself: it waits for the authority or an operator. */
export function laneOf(environment: Environment, { stage, parked, idle, blocked }: PlacedWork): Lane | null {
  if (parked || blocked) return null;
  return idle ? 'idle' : LANE_OF_STAGE[stage][environment];
}

/** Number of partitions of the invoices. Workers divide them among themselves; stored, so it can never change. */
export const PARTITIONS = 4096;
/**
 * Partitions of one tenant, as far apart as possible: several workers share the burst of a single tenant, because each
 * has a part of its range. Workers take the partitions in turn, and so the tenants.
 */
const OF_A_TENANT = 4;
/** The distance between two slots: a partition has 2^20, in which its tenants lie apart. */
const SLOT = 2 ** -20;

/**
 * The slot of an invoice, from 0 to below `PARTITIONS`: the whole part is its partition, the fraction its tenant's
 * place in it, so that no tenant waits for the backlog of another one in the same partition. It follows from the ids,
 * so that every process agrees. Work that a version before the slots wrote lies at the begin of its partition.
 */
export function slotOf({ tenantId, id }: Pick<Invoice, 'tenantId' | 'id'>): number {
  const place = hash(tenantId);
  const nth = hash(id) % OF_A_TENANT;
  return ((place + nth * (PARTITIONS / OF_A_TENANT)) % PARTITIONS) + Math.floor(place / PARTITIONS) * SLOT;
}

/** The slot behind this one. */
export function slotAfter(slot: number): number {
  return slot + SLOT;
}

/**
 * Whether late work is the share of the worker with this range: workers share what is late in one range by other hashes
 * than those of the slots. With each turn an invoice is the share of the next worker, so that it waits for none for ever.
 */
export function isLateShare(invoiceId: string, { from, until }: PartitionRange, turn: number): boolean {
  const partition = (hash(invoiceId) + turn * (until - from)) % PARTITIONS;
  return partition >= from && partition < until;
}

/** FNV-1a with 32 bits, and the last step of MurmurHash3, which spreads differences to the low bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Slots from `from` to `until`, the latter excluded. Workers divide whole partitions. */
export interface PartitionRange {
  readonly from: number;
  readonly until: number;
}

export const ALL_PARTITIONS: PartitionRange = { from: 0, until: PARTITIONS };

/**
 * The partitions of one of the workers. The ranges of all of them are disjoint, about equal and cover every partition;
 * a worker that is not in the list has all of them.
 */
export function rangeOf(workers: readonly string[], worker: string): PartitionRange {
  const place = workers.toSorted().indexOf(worker);
  if (place < 0) return ALL_PARTITIONS;
  const start = (n: number) => Math.floor((PARTITIONS * n) / workers.length);
  return { from: start(place), until: start(place + 1) };
}
