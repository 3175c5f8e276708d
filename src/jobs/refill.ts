import { MongoBackend, MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import { toJobId } from 'agenda';
import type { Db } from 'mongodb';

/**
 * Agenda's store and its channel, with what Agenda lacks: it searches for jobs when one is inserted and at each poll, but not when a job
 * ends. So it needs a long queue of locked jobs in the process, and these are lost for a while when the process dies, and taken for lost by
 * the others when they wait for long. With `ended` it can lock what it runs and no more.
 */
export interface RefilledStore {
  readonly backend: MongoBackend;
  readonly channel: MongoChangeStreamNotificationChannel;
  /** A job of this name has ended: searches for the next one, where the last search found one. */
  ended(jobName: string): void;
}

export function createRefilledStore(db: Db, collection: string): RefilledStore {
  const backend = new MongoBackend({ mongo: db, collection, ensureIndex: true });
  const { repository } = backend;
  const search = repository.getNextJobToRun.bind(repository);
  /** Names whose last search found a job: there may be more. */
  const plenty = new Set<string>();
  repository.getNextJobToRun = async (...query) => {
    const found = await search(...query);
    if (found) plenty.add(query[0]);
    else plenty.delete(query[0]);
    return found;
  };
  // Insertions alone notify (no `fullDocument`): an update of a job never means that it should start.
  const channel = new Channel({ db, collection, fullDocument: false });
  return {
    backend,
    channel,
    ended(jobName) {
      // Agenda frees the job's place after it has told of the end.
      if (plenty.has(jobName)) setImmediate(() => void channel.search(jobName));
    },
  };
}

class Channel extends MongoChangeStreamNotificationChannel {
  /** What follows the news of a job that is due. */
  search(jobName: string): Promise<void> {
    return this.notifyHandlers({
      ...{ jobId: toJobId(''), jobName, nextRunAt: null, priority: 0 },
      ...{ timestamp: new Date(), source: 'refill' },
    });
  }
}
