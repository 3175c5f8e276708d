import { randomUUID } from 'node:crypto';
import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda, type Job } from 'agenda';
import type { Db } from 'mongodb';
import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import {
  type Lane,
  type LaneGate,
  laneOf,
  PARTITIONS,
  type PartitionRange,
  slotAfter,
  slotOf,
} from '../domain/invoice/lanes.ts';
import type { Pipeline } from '../domain/invoice/pipeline.ts';
import type { StageQueue } from '../domain/invoice/stage-queue.ts';
import { every } from '../domain/kit/every.ts';
import { within } from '../domain/kit/within.ts';
import { createClaimRanges, createWholeRange } from './claim-ranges.ts';
import { type ClaimCounts, type Claimer, type ClaimerParts, createClaimer } from './claimer.ts';
import { endableSearches } from './endable-searches.ts';
import { createJobChannel } from './job-channel.ts';
import { JOBS_COLLECTION } from './job-documents.ts';
import {
  createStageJobs,
  JOB_NAMES,
  jobName,
  partitionOfJob,
  WAITS_A_SECOND,
  WAKE_JOB,
  WAKE_MS,
  WAKE_RANGES,
  type Wake,
  wakeOfJob,
  wakeOfShared,
} from './stage-jobs.ts';

/**
 * Pause between two searches for jobs, milliseconds. Each search takes one command per job name. The notification
 * channel reports jobs that are due before the next search. Agenda overlooks a job until the next search in two cases:
 * its timer fires a millisecond before the job's time, or the job is added during a search. The claimer finds the
 * invoices of such jobs within a second.
 */
const POLL_MS = 5000;
/**
 * Agenda abandons a job after this run time and starts it again while the first run continues, milliseconds. So no run
 * may take this long. Agenda also keeps a timer of half this time for each finished job, so the time must not be much
 * longer.
 */
const LOCK_LIFETIME_MS = 120_000;

/** Pause between two searches for old wake jobs, milliseconds. */
const TIDY_MS = 5000;
/** Maximum number of locked jobs. Jobs end within milliseconds. */
const LOCK_LIMIT = 500;
/**
 * Errors that Agenda reports although nothing is wrong. The first: Agenda checked a running job between the job's end
 * and its removal from Agenda's lists. The second: another worker ran and removed the job before it was locked.
 */
const NO_FAULT = /no lockedAt date found|cannot be updated in the database, maybe it does not exist/;

/** The queue of pipeline stages, and the worker that runs them. */
export interface Jobs {
  readonly agenda: Agenda;
  readonly queue: StageQueue;
  /** Starts to run jobs, and starts the claimer, which finds due invoices without jobs. */
  startWorker(pipeline: Pick<Pipeline, 'runClaimed'>, transmissions?: TransmissionPlaces | null): Promise<void>;
  /** Number of live workers, including this one; 1 before the worker is started. */
  workers(): number;
  /** The counts of this process's claims; null before the worker is started. */
  claimCounts(): ClaimCounts | null;
  /** Waits up to `timeoutMs` for running jobs and unlocks the others. */
  stop(timeoutMs: number): Promise<void>;
}

/** The places of live transmissions, and the number of occupied ones. */
export type TransmissionPlaces = LaneGate & { readonly inFlight: () => number };

export interface JobsParts {
  readonly db: Db;
  readonly invoices: ClaimerParts['invoices'];
  readonly members: ClaimMembers;
  /** The clock of the store, for heartbeats. Default: this machine's clock. */
  readonly clock?: () => Date;
  /** See {@link ClaimerParts.lanes}. */
  readonly lanes: ClaimerParts['lanes'];
  /** See {@link ClaimerParts.isAnswering}. */
  readonly isAnswering: ClaimerParts['isAnswering'];
  /** Receives failures; a job of a stage never throws. */
  readonly report: (message: string, error: unknown) => void;
  /**
   * Whether no other process runs these jobs. In that case locks that exist at the start belong to an ended process,
   * and the worker has all partitions.
   */
  readonly soleWorker: boolean;
  /**
   * Pauses between two searches for jobs, and between two searches for due invoices, of a worker that gets no
   * notifications, milliseconds; default 5000 and 1000.
   */
  readonly pauses?: { readonly jobsMs: number; readonly invoicesMs: number };
}

/**
 * Runs Agenda on the service's database. A job only wakes a worker. The invoice's document and its lease decide what
 * the worker does, so a job that runs twice, late or never does no harm (docs/decisions/0006).
 */
export async function createJobs(parts: JobsParts): Promise<Jobs> {
  const { db, invoices, members, clock, lanes, isAnswering, report, soleWorker, pauses } = parts;
  let stopping = false;
  // A unique name, because Agenda treats jobs locked under the same name as its own, and process ids are reused: in
  // containers at each start.
  const worker = `fatoura-${process.pid}-${randomUUID().slice(0, 8)}`;
  const createRanges = soleWorker ? createWholeRange : createClaimRanges;
  const ranges = createRanges(
    members,
    worker,
    (error) => report('the heartbeats of workers could not be exchanged', error),
    clock,
  );
  const backend = new MongoBackend({ mongo: db, collection: JOBS_COLLECTION, ensureIndex: true });
  // Otherwise every worker would try to lock the job. A worker without the partition finds the job only at its next
  // search.
  const channel = createJobChannel(db, JOBS_COLLECTION, ({ jobName: name, jobId }) => {
    if (!JOB_NAMES.has(name)) return true;
    const [own, partition] = [ranges.own(), partitionOfJob(String(jobId))];
    return partition >= own.from && partition < own.until;
  });
  channel.on('error', (error: unknown) => {
    // A change stream that is closed while it receives a change throws an error.
    if (!stopping) report('the notification channel of the jobs failed', error);
  });
  const agenda = new Agenda({
    backend,
    notificationChannel: channel,
    name: worker,
    processEvery: pauses?.jobsMs ?? POLL_MS,
    defaultLockLifetime: LOCK_LIFETIME_MS,
    maxConcurrency: Number.POSITIVE_INFINITY,
    lockLimit: 0,
    defaultConcurrency: LOCK_LIMIT,
    defaultLockLimit: LOCK_LIMIT,
    removeOnComplete: true,
  });
  const running = new Set<Job>();
  agenda.on('start', (job: Job) => running.add(job));
  agenda.on('complete', (job: Job) => running.delete(job));
  agenda.on('error', (error: unknown) => {
    if (!NO_FAULT.test(String(error))) report('Agenda reports an error', error);
  });
  await agenda.ready;
  const searches = endableSearches(backend.repository, (error) => report('a job could not be unlocked', error));

  const jobs = createStageJobs(db, worker);
  let claimer: Claimer | null = null;
  /** The time of the last wake job that this process added for each lane and range, in multiples of `WAKE_MS`. */
  const woken = new Map<string, number>();
  let tidiedAt = Number.NEGATIVE_INFINITY;
  /** Number of waits in the present second that this process added jobs for. */
  let waits = { second: 0, count: 0 };

  /**
   * Wakes the worker of this slot, because one of its invoices is due. If that fails, its claimer finds the invoice.
   */
  async function wake(lane: Lane, slot: number): Promise<void> {
    if (!claimer?.wake(lane, only(slot))) await tell({ lane, range: rangeOfSlot(slot) });
  }

  /** Notifies all workers of due invoices in a range. */
  async function tell({ lane, range }: Wake): Promise<void> {
    const turn = Math.floor(Date.now() / WAKE_MS);
    const key = `${lane} ${range}`;
    if (woken.get(key) === turn) return;
    woken.set(key, turn);
    try {
      await jobs.wake({ lane, range }, turn);
      await removeOldWakes();
    } catch (error) {
      report(`no worker could be told of due invoices of the lane ${lane}`, error);
    }
  }

  /** Every process that adds wake jobs also removes old ones, so that they do not accumulate if no worker runs. */
  async function removeOldWakes(): Promise<void> {
    if (performance.now() - tidiedAt < TIDY_MS) return;
    tidiedAt = performance.now();
    await jobs.removeOldWakes();
  }

  /** Whether a wait gets its own job, which operators see: only the first waits of each second do. */
  function hasOwnJob(): boolean {
    const second = Math.floor(Date.now() / 1000);
    if (second !== waits.second) waits = { second, count: 0 };
    return ++waits.count <= WAITS_A_SECOND;
  }

  const queue: StageQueue = {
    async enqueue(invoice, inMs) {
      const { id, environment, work } = invoice;
      const lane = work && laneOf(environment, work);
      // Idle work is not urgent, so it needs no job.
      if (!lane || lane === 'idle') return;
      const { stage, since } = work;
      const slot = slotOf(invoice, lane);
      if (inMs <= 0) return wake(lane, slot);
      try {
        const at = new Date(Date.now() + inMs);
        if (hasOwnJob()) await jobs.add({ invoiceId: id, environment, stage, since }, slot, at);
        else await jobs.addShared({ environment, stage }, { lane, range: rangeOfSlot(slot) }, at);
      } catch (error) {
        // The claimer will find the invoice.
        report(`a job ${jobName(stage, environment)} could not be queued`, error);
      }
    },
  };

  let stopTidying = async () => {};

  /** Defines the jobs. A job of a stage runs nothing: it wakes the worker of its invoice, whose claimer finds it. */
  function define(claims: Claimer): void {
    for (const [name, lane] of JOB_NAMES)
      agenda.define(name, (job: Job) => {
        const shared = wakeOfShared(job.attrs.data);
        return shared ? tell(shared) : wake(lane, partitionOfJob(String(job.attrs._id)));
      });
    // Not a job definition: every worker is notified of a wake job, and Agenda would lock, save and remove it.
    channel.subscribe(async ({ jobName: name, jobId }) => {
      const told = name === WAKE_JOB ? wakeOfJob(String(jobId)) : null;
      if (told) claims.wake(told.lane, rangeOfWake(told.range));
    });
  }

  /** Removes finished jobs that ended workers left and, if this is the only worker, releases old locks. */
  async function cleanUp(): Promise<void> {
    const stored = db.collection(JOBS_COLLECTION);
    const name = { $in: [...JOB_NAMES.keys()] };
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: null, lastFinishedAt: { $ne: null }, failedAt: null });
    if (!soleWorker) return;
    // A job that was running has no next run and would stay until its lock expires. The claimer finds its invoice when
    // the invoice's lease expires.
    await stored.deleteMany({ name, nextRunAt: null, lockedAt: { $ne: null } });
    await stored.updateMany({ name, lockedAt: { $ne: null } }, { $set: { lockedAt: null } });
  }

  return {
    agenda,
    queue,
    claimCounts: () => claimer?.counts() ?? null,
    workers: ranges.workers,
    async startWorker(pipeline, transmissions = null) {
      await cleanUp();
      const gates = transmissions ? { transmissions } : {};
      const { runClaimed: run } = pipeline;
      const rests = pauses ? { coldMs: pauses.invoicesMs } : {};
      claimer = createClaimer({ invoices, ranges, lanes, gates, run, isAnswering, report, ...rests });
      define(claimer);
      await ranges.start(transmissions?.inFlight);
      await agenda.start();
      claimer.start();
      stopTidying = every(TIDY_MS, removeOldWakes, (error) => report('old wake jobs could not be removed', error), {
        firstMs: 0,
      });
    },
    async stop(timeoutMs) {
      stopping = true;
      const searchesOver = searches.end();
      const claimsOver = claimer?.stop(timeoutMs);
      await Promise.all([stopTidying(), ranges.stop()]);
      // Waits for running jobs only; `drain` would also start the jobs that this process has locked.
      const over = new Promise<void>((resolve) => {
        const check = () => running.size === 0 && resolve();
        agenda.on('complete', check);
        check();
      });
      await agenda.stop(false);
      await within(timeoutMs, Promise.all([over, claimsOver, searchesOver]));
    },
  };
}

function only(slot: number): PartitionRange {
  return { from: slot, until: slotAfter(slot) };
}

function rangeOfSlot(slot: number): number {
  return Math.floor((slot * WAKE_RANGES) / PARTITIONS);
}

function rangeOfWake(range: number): PartitionRange {
  const size = PARTITIONS / WAKE_RANGES;
  return { from: range * size, until: (range + 1) * size };
}
