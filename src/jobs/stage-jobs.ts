import { createHash } from 'node:crypto';
import { type Db, ObjectId } from 'mongodb';
import type { Stage } from '../domain/invoice/lifecycle.ts';
import type { PendingWork } from '../domain/invoice/repository.ts';
import { LEASE_MS } from '../domain/invoice/stages/stage.ts';
import { isDuplicateKey } from '../storage/duplicate-key.ts';

/** Agenda's collection of jobs. */
export const JOBS_COLLECTION = 'jobs';

/** The jobs of the pipeline's stages. */
export interface StageJobs {
  /** Adds the job of this work, unless it is there. */
  add(work: PendingWork, at: Date): Promise<void>;
  /** Makes the job of this work new and due at once, whatever became of the one that was there. */
  renew(work: PendingWork): Promise<void>;
  /**
   * Which of these have a job that will run, by the invoice's id: it waits and is due, or a worker has just locked it. To be late is no sign
   * that a job is lost: behind a backlog every job is late.
   */
  alive(works: readonly PendingWork[]): Promise<Set<string>>;
  /** Removes a job that has run, unless another worker has it by now. @param id hexadecimal */
  remove(id: string): Promise<void>;
}

/** As Agenda reads it. */
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

/** The name of a stage's jobs, as operators see it in the dashboard. */
export function jobName(stage: Stage): string {
  return `invoice.${stage}`;
}

/**
 * A job's id is made of the work that it stands for, so an invoice has one job for what is to be done next, however many processes queue it.
 * A unique index could not promise that: a retry is queued while the job of the failed try is still there.
 * @param worker the name that this process locks jobs with
 */
export function createStageJobs(db: Db, worker: string): StageJobs {
  const jobs = db.collection<StageJob>(JOBS_COLLECTION);

  function jobOf(work: PendingWork, at: Date): StageJob {
    return {
      _id: jobIdOf(work),
      name: jobName(work.stage),
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
          // A lock that is older than a lease is a dead worker's: a live one claims the invoice within moments of locking its job.
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
