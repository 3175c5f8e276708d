import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import type { StageJobs } from './stage-jobs.ts';

const SWEEP_MS = 1000;
/** Invoices looked at together, and how many times over in one sweep. */
const BATCH = 200;
const BATCHES = 50;
const PAUSE_MS = 5000;

export interface SweeperParts {
  readonly invoices: Pick<InvoiceRepository, 'overdue' | 'takeOverdue' | 'postponeOverdue'>;
  readonly jobs: Pick<StageJobs, 'alive' | 'renew'>;
  readonly report: (error: unknown) => void;
}

export interface Sweeper {
  start(): void;
  /** Resolves when what is under way is done. */
  stop(): Promise<void>;
}

/**
 * Queues the invoices whose job is lost, each second. A lost one is found soon also behind thousands that are merely late: every sweep goes on
 * until it has seen all. Those with a job are looked at again after 5 s, or the later the more there are, so that a backlog costs about as
 * much whatever its length.
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
      // Together: after a crash there may be many, and none should wait for the others.
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
