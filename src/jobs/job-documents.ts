import type { Db, ObjectId } from 'mongodb';
import { isDuplicateKey } from '../storage/duplicate-key.ts';

/** The collection in which Agenda stores jobs. */
export const JOBS_COLLECTION = 'jobs';

/** A job in Agenda's format. */
export interface JobDocument<Data> {
  _id: ObjectId;
  name: string;
  data: Data;
  type: 'normal';
  priority: 0;
  nextRunAt: Date | null;
  lockedAt: Date | null;
  lastModifiedBy: string;
}

/**
 * Adds jobs whose ids are derived from their content, so that a job that several processes add exists once. A unique
 * index could not ensure this, because a job may be needed again before the earlier one is removed.
 * @param worker the name under which this process locks jobs
 */
export function createJobInsert<Data>(db: Db, worker: string) {
  const jobs = db.collection<JobDocument<Data>>(JOBS_COLLECTION);
  return async (job: Pick<JobDocument<Data>, '_id' | 'name' | 'data'>, nextRunAt: Date): Promise<void> => {
    const further = { type: 'normal', priority: 0, lockedAt: null, lastModifiedBy: worker } as const;
    await jobs.insertOne({ ...job, ...further, nextRunAt } as never).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
  };
}
