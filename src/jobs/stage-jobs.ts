import { createHash } from 'node:crypto';
import { type Db, ObjectId } from 'mongodb';
import { LANE_NAMES, type Lane, laneOf, PARTITIONS } from '../domain/invoice/lanes.ts';
import { STAGES, type Stage } from '../domain/invoice/lifecycle.ts';
import type { PendingWork } from '../domain/invoice/stage-queue.ts';
import { ENVIRONMENTS, type Environment } from '../domain/tenant/tenant.ts';
import { createJobInsert, JOBS_COLLECTION, type JobDocument } from './job-documents.ts';

/** The name of the jobs that notify of due invoices. */
export const WAKE_JOB = 'invoices.due';
/** Number of ranges of partitions that have their own wake jobs. */
export const WAKE_RANGES = 16;
/**
 * Period in which a lane and range gets one wake job, milliseconds. A woken worker searches several times in it, so
 * work that becomes due meanwhile waits only briefly.
 */
export const WAKE_MS = 250;
/** Maximum number of waits per second for which a process adds a job each. Further waits share one job per second. */
export const WAITS_A_SECOND = 20;
/** Unit of the times of shared jobs, milliseconds. */
const SHARED_MS = 1000;
/**
 * Age at which wake jobs are removed, milliseconds. By then workers were notified of them, or find the invoices
 * themselves.
 */
const OLD_WAKE_MS = 5000;

/** The message of a wake job: invoices of the lane in these partitions are due. */
export interface Wake {
  readonly lane: Lane;
  /** 0 to `WAKE_RANGES - 1`. */
  readonly range: number;
}

type StageData = { readonly invoiceId: string } | Wake;

/**
 * Returns the name of the jobs of a stage, which operators see in the dashboard. If the lanes of the environments
 * differ, the jobs of live invoices have a name of their own.
 */
export function jobName(stage: Stage, environment: Environment): string {
  const isOwn = environment === 'live' && laneOf('live', { stage }) !== laneOf('test', { stage });
  return `invoice.${stage}${isOwn ? '.live' : ''}`;
}

/** All names that {@link jobName} returns, with their lanes. */
export const JOB_NAMES: ReadonlyMap<string, Lane> = new Map(
  STAGES.flatMap((stage) =>
    ENVIRONMENTS.map((environment) => [jobName(stage, environment), laneOf(environment, { stage }) as Lane] as const),
  ),
);

/**
 * Creates the jobs for the stages of the pipeline. An invoice has one job for its next work, even if several processes
 * queue it.
 * @param worker the name under which this process locks jobs
 */
export function createStageJobs(db: Db, worker: string) {
  const jobs = db.collection<JobDocument<StageData>>(JOBS_COLLECTION);
  const add = createJobInsert<StageData>(db, worker);

  return {
    /** Adds the job that wakes a worker for this work, unless it exists. */
    add: (work: PendingWork, slot: number, at: Date): Promise<void> => {
      const [name, data] = [jobName(work.stage, work.environment), { invoiceId: work.invoiceId }];
      return add({ _id: jobIdOf(work, slot), name, data }, at);
    },
    /**
     * Adds the job that wakes the workers for all work of this kind in a range of partitions that becomes due in the
     * same second, unless it exists. The job is due at the end of that second.
     */
    addShared: (
      { environment, stage }: Pick<PendingWork, 'environment' | 'stage'>,
      wake: Wake,
      at: Date,
    ): Promise<void> => {
      const name = jobName(stage, environment);
      const turn = Math.ceil(at.getTime() / SHARED_MS);
      return add({ _id: sharedIdOf(name, wake, turn), name, data: wake }, new Date(turn * SHARED_MS));
    },
    /**
     * Adds a job that wakes the workers, unless another process has added it.
     * @param turn the time since 1970 in multiples of {@link WAKE_MS}
     */
    wake: (wake: Wake, turn: number): Promise<void> =>
      add({ _id: wakeIdOf(wake, turn), name: WAKE_JOB, data: wake }, new Date()),
    async removeOldWakes(): Promise<void> {
      await jobs.deleteMany({ name: WAKE_JOB, nextRunAt: { $lt: new Date(Date.now() - OLD_WAKE_MS) } });
    },
  };
}

/** Position of the bytes of a stage job's id that contain the partition. */
const PARTITION_AT = 10;

function jobIdOf({ invoiceId, stage, since }: PendingWork, slot: number): ObjectId {
  const id = createHash('sha256').update(`${invoiceId} ${stage} ${since.getTime()}`).digest().subarray(0, 12);
  id.writeUInt16BE(Math.floor(slot), PARTITION_AT);
  return new ObjectId(id);
}

/**
 * Reads the partition of a stage job's invoice from its id, because a notification contains only that.
 * @param id hexadecimal
 */
export function partitionOfJob(id: string): number {
  return Number.parseInt(id.slice(2 * PARTITION_AT), 16) % PARTITIONS;
}

/** The last two bytes, which {@link partitionOfJob} reads, contain the first partition of the range. */
function sharedIdOf(name: string, { range }: Wake, turn: number): ObjectId {
  const id = Buffer.alloc(12);
  id[0] = 1 + [...JOB_NAMES.keys()].indexOf(name);
  id.writeUIntBE(turn, 4, 6);
  id.writeUInt16BE((range * PARTITIONS) / WAKE_RANGES, PARTITION_AT);
  return new ObjectId(id);
}

/** The message of a shared job; null for a job of one invoice. */
export function wakeOfShared(data: unknown): Wake | null {
  return typeof data === 'object' && data !== null && 'range' in data ? (data as Wake) : null;
}

/** The last two bytes, which {@link wakeOfJob} reads, contain lane and range. */
function wakeIdOf({ lane, range }: Wake, turn: number): ObjectId {
  const id = Buffer.alloc(12);
  id.writeUIntBE(turn, 4, 6);
  id[10] = LANE_NAMES.indexOf(lane);
  id[11] = range;
  return new ObjectId(id);
}

/**
 * Reads the message of a wake job from its id, because a notification contains only that; null for other jobs.
 * @param id hexadecimal
 */
export function wakeOfJob(id: string): Wake | null {
  const bytes = Buffer.from(id, 'hex');
  const lane = LANE_NAMES[bytes[10] ?? LANE_NAMES.length];
  const range = bytes[11] ?? WAKE_RANGES;
  return lane === undefined || range >= WAKE_RANGES ? null : { lane, range };
}
