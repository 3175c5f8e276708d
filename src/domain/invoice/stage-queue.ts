import type { Environment } from '../tenant/tenant.ts';
import type { Invoice, Work } from './invoice.ts';
import type { Stage } from './lifecycle.ts';

/** The next work of an invoice. Each retry of a stage counts as separate work. */
export interface PendingWork {
  readonly invoiceId: string;
  readonly environment: Environment;
  readonly stage: Stage;
  /** As {@link Work.since}. */
  readonly since: Date;
}

/** The fields of an invoice that decide which worker takes up its work. */
export type QueuedInvoice = Pick<Invoice, 'id' | 'tenantId' | 'environment' | 'work'>;

/** Wakes workers. If a call is lost, the claimer finds the invoice later. */
export interface StageQueue {
  /** Queues the invoice's pending work. Repeated calls queue it once. @param inMs delay in milliseconds */
  enqueue(invoice: QueuedInvoice, inMs: number): Promise<void>;
}
