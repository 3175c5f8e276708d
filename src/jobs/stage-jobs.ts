import { createHash } from 'node:crypto';
import { type Db, ObjectId } from 'mongodb';
import { STAGES, type Stage } from '../domain/invoice/lifecycle.ts';
import type { PendingWork } from '../domain/invoice/repository.ts';
import { LEASE_MS } from '../domain/invoice/stages/stage.ts';
import { ENVIRONMENTS, type Environment } from '../domain/tenant/tenant.ts';
import { isDuplicateKey } from '../storage/duplicate-key.ts';

/** The collection in which Agenda stores jobs. */
export const JOBS_COLLECTION = 'jobs';

/** The jobs for the stages of the pipeline. */
export interface StageJobs {
  /** Adds the job for this work, unless it exists. */
  add(work: PendingWork, at: Date): Promise<void>;
  /** Replaces or creates the job for this work, unlocked and due now. */
  renew(work: PendingWork): Promise<void>;
  /**
   * Returns the ids of the invoices that have a job which will run: one that is due and unlocked, or that a worker has
   * just locked. A late job is not lost: in a backlog every job is late.
   */
  alive(works: readonly PendingWork[]): Promise<Set<string>>;
  /** Removes a job that has run, unless another worker has locked it meanwhile. @param id hexadecimal */
  remove(id: string): Promise<void>;
}

/** A job in Agenda's format. */
interface StageJob {
  _id: ObjectId;
  name: string;
  data: { invoiceId: string };
  type: 'normal';
  priority: 0;
  nextRunAt: Date | null;
  lockedAt: Date | null;
  lastModifiedBy: string;
}

/** The stages that call the tax authority. */
const AUTHORITY_STAGES: readonly Stage[] = ['transmit', 'decide', 'receipt'];

/**
 * The name of the jobs of a stage, which operators see in the dashboard. Jobs of one name share their places, so those
 * of live invoices that call the authority have a name of their own: a slow one holds no place of a test invoice.
 */
export function jobName(stage: Stage, environment: Environment): string {
  return `invoice.${stage}${environment === 'live' && AUTHORITY_STAGES.includes(stage) ? '.live' : ''}`;
}

/** Every name that {@link jobName} gives, with its stage. */
export const JOB_NAMES: ReadonlyMap<string, Stage> = new Map(
  STAGES.flatMap((stage) => ENVIRONMENTS.map((environment) => [jobName(stage, environment), stage] as const)),
);

/**
 * The id of a job is derived from its work, so an invoice has one job for its next work, even if several processes
 * queue it. A unique index on the invoice could not guarantee this, because a retry is queued before the job of the
 * failed attempt is removed.
 * @param worker the name under which this process locks jobs
 */
export function createStageJobs(db: Db, worker: string): StageJobs {
  const jobs = db.collection<StageJob>(JOBS_COLLECTION);

  function jobOf(work: PendingWork, at: Date): StageJob {
    return {
      _id: jobIdOf(work),
      name: jobName(work.stage, work.environment),
      data: { invoiceId: work.invoiceId },
      type: 'normal',
      priority: 0,
      nextRunAt: at,
      lockedAt: null,
      lastModifiedBy: worker,
    };
  }

  return {
    async add(work, at) {
      await jobs.insertOne(jobOf(work, at)).catch(ignoreDuplicate);
    },
    async renew(work) {
      const { _id, ...job } = jobOf(work, new Date());
      await jobs.replaceOne({ _id }, job, { upsert: true }).catch(ignoreDuplicate);
    },
    async alive(works) {
      const ids = new Map(works.map((work) => [jobIdOf(work).toHexString(), work.invoiceId]));
      const now = Date.now();
      const found = await jobs
        .find({
          _id: { $in: [...ids.keys()].map((id) => ObjectId.createFromHexString(id)) },
          disabled: { $ne: true },
          // A lock older than a lease belongs to an ended worker: a running one claims the invoice right after locking
          // its job.
          $or: [
            { lockedAt: null, nextRunAt: { $lte: new Date(now) } },
            { lockedAt: { $gt: new Date(now - LEASE_MS) } },
          ],
        })
        .project<Pick<StageJob, '_id'>>({ _id: 1 })
        .toArray();
      return new Set(found.map(({ _id }) => ids.get(_id.toHexString()) ?? ''));
    },
    async remove(id) {
      await jobs.deleteOne({ _id: ObjectId.createFromHexString(id), lastModifiedBy: worker });
    },
  };
}

function jobIdOf({ invoiceId, stage, since }: PendingWork): ObjectId {
  const digest = createHash('sha256').update(`${invoiceId} ${stage} ${since.getTime()}`).digest();
  return new ObjectId(digest.subarray(0, 12));
}

function ignoreDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}
