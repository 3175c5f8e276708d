import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agenda, type Job } from 'agenda';
import type { Db } from 'mongodb';
import { STAGES, type Stage } from '../domain/invoice/lifecycle.ts';
import type { StageQueue } from '../domain/invoice/repository.ts';
import { createRefilledStore } from './refill.ts';
import { createStageJobs, JOBS_COLLECTION, jobName } from './stage-jobs.ts';
import { createSweeper, type SweeperParts } from './sweeper.ts';

// A poll is only the fallback: the notification channel starts jobs within milliseconds of their insertion.
const POLL_MS = 2000;
/**
 * Agenda gives up a job that has run for as long and starts another in its place while the first goes on, so no run may take as long. It
 * also keeps a timer for half of it for each job that has ended, so it should not be much longer.
 */
const LOCK_LIFETIME_MS = 120_000;

/**
 * How many invoices of a stage one process works on at once, and how many jobs it locks: a job that waits in a process can't be had by
 * another, and is taken for lost. Rendering holds a page of the browser.
 */
const CONCURRENCY: Readonly<Record<Stage, number>> = {
  normalize: 16,
  sign: 16,
  transmit: 32,
  decide: 16,
  render: 4,
  email: 8,
};
/** Of jobs that end within moments (webhooks). */
const LOCK_LIMIT = 500;
/**
 * What Agenda reports though nothing is wrong: its check of a running job came between the job's end and its removal from Agenda's lists; or
 * a job was locked so late that another worker has run it and removed it by now.
 */
const NO_FAULT = /no lockedAt date found|cannot be updated in the database, maybe it does not exist/;

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

/**
 * Agenda on the service's own database. It only wakes: what is done is decided by the invoice's document and its lease, so a job that
 * runs twice, late or not at all does no harm (docs/decisions/0006).
 * @param report told of what fails; nothing is thrown out of a job
 * @param soleWorker whether no other process can be working on these jobs: locks found at the start are those of the dead
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
    // Closing a stream that just receives something makes it fail.
    if (!stopping) report("the jobs' notification channel failed", error);
  });
  // Process ids come again, in containers at each start; the sweeper relies on the name.
  const worker = `fatoura-${process.pid}-${randomUUID().slice(0, 8)}`;
  const agenda = new Agenda({
    backend,
    notificationChannel: channel,
    name: worker,
    processEvery: POLL_MS,
    defaultLockLifetime: LOCK_LIFETIME_MS,
    // Each stage has its own limit. With one for all of them a job could be locked and not run.
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
    async enqueue({ id, work }, inMs) {
      if (work === null) return;
      const { stage, since } = work;
      try {
        await jobs.add({ invoiceId: id, stage, since }, new Date(Date.now() + inMs));
      } catch (error) {
        // The sweeper finds the invoice.
        report(`a job ${jobName(stage)} could not be queued`, error);
      }
    },
  };

  const sweeper = createSweeper({ invoices, jobs, report: (error) => report('the sweeper failed', error) });

  /** What dead workers left: jobs that were marked as finished and not removed yet and, where no other worker lives, their locks. */
  async function cleanUp(): Promise<void> {
    const stored = db.collection(JOBS_COLLECTION);
    const name = { $in: STAGES.map(jobName) };
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: null, lastFinishedAt: { $ne: null }, failedAt: null });
    if (!soleWorker) return;
    // A job that ran has no next time and would wait for its lock to expire; its invoice is found by the sweeper when the lease ends.
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: { $ne: null } });
    await stored.updateMany({ name, lockedAt: { $ne: null } }, { $set: { lockedAt: null } });
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
            // Here and not by Agenda, which tells of the job's end before and frees its place after the removal. What is left is no harm.
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
