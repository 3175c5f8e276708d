import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agenda, type Job } from 'agenda';
import type { Db } from 'mongodb';
import type { Stage } from '../domain/invoice/lifecycle.ts';
import type { StageQueue } from '../domain/invoice/repository.ts';
import { createRefilledStore } from './refill.ts';
import { createStageJobs, JOB_NAMES, JOBS_COLLECTION, jobName } from './stage-jobs.ts';
import { createSweeper, type SweeperParts } from './sweeper.ts';

// Polling is only the fallback: the notification channel starts jobs within milliseconds of their insertion.
const POLL_MS = 2000;
/**
 * When a job has run for this long, Agenda abandons it and starts it again while the first run continues. So no run may
 * take this long. Agenda also keeps a timer of half this time for each ended job, so it should not be much longer.
 */
const LOCK_LIFETIME_MS = 120_000;

/**
 * Number of jobs of a name that one process runs, and locks, at the same time. It locks no more than it runs: other
 * processes cannot run a locked job, and one that waits too long counts as lost. Rendering occupies a browser page; it
 * usually follows in the run of the receipt, where some wait for the authority.
 */
const CONCURRENCY: Readonly<Record<Stage, number>> = {
  normalize: 16,
  sign: 16,
  transmit: 32,
  decide: 16,
  receipt: 8,
  render: 4,
  email: 8,
};
/** Lock limit of jobs that end within milliseconds (webhooks). */
const LOCK_LIMIT = 500;
/**
 * Errors that Agenda reports without a fault. In the first, its check of a running job came between the end of the job
 * and its removal from Agenda's lists. In the second, another worker had run and removed the job before it was locked.
 */
const NO_FAULT = /no lockedAt date found|cannot be updated in the database, maybe it does not exist/;

interface StageJob {
  invoiceId: string;
}

/** The queue of pipeline stages, and the worker that runs them. */
export interface Jobs {
  readonly agenda: Agenda;
  readonly queue: StageQueue;
  /** Starts to run jobs, and the sweeper that replaces lost ones. */
  startWorker(run: (invoiceId: string) => Promise<void>): Promise<void>;
  /** Waits up to `timeoutMs` for running jobs and unlocks the others. */
  stop(timeoutMs: number): Promise<void>;
}

/**
 * Agenda on the database of the service. A job only wakes a worker. The invoice's document and its lease decide what is
 * done, so a job that runs twice, late or never does no harm (docs/decisions/0006).
 * @param report receives failures; a job never throws
 * @param soleWorker whether no other process runs these jobs. Locks found at the start are then left over from an ended
 * process
 */
export async function createJobs(
  db: Db,
  invoices: SweeperParts['invoices'],
  report: (message: string, error: unknown) => void,
  soleWorker: boolean,
): Promise<Jobs> {
  const { backend, channel, ended } = createRefilledStore(db, JOBS_COLLECTION);
  let stopping = false;
  channel.on('error', (error: unknown) => {
    // A change stream that is closed while it receives a change fails.
    if (!stopping) report('the notification channel of the jobs failed', error);
  });
  // `StageJobs.remove` relies on a unique name, and process ids are reused, in containers at each start.
  const worker = `fatoura-${process.pid}-${randomUUID().slice(0, 8)}`;
  const agenda = new Agenda({
    backend,
    notificationChannel: channel,
    name: worker,
    processEvery: POLL_MS,
    defaultLockLifetime: LOCK_LIFETIME_MS,
    // Each stage has its own limit. With a common limit a job could be locked without being run.
    maxConcurrency: Number.POSITIVE_INFINITY,
    lockLimit: 0,
    defaultLockLimit: LOCK_LIMIT,
    removeOnComplete: true,
  });
  const running = new Set<Job>();
  agenda.on('start', (job: Job) => running.add(job));
  agenda.on('complete', (job: Job) => {
    running.delete(job);
    ended(job.attrs.name);
  });
  agenda.on('error', (error: unknown) => {
    if (!NO_FAULT.test(String(error))) report('Agenda reports an error', error);
  });
  await agenda.ready;

  const jobs = createStageJobs(db, worker);
  const queue: StageQueue = {
    async enqueue({ id, environment, work }, inMs) {
      if (work === null) return;
      const { stage, since } = work;
      try {
        await jobs.add({ invoiceId: id, environment, stage, since }, new Date(Date.now() + inMs));
      } catch (error) {
        // The sweeper will find the invoice.
        report(`a job ${jobName(stage, environment)} could not be queued`, error);
      }
    },
  };

  const sweeper = createSweeper({ invoices, jobs, report: (error) => report('the sweeper failed', error) });

  /** Removes finished jobs that ended workers did not remove and, if this is the only worker, releases old locks. */
  async function cleanUp(): Promise<void> {
    const stored = db.collection(JOBS_COLLECTION);
    const name = { $in: [...JOB_NAMES.keys()] };
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: null, lastFinishedAt: { $ne: null }, failedAt: null });
    if (!soleWorker) return;
    // A job that was running has no next run and would stay until its lock expires. The sweeper finds its invoice when
    // the lease expires.
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: { $ne: null } });
    await stored.updateMany({ name, lockedAt: { $ne: null } }, { $set: { lockedAt: null } });
  }

  return {
    agenda,
    queue,
    async startWorker(run) {
      await cleanUp();
      for (const [name, stage] of JOB_NAMES) {
        agenda.define<StageJob>(
          name,
          async (job: Job<StageJob>) => {
            try {
              await run(job.attrs.data.invoiceId);
            } catch (error) {
              // The lease expires, and the sweeper queues the invoice again.
              report(`${name} failed for ${job.attrs.data.invoiceId}`, error);
            }
            // Removed here, because Agenda would emit `complete` before the removal and free the job's slot after it. A
            // job that is not removed does no harm.
            await jobs.remove(String(job.attrs._id)).catch(() => undefined);
          },
          { concurrency: CONCURRENCY[stage], lockLimit: CONCURRENCY[stage], removeOnComplete: false },
        );
      }
      await agenda.start();
      sweeper.start();
    },
    async stop(timeoutMs) {
      stopping = true;
      await sweeper.stop();
      // Waits for running jobs only; `drain` would also start the jobs that are locked here.
      const over = new Promise<void>((resolve) => {
        const check = () => running.size === 0 && resolve();
        agenda.on('complete', check);
        check();
      });
      // Otherwise a search that is in progress would lock further jobs.
      for (const definition of Object.values(agenda.definitions)) definition.lockLimit = -1;
      await agenda.stop(false);
      await Promise.race([over, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}
