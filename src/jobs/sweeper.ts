import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import type { StageJobs } from './stage-jobs.ts';

const SWEEP_MS = 1000;
/** Invoices in a batch. */
const BATCH = 200;
/** Maximum number of batches in one sweep. */
const BATCHES = 50;
/** Time until an invoice of the first batch is checked again, milliseconds. */
const PAUSE_MS = 5000;

export interface SweeperParts {
  readonly invoices: Pick<InvoiceRepository, 'overdue' | 'takeOverdue' | 'postponeOverdue'>;
  readonly jobs: Pick<StageJobs, 'alive' | 'renew'>;
  readonly report: (error: unknown) => void;
}

export interface Sweeper {
  start(): void;
  /** Resolves when a sweep in progress has ended. */
  stop(): Promise<void>;
}

/**
 * Every second, queues invoices whose job is lost. A lost job is found soon even among thousands of late ones, because
 * a sweep continues through all overdue invoices, up to 10,000. Invoices with a job are checked again after 5 s times
 * the number of their batch, so the cost per second hardly grows with the length of a backlog.
 */
export function createSweeper({ invoices, jobs, report }: SweeperParts): Sweeper {
  let timer: NodeJS.Timeout | null = null;
  let sweeping: Promise<void> = Promise.resolve();
  let stopped = false;

  async function sweep(): Promise<void> {
    for (let batch = 1; batch <= BATCHES && !stopped; batch++) {
      const overdue = await invoices.overdue(BATCH);
      if (overdue.length === 0) return;
      const waiting = await jobs.alive(overdue);
      const lost = overdue.filter(({ invoiceId }) => !waiting.has(invoiceId));
      // In parallel, because a crash may leave many.
      await Promise.all([
        waiting.size > 0 && invoices.postponeOverdue([...waiting], PAUSE_MS * batch),
        ...lost.map(async (work) => (await invoices.takeOverdue(work.invoiceId, PAUSE_MS)) && jobs.renew(work)),
      ]);
      if (overdue.length < BATCH) return;
    }
  }

  function tick(): void {
    sweeping = sweep()
      .catch(report)
      .finally(() => {
        if (!stopped) timer = setTimeout(tick, SWEEP_MS);
      });
  }

  return {
    start() {
      timer = setTimeout(tick, 0);
    },
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await sweeping;
    },
  };
}
