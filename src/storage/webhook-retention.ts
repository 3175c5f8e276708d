import { type Db, MongoServerError } from 'mongodb';

/** The collections that `WEBHOOK_RETENTION` limits, with the field that has the time at which a row was stored. */
const STORED: Readonly<Record<string, string>> = {
  webhook_events: 'storedAt',
  webhook_deliveries: 'storedAt',
  webhook_attempts: 'at',
};
/** The name of their TTL indexes. */
const RETENTION = 'retention';
/** The maximum that MongoDB accepts: 68 years. */
const MAX_SECONDS = 2 ** 31 - 1;
/** MongoDB's error IndexOptionsConflict: the index exists with another time. */
const OTHER_OPTIONS = 85;

/**
 * Sets how long events, deliveries and attempts are kept, counted from when each was stored. The time is a property of
 * the TTL indexes, so it applies to the rows that exist too, and an attempt is kept at least as long as its delivery.
 * Several processes may call it at once; the last call decides.
 * @param retentionMs milliseconds
 */
export async function setWebhookRetention(db: Db, retentionMs: number): Promise<void> {
  const expireAfterSeconds = Math.min(Math.ceil(retentionMs / 1000), MAX_SECONDS);
  await Promise.all(
    Object.entries(STORED).map(async ([collection, field]) => {
      const index = { name: RETENTION, key: { [field]: 1 }, expireAfterSeconds };
      try {
        await db.collection(collection).createIndexes([index]);
      } catch (error) {
        if (!(error instanceof MongoServerError) || error.code !== OTHER_OPTIONS) throw error;
        await db.command({ collMod: collection, index: { name: RETENTION, expireAfterSeconds } });
      }
    }),
  );
}
