import { MongoBackend, MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import { type JobNotification, toJobId } from 'agenda';
import type { Db } from 'mongodb';

/**
 * Agenda's store and notification channel, with a search for the next job when a job ends. Agenda itself searches only
 * when a job is inserted and at each poll, so it would need a long queue of locked jobs in the process. If the process
 * dies, those are blocked until their locks expire; if they wait long, other processes count them as lost. With
 * `ended`, a process locks only the jobs that it runs.
 */
export interface RefilledStore {
  readonly backend: MongoBackend;
  readonly channel: MongoChangeStreamNotificationChannel;
  /** To be called when a job of this name has ended. Searches for the next one if the last search found one. */
  ended(jobName: string): void;
}

/** @param isOurs whether this process is to look for the job that was inserted; others of its kind are not told */
export function createRefilledStore(
  db: Db,
  collection: string,
  isOurs: (job: Pick<JobNotification, 'jobName' | 'jobId'>) => boolean,
): RefilledStore {
  const backend = new MongoBackend({ mongo: db, collection, ensureIndex: true });
  const { repository } = backend;
  const search = repository.getNextJobToRun.bind(repository);
  /** Job names whose last search found a job, so that there may be more. */
  const backlog = new Set<string>();
  repository.getNextJobToRun = async (...query) => {
    const found = await search(...query);
    if (found) backlog.add(query[0]);
    else backlog.delete(query[0]);
    return found;
  };
  // Without `fullDocument`, only insertions notify: an update of a job never means that it should start.
  const channel = new Channel({ db, collection, fullDocument: false }, isOurs);
  return {
    backend,
    channel,
    ended(jobName) {
      // Deferred, because Agenda frees the slot of the job after it has emitted `complete`.
      if (backlog.has(jobName)) setImmediate(() => void channel.search(jobName));
    },
  };
}

class Channel extends MongoChangeStreamNotificationChannel {
  readonly #isOurs: (job: JobNotification) => boolean;

  constructor(
    options: ConstructorParameters<typeof MongoChangeStreamNotificationChannel>[0],
    isOurs: (job: JobNotification) => boolean,
  ) {
    super(options);
    this.#isOurs = isOurs;
  }

  protected override async notifyHandlers(job: JobNotification): Promise<void> {
    if (this.#isOurs(job)) await super.notifyHandlers(job);
  }

  /** Makes Agenda search for a job, as if one had been inserted. */
  search(jobName: string): Promise<void> {
    return super.notifyHandlers({
      ...{ jobId: toJobId(''), jobName, nextRunAt: null, priority: 0 },
      ...{ timestamp: new Date(), source: 'refill' },
    });
  }
}
