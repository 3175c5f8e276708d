import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Filter } from 'mongodb';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import type { ThroughputAnswer } from './throughput-work.ts';
import { machineMs } from './webhook-work.ts';

/** The statuses of invoices that are on their way. */
export const OPEN = ['pending', 'signing', 'transmitted'] as const;
/** Marks the bench's own commands, which are not counted. */
export const OWN = { comment: 'bench' } as const;
/**
 * Pause between two looks at whether all invoices are done, milliseconds. It grows with the wait, to a part of it that
 * is small beside it, so that the looks cost a slow side little and tell the end of a fast one well.
 */
const POLL = { least: 20, most: 500, partOfWait: 0.05 } as const;
/** Pause between two counts of the invoices that are left, milliseconds. */
const COUNT_MS = 1000;
/** Invoices of which none ends within this time are lost, milliseconds. */
const STALL_MS = 20_000;

/**
 * Waits until no invoice of the tenant is on its way, or until none has ended for a while; then for receipts.
 * @throws when one was rejected
 */
export async function drained(
  invoices: Collection<InvoiceDocument>,
  tenantId: string,
): Promise<Required<Pick<ThroughputAnswer, 'atMs' | 'left'>>> {
  const ofTenant = { tenantId, environment: 'test', kind: 'invoice' } as const;
  const open: Filter<InvoiceDocument> = { ...ofTenant, status: { $in: [...OPEN] } };
  const isOpen = async () => (await invoices.findOne(open, { projection: { _id: 1 }, ...OWN })) !== null;
  const beganAtMs = machineMs();
  let [left, changedAtMs, countedAtMs] = [Number.POSITIVE_INFINITY, beganAtMs, 0];
  while ((await isOpen()) && machineMs() - changedAtMs < STALL_MS) {
    if (machineMs() - countedAtMs > COUNT_MS) {
      countedAtMs = machineMs();
      const now = await invoices.countDocuments(open, OWN);
      if (now < left) [left, changedAtMs] = [now, countedAtMs];
    }
    await sleep(Math.min(POLL.most, Math.max(POLL.least, (machineMs() - beganAtMs) * POLL.partOfWait)));
  }
  const hasStalled = await isOpen();
  const atMs = hasStalled ? changedAtMs : machineMs();
  const rejected = await invoices.countDocuments({ ...ofTenant, status: 'rejected' }, OWN);
  if (rejected > 0) throw new Error(`${rejected} invoices were rejected`);
  const receipts: Filter<InvoiceDocument> = { ...ofTenant, status: 'accepted', 'work.stage': 'receipt' };
  while ((await invoices.findOne(receipts, { projection: { _id: 1 }, ...OWN })) !== null) await sleep(POLL.most);
  return { atMs, left: hasStalled ? left : 0 };
}
