import { MongoChangeStreamNotificationChannel } from '@agendajs/mongo-backend';
import type { JobNotification } from 'agenda';
import type { Db } from 'mongodb';

/**
 * Agenda's notification channel. Only insertions cause a notification, because an update of a job never means that it
 * should start.
 * @param isOurs whether this process is notified of the inserted job
 */
export function createJobChannel(
  db: Db,
  collection: string,
  isOurs: (job: Pick<JobNotification, 'jobName' | 'jobId'>) => boolean,
): MongoChangeStreamNotificationChannel {
  return new Channel({ db, collection, fullDocument: false }, isOurs);
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
}
