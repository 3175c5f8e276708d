import { type Db, MongoServerError } from 'mongodb';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';

/** The collections that `WEBHOOK_RETENTION` limits, with the field that has the time at which a row was stored. */
const STORED = {
  webhook_events: 'storedAt',
  webhook_deliveries: 'storedAt',
  webhook_attempts: 'at',
} as const;
/** The name of their TTL indexes. */
const RETENTION = 'retention';
/** The maximum that MongoDB accepts: 68 years. */
const MAX_SECONDS = 2 ** 31 - 1;
/** MongoDB's error IndexOptionsConflict: the index exists with another time. */
const OTHER_OPTIONS = 85;
/** MongoDB's error NamespaceNotFound: the collection does not exist. */
const NAMESPACE_NOT_FOUND = 26;
/** The shortest retention that the settings allow: no row was ever removed earlier. */
const LEAST_MS = DAY_MS;
/** For clocks that were wrong or are changed by an hour, and for servers that remove rows some time after they expired. */
const MARGIN_MS = 2 * HOUR_MS;

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

/** For each collection a time: a row that was stored later than that has not been removed by the retention. */
export type KeptSince = Readonly<Record<keyof typeof STORED, Date>>;

/**
 * What the retention cannot have removed. The present retention does not tell, because it may have been shorter before:
 * what is gone stays gone. But rows are removed in the order of their times, so that those behind the oldest one that is
 * left were never removed; a day is added for what removes or copies them in another order, such as several shards.
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

/** The retention of a collection, in seconds; null if none is set yet. */
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
