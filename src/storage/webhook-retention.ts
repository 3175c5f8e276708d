import { type Db, MongoServerError } from 'mongodb';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';

/** The collections that `WEBHOOK_RETENTION` limits, each with the field for the time at which a row was stored. */
const STORED = {
  webhook_events: 'storedAt',
  webhook_deliveries: 'storedAt',
  webhook_attempts: 'at',
} as const;
/** The name of the TTL index in each of these collections. */
const RETENTION = 'retention';
/** The maximum that MongoDB accepts: 68 years. */
const MAX_SECONDS = 2 ** 31 - 1;
/** MongoDB's error IndexOptionsConflict: the index exists with another time. */
const OTHER_OPTIONS = 85;
/** MongoDB's error NamespaceNotFound: the collection does not exist. */
const NAMESPACE_NOT_FOUND = 26;
/** The shortest retention that the settings allow. No row was ever removed before this age. */
const LEAST_MS = DAY_MS;
/**
 * Margin for clocks that were wrong or are changed by an hour, and for servers that remove rows some time after they
 * expired.
 */
const MARGIN_MS = 2 * HOUR_MS;

/**
 * Sets how long events, deliveries and attempts are kept, counted from when each was stored. The period is a property
 * of the TTL indexes, so it also applies to existing rows. An attempt is kept at least as long as its delivery. Several
 * processes may call this at the same time; the last call decides.
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

/** A time for each collection: the retention has not removed any row that was stored later. */
export type KeptSince = Readonly<Record<keyof typeof STORED, Date>>;

/**
 * Returns {@link KeptSince}. The current retention is not enough, because it may have been shorter before, and removed
 * rows do not come back. But rows are removed in the order of their times, so rows newer than the oldest remaining one
 * were never removed. A day is added, because rows may be removed or copied in another order, for example with several
 * shards.
 */
export async function keptSince(db: Db): Promise<KeptSince> {
  const found = Object.entries(STORED).map(async ([collection, field]) => {
    return [collection, await keptRowsSince(db, collection, field)] as const;
  });
  return Object.fromEntries(await Promise.all(found)) as KeptSince;
}

async function keptRowsSince(db: Db, collection: string, field: string): Promise<Date> {
  const now = Date.now();
  const least = now - LEAST_MS;
  const seconds = await retentionOf(db, collection);
  // Without the index, the query below would read everything.
  if (seconds === null) return new Date(least + MARGIN_MS);
  const [oldest] = await db
    .collection(collection)
    .find({ [field]: { $gt: new Date(0) } }, { projection: { _id: 0, [field]: 1 } })
    .sort({ [field]: 1 })
    .limit(1)
    .toArray();
  const left = oldest ? (oldest[field] as Date).getTime() + DAY_MS : least;
  return new Date(Math.max(now - seconds * 1000, Math.min(left, least)) + MARGIN_MS);
}

/** Returns the retention of a collection in seconds; null if none is set yet. */
async function retentionOf(db: Db, collection: string): Promise<number | null> {
  try {
    const indexes = await db.collection(collection).listIndexes().toArray();
    const seconds = indexes.find(({ name }) => name === RETENTION)?.expireAfterSeconds;
    return seconds === undefined ? null : Number(seconds);
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return null;
    throw error;
  }
}
