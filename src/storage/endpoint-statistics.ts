import type { Db } from 'mongodb';
import {
  type EndpointHour,
  type Results,
  STATISTICS_DAYS,
  type StatisticsStore,
} from '../domain/webhook/endpoint-statistics.ts';

export const STATISTICS_SECONDS = STATISTICS_DAYS * 86_400;

interface HourDocument {
  /** The endpoint's id and the hour (UTC): `we_… 2026-11-23T22`. */
  _id: string;
  readonly at: Date;
  /** Results of first attempts. Counts of zero are absent. */
  readonly first?: Partial<Results>;
  readonly retries?: Partial<Results>;
  /** Number of attempts by the index of the latency class. */
  readonly latencies?: Readonly<Record<string, number>>;
}

/**
 * Counts webhook attempts in the collection `endpoint_hours`, in one document for each endpoint and hour, found by its
 * id.
 */
export function createStatisticsStore(db: Db): StatisticsStore {
  const stored = db.collection<HourDocument>('endpoint_hours');
  return {
    async add(counts) {
      const updates = [...counts].flatMap(([endpointId, hours]) =>
        hours.map((hour) => ({
          updateOne: {
            filter: { _id: idOf(endpointId, hour.at) },
            update: { $setOnInsert: { at: hour.at }, $inc: incrementsOf(hour) },
            upsert: true,
          },
        })),
      );
      if (updates.length > 0) await stored.bulkWrite(updates, { ordered: false });
    },
    async read(endpointId, hours) {
      const found = await stored.find({ _id: { $in: hours.map((at) => idOf(endpointId, at)) } }).toArray();
      return found.map(({ at, first, retries, latencies = {} }) => ({
        at,
        first: { delivered: first?.delivered ?? 0, failed: first?.failed ?? 0 },
        retries: { delivered: retries?.delivered ?? 0, failed: retries?.failed ?? 0 },
        latencies: Object.entries(latencies).reduce<number[]>((all, [nth, count]) => {
          all[Number(nth)] = count;
          return all;
        }, []),
      }));
    },
  };
}

function idOf(endpointId: string, at: Date): string {
  return `${endpointId} ${at.toISOString().slice(0, 13)}`;
}

/** Returns the counts that are not zero by their paths in the document, for `$inc`. */
function incrementsOf({ first, retries, latencies }: EndpointHour): Record<string, number> {
  const all = {
    'first.delivered': first.delivered,
    'first.failed': first.failed,
    'retries.delivered': retries.delivered,
    'retries.failed': retries.failed,
    ...Object.fromEntries(latencies.map((count, nth) => [`latencies.${nth}`, count])),
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}
