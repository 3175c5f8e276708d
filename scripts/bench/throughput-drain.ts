import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Filter } from 'mongodb';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import type { ThroughputAnswer } from './throughput-work.ts';
import { machineMs } from './webhook-work.ts';

/** The statuses of unfinished invoices. */
export const OPEN = ['pending', 'signing', 'transmitted'] as const;
/** Marks the bench's own commands, which are not counted. */
export const OWN = { comment: 'bench' } as const;
/**
 * Pause between two checks whether all invoices are done, milliseconds. It is a small fraction of the time waited so
 * far. So the checks cost a slow side little, and measure the end of a fast side exactly.
 */
const POLL = { least: 20, most: 500, partOfWait: 0.05 } as const;
/** Pause between two counts of the unfinished invoices, milliseconds. */
const COUNT_MS = 1000;
/** If no invoice finishes within this time, the unfinished ones are lost, milliseconds. */
const STALL_MS = 20_000;

/**
 * Waits until no invoice of the tenant is unfinished, or until none has finished within {@link STALL_MS}. Then waits
 * until all receipts are stored.
 * @throws when an invoice was rejected
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
