import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agenda, type Job } from 'agenda';
import type { Db } from 'mongodb';
import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import {
  LANES,
  type Lane,
  laneOf,
  PARTITIONS,
  type PartitionRange,
  slotAfter,
  slotOf,
} from '../domain/invoice/lanes.ts';
import type { Pipeline } from '../domain/invoice/pipeline.ts';
import type { InvoiceRepository, StageQueue } from '../domain/invoice/repository.ts';
import { createClaimRanges, WHOLE_RANGE } from './claim-ranges.ts';
import { type ClaimCounts, type Claimer, type ClaimerParts, createClaimer } from './claimer.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createRate } from './rate.ts';
import { createRefilledStore } from './refill.ts';
import {
  createStageJobs,
  JOB_NAMES,
  JOBS_COLLECTION,
  jobName,
  partitionOfJob,
  WAKE_JOB,
  WAKE_RANGES,
  type Wake,
  wakeOfJob,
} from './stage-jobs.ts';

// Polling is only the fallback: the notification channel starts jobs within milliseconds of their insertion.
const POLL_MS = 2000;
/**
 * When a job has run for this long, Agenda abandons it and starts it again while the first run continues. So no run may
 * take this long. Agenda also keeps a timer of half this time for each ended job, so it should not be much longer.
 */
const LOCK_LIFETIME_MS = 120_000;

/** Pause between two searches for work that an earlier version wrote, milliseconds. */
const PLACE_MS = 5000;
/** Invoices in one step of such a search. */
const PLACE_BATCH = 500;
/** Number of wake jobs that one process runs at the same time. */
const WAKE_CONCURRENCY = 16;
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
  /** Starts to run jobs, and the claimer, which finds due invoices without one. */
  startWorker(pipeline: Pipeline): Promise<void>;
  /** Runs work of a worker that has no place in a lane. The process is not idle meanwhile. */
  besides(work: () => Promise<void>): Promise<void>;
  /** What the claims of this process have cost; null until the worker is started. */
  claimCounts(): ClaimCounts | null;
  /** Waits up to `timeoutMs` for running jobs and unlocks the others. */
  stop(timeoutMs: number): Promise<void>;
}

export interface JobsParts {
  readonly db: Db;
  readonly invoices: ClaimerParts['invoices'] & Pick<InvoiceRepository, 'placeEarlierWork'>;
  readonly members: ClaimMembers;
  /** Receives failures; a job never throws. */
  readonly report: (message: string, error: unknown) => void;
  /**
   * Whether no other process runs these jobs. Locks found at the start are then left over from an ended process, and no
   * partitions are shared.
   */
  readonly soleWorker: boolean;
  /** Number of due invoices a second that get a job each; beyond it, a job tells of many of them. */
  readonly jobRate: number;
}

/**
 * Agenda on the database of the service. A job only wakes a worker. The invoice's document and its lease decide what is
 * done, so a job that runs twice, late or never does no harm (docs/decisions/0006).
 */
export async function createJobs(parts: JobsParts): Promise<Jobs> {
  const { db, invoices, members, report, soleWorker, jobRate } = parts;
  let stopping = false;
  // `StageJobs.remove` relies on a unique name, and process ids are reused, in containers at each start.
  const worker = `fatoura-${process.pid}-${randomUUID().slice(0, 8)}`;
  const ranges = soleWorker
    ? WHOLE_RANGE
    : createClaimRanges(members, worker, (error) => report('the partitions of invoices could not be shared', error));
  // Every worker would try to lock the job, and the claimer of the one to whom the partition belongs finds the invoice
  // as well. The others look at the next poll, in case that one is gone.
  const { backend, channel, ended } = createRefilledStore(db, JOBS_COLLECTION, ({ jobName: name, jobId }) => {
    if (!JOB_NAMES.has(name)) return true;
    const [own, partition] = [ranges.own(), partitionOfJob(String(jobId))];
    return partition >= own.from && partition < own.until;
  });
  channel.on('error', (error: unknown) => {
    // A change stream that is closed while it receives a change fails.
    if (!stopping) report('the notification channel of the jobs failed', error);
  });
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
  const rate = createRate(jobRate);
  let claimer: Claimer | null = null;
  /** When each wake job of this process was added, in whole seconds. */
  const woken = new Map<string, number>();

  /** Whether an invoice that is due now gets a job: not if this process is busy, and claims it with others. */
  function getsJob(lane: Lane, slot: number): boolean {
    return !claimer?.isBusy(lane, only(slot)) && rate.take();
  }

  /** Tells the worker of this slot that one of its invoices is due. */
  async function wake(lane: Lane, slot: number): Promise<void> {
    if (claimer?.wake(lane, only(slot))) return;
    const range = Math.floor((slot * WAKE_RANGES) / PARTITIONS);
    const second = Math.floor(Date.now() / 1000);
    const key = `${lane} ${range}`;
    if (woken.get(key) === second) return;
    woken.set(key, second);
    await jobs.wake({ lane, range });
  }

  const queue: StageQueue = {
    async enqueue(invoice, inMs) {
      const { id, environment, work } = invoice;
      const lane = work && laneOf(environment, work);
      // Nobody waits for idle work.
      if (!lane || lane === 'idle') return;
      const { stage, since } = work;
      const slot = slotOf(invoice);
      try {
        if (inMs > 0 || getsJob(lane, slot))
          await jobs.add({ invoiceId: id, environment, stage, since }, slot, new Date(Date.now() + inMs));
        else await wake(lane, slot);
      } catch (error) {
        // The claimer will find the invoice.
        report(`a job ${jobName(stage, environment)} could not be queued`, error);
      }
    },
  };

  let stopPlacing = async () => {};

  async function placeEarlierWork(): Promise<void> {
    while (!stopping && (await invoices.placeEarlierWork(PLACE_BATCH)) === PLACE_BATCH);
  }

  /** Defines the jobs, each of which runs at a place of its invoice's lane, or leaves the invoice to the claimer. */
  function define(pipeline: Pick<Pipeline, 'run'>, claims: Claimer): void {
    for (const [name, lane] of JOB_NAMES) {
      agenda.define<StageJob>(
        name,
        async (job: Job<StageJob>) => {
          const { invoiceId } = job.attrs.data;
          await claims.occupy(lane, invoiceId, () => pipeline.run(invoiceId));
          // Removed here, because Agenda would emit `complete` before the removal and free the job's slot after it. A
          // job that is not removed does no harm.
          await jobs.remove(String(job.attrs._id)).catch(() => undefined);
        },
        // It locks no more than it runs, because other processes cannot run a locked job.
        { concurrency: LANES[lane].places, lockLimit: LANES[lane].places, removeOnComplete: false },
      );
    }
    agenda.define<Wake>(WAKE_JOB, async (job: Job<Wake>) => tell(claims, job.attrs.data), {
      ...{ concurrency: WAKE_CONCURRENCY, lockLimit: WAKE_CONCURRENCY },
    });
    // Every worker hears of a wake job, whichever runs it, so that the one to whom the partitions belong looks at once.
    channel.subscribe(async ({ jobName: name, jobId }) => {
      const told = name === WAKE_JOB ? wakeOfJob(String(jobId)) : null;
      if (told) tell(claims, told);
    });
  }

  /** Removes finished jobs that ended workers did not remove and, if this is the only worker, releases old locks. */
  async function cleanUp(): Promise<void> {
    const stored = db.collection(JOBS_COLLECTION);
    const name = { $in: [...JOB_NAMES.keys()] };
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: null, lastFinishedAt: { $ne: null }, failedAt: null });
    if (!soleWorker) return;
    // A job that was running has no next run and would stay until its lock expires. The claimer finds its invoice when
    // the lease expires.
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: { $ne: null } });
    await stored.updateMany({ name, lockedAt: { $ne: null } }, { $set: { lockedAt: null } });
  }

  return {
    agenda,
    queue,
    besides: (work) => (claimer ? claimer.besides(work) : work()),
    claimCounts: () => claimer?.counts() ?? null,
    async startWorker(pipeline) {
      await cleanUp();
      claimer = createClaimer({ invoices, ranges, run: pipeline.runClaimed, report });
      define(pipeline, claimer);
      await ranges.start();
      await agenda.start();
      claimer.start();
      stopPlacing = startHousekeeping(
        placeEarlierWork,
        (error) => report('the work that an earlier version wrote could not be placed', error),
        { firstMs: 0, pauseMs: PLACE_MS },
      );
    },
    async stop(timeoutMs) {
      stopping = true;
      // Otherwise a search that is in progress would lock further jobs.
      for (const definition of Object.values(agenda.definitions)) definition.lockLimit = -1;
      const claimsOver = claimer?.stop(timeoutMs);
      await Promise.all([stopPlacing(), ranges.stop()]);
      // Waits for running jobs only; `drain` would also start the jobs that are locked here.
      const over = new Promise<void>((resolve) => {
        const check = () => running.size === 0 && resolve();
        agenda.on('complete', check);
        check();
      });
      await agenda.stop(false);
      await Promise.race([Promise.all([over, claimsOver]), sleep(timeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Makes the claimer look at what a wake job tells of, if it is its own. */
function tell(claims: Claimer, { lane, range }: Wake): void {
  claims.wake(lane, rangeOfWake(range));
}

function only(slot: number): PartitionRange {
  return { from: slot, until: slotAfter(slot) };
}

function rangeOfWake(range: number): PartitionRange {
  const size = PARTITIONS / WAKE_RANGES;
  return { from: range * size, until: (range + 1) * size };
}
