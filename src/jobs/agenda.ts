import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoBackend, MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import { Agenda, type Job } from 'agenda';
import type { Db } from 'mongodb';
import { STAGES, type Stage } from '../domain/invoice/lifecycle.ts';
import type { StageQueue } from '../domain/invoice/repository.ts';
import { createSweeper, type SweeperParts } from './sweeper.ts';
import { invoicesWithJob } from './waiting-jobs.ts';

/** Agenda's collection of jobs. */
export const JOBS_COLLECTION = 'jobs';

// A poll is only the fallback: the notification channel starts jobs within milliseconds of their insertion.
const POLL_MS = 2000;
const LOCK_LIFETIME_MS = 30_000;

/** How many invoices of a stage one process works on at once. Rendering holds a page of the browser. */
const CONCURRENCY: Readonly<Record<Stage, number>> = {
  normalize: 16,
  sign: 16,
  transmit: 32,
  decide: 16,
  render: 4,
  email: 8,
};
// Unlimited locks would let one process hoard a backlog; too few are refilled at each poll only.
const LOCK_LIMIT = 500;

interface StageJob {
  invoiceId: string;
}

/** The queue of pipeline stages, and the worker that runs them. */
export interface Jobs {
  readonly agenda: Agenda;
  readonly queue: StageQueue;
  /** Starts working: jobs run, the sweeper looks for lost ones. */
  startWorker(run: (invoiceId: string) => Promise<void>): Promise<void>;
  /** Waits up to `timeoutMs` for running jobs, hands back the others. */
  stop(timeoutMs: number): Promise<void>;
}

/** The name of a stage's jobs, as operators see it in the dashboard. */
export function jobName(stage: Stage): string {
  return `invoice.${stage}`;
}

/**
 * Agenda on the service's own database. It only wakes: what is done is decided by the invoice's document and its lease, so a job that
 * runs twice, late or not at all does no harm (design, section 4).
 * @param report told of what fails; nothing is thrown out of a job
 * @param soleWorker whether no other process can be working on these jobs: locks found at the start are those of the dead
 */
export async function createJobs(
  db: Db,
  invoices: SweeperParts['invoices'],
  report: (message: string, error: unknown) => void,
  soleWorker: boolean,
): Promise<Jobs> {
  // Insertions alone notify (no `fullDocument`): an update of a job never means that it should start.
  const channel = new MongoChangeStreamNotificationChannel({ db, collection: JOBS_COLLECTION, fullDocument: false });
  let stopping = false;
  channel.on('error', (error: unknown) => {
    // Closing a stream that just receives something makes it fail.
    if (!stopping) report("the jobs' notification channel failed", error);
  });
  // Process ids come again, in containers at each start; the sweeper relies on the name.
  const worker = `fatoura-${process.pid}-${randomUUID().slice(0, 8)}`;
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: db, collection: JOBS_COLLECTION, ensureIndex: true }),
    notificationChannel: channel,
    name: worker,
    processEvery: POLL_MS,
    defaultLockLifetime: LOCK_LIFETIME_MS,
    maxConcurrency: 64,
    lockLimit: 0,
    defaultLockLimit: LOCK_LIMIT,
    removeOnComplete: true,
  });
  const running = new Set<Job>();
  agenda.on('start', (job: Job) => running.add(job));
  agenda.on('complete', (job: Job) => running.delete(job));
  agenda.on('error', (error: unknown) => report('Agenda reports an error', error));
  await agenda.ready;

  const queue: StageQueue = {
    async enqueue(stage, invoiceId, inMs) {
      try {
        await agenda.schedule(new Date(Date.now() + inMs), jobName(stage), { invoiceId } satisfies StageJob);
      } catch (error) {
        // The sweeper finds the invoice.
        report(`a job ${jobName(stage)} could not be queued`, error);
      }
    },
  };

  const sweeper = createSweeper({
    invoices,
    withJob: (ids) => invoicesWithJob(db.collection(JOBS_COLLECTION), worker, ids),
    enqueue: (stage, invoiceId) => queue.enqueue(stage, invoiceId, 0),
    report: (error) => report('the sweeper failed', error),
  });

  /** What dead workers left: jobs that were marked as finished and not removed yet and, where no other worker lives, their locks. */
  async function cleanUp(): Promise<void> {
    const jobs = db.collection(JOBS_COLLECTION);
    const name = { $in: STAGES.map(jobName) };
    await jobs.deleteMany({ name, nextRunAt: null, lockedAt: null, lastFinishedAt: { $ne: null }, failedAt: null });
    if (!soleWorker) return;
    // A job that ran has no next time and would wait for its lock to expire; its invoice is found by the sweeper when the lease ends.
    await jobs.deleteMany({ name, nextRunAt: null, lockedAt: { $ne: null } });
    await jobs.updateMany({ name, lockedAt: { $ne: null } }, { $set: { lockedAt: null } });
  }

  return {
    agenda,
    queue,
    async startWorker(run) {
      await cleanUp();
      for (const stage of STAGES) {
        agenda.define<StageJob>(
          jobName(stage),
          async (job: Job<StageJob>) => {
            try {
              await run(job.attrs.data.invoiceId);
            } catch (error) {
              // The lease runs out and the sweeper tries again.
              report(`${jobName(stage)} failed for ${job.attrs.data.invoiceId}`, error);
            }
          },
          { concurrency: CONCURRENCY[stage] },
        );
      }
      await agenda.start();
      sweeper.start();
    },
    async stop(timeoutMs) {
      stopping = true;
      await sweeper.stop();
      // Not `drain`, which goes on starting what waits here: only what runs is waited for.
      const over = new Promise<void>((resolve) => {
        const check = () => running.size === 0 && resolve();
        agenda.on('complete', check);
        check();
      });
      // A search for further jobs that is under way would go on locking them.
      for (const definition of Object.values(agenda.definitions)) definition.lockLimit = -1;
      await agenda.stop(false);
      await Promise.race([over, sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}
