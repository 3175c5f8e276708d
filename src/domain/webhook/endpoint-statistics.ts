import { HOUR_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import { flushEvery, type StopFlushing } from '../kit/flush-every.ts';
import { DELIVERY_TIMES } from '../limits.ts';
import { isSuccess } from './delivery.ts';
import type { AttemptRecord } from './ports.ts';

/** The longest period that can be read, hours: a week. */
export const MOST_HOURS = 168;
/** How long the counts of an hour are kept, days. */
export const STATISTICS_DAYS = 8;

/** Upper bounds of the classes of latencies, milliseconds; a receiver has 15 s. The last class has no bound. */
const LATENCY_BOUNDS = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const;

/** Attempts of a kind by their result. */
export interface Results {
  readonly delivered: number;
  readonly failed: number;
}

/** The attempts to deliver to an endpoint within an hour. */
export interface EndpointHour {
  /** Its beginning, UTC. */
  readonly at: Date;
  /** The first attempts of deliveries, and all others. */
  readonly first: Results;
  readonly retries: Results;
  /** Answered attempts by the classes of {@link LATENCY_BOUNDS}, and one more. */
  readonly latencies: readonly number[];
}

/** The attempts of several hours. */
export interface EndpointStatistics {
  readonly first: Results;
  readonly retries: Results;
  /**
   * Median, and 95th percentile, of the answers' latencies, rounded up to a class, milliseconds; null without answers.
   */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** Each hour of the period, oldest first. */
  readonly hours: readonly EndpointHour[];
}

/** The store of counts. */
export interface StatisticsStore {
  /** Adds to the stored counts. */
  add(counts: ReadonlyMap<string, readonly EndpointHour[]>): Promise<void>;
  /** Returns the stored counts of these hours. @param hours the beginnings of the hours */
  read(endpointId: string, hours: readonly Date[]): Promise<EndpointHour[]>;
}

const FLUSH_MS = 5000;
/** Hours of endpoints in memory. Beyond them attempts are not counted. */
const MOST_COUNTED = 20_000;

interface Counted {
  readonly endpointId: string;
  readonly at: Date;
  readonly first: { delivered: number; failed: number };
  readonly retries: { delivered: number; failed: number };
  readonly latencies: number[];
}

/** Counts attempts by endpoint and hour, in memory, and adds them to the store every five seconds. */
export interface CountAttempts {
  /** Returns at once, never throws. */
  note(record: AttemptRecord): void;
  /** Writes the counts, for at most `timeoutMs`. */
  readonly stop: StopFlushing;
}

/**
 * Creates the counting of attempts. The counts only show the state of an endpoint: a process that is killed loses those
 * of five seconds.
 * @param report gets the failure of the store, which loses the counts. Never throws
 */
export function createCountAttempts(
  store: Pick<StatisticsStore, 'add'>,
  report: (failure: unknown) => void,
): CountAttempts {
  let counted = new Map<string, Counted>();

  async function flush(): Promise<void> {
    if (counted.size === 0) return;
    const counts = Map.groupBy(counted.values(), ({ endpointId }) => endpointId);
    counted = new Map();
    await store.add(counts);
  }

  return {
    note({ claim: { endpointId, tries, retry }, attempt }) {
      const hour = Math.floor(attempt.at.getTime() / HOUR_MS) * HOUR_MS;
      const name = `${endpointId} ${hour}`;
      let counts = counted.get(name);
      if (!counts) {
        if (counted.size >= MOST_COUNTED) return;
        counts = { endpointId, ...emptyHour(new Date(hour)) };
        counted.set(name, counts);
      }
      // A delivery that is sent again by hand begins its schedule again, without tries, and waits behind first
      // attempts.
      const results = tries === 0 && !retry ? counts.first : counts.retries;
      results[isSuccess(attempt) ? 'delivered' : 'failed'] += 1;
      if (attempt.status === null) return;
      const nth = classOf(attempt.latencyMs);
      counts.latencies[nth] = (counts.latencies[nth] ?? 0) + 1;
    },
    stop: flushEvery(FLUSH_MS, flush, report),
  };
}

export type ReadStatistics = ReturnType<typeof createReadStatistics>;

export function createReadStatistics(store: Pick<StatisticsStore, 'read'>, now: () => Date) {
  /**
   * Returns the attempts of the last hours, the current one included.
   * @param endpointId of an endpoint that the caller has read
   * @throws {ServiceError} invalid_request for another number of hours than 1 to {@link MOST_HOURS}
   */
  return async (endpointId: string, hours: number): Promise<EndpointStatistics> => {
    if (!Number.isInteger(hours) || hours < 1 || hours > MOST_HOURS)
      throw serviceError('invalid_request', `hours must be an integer from 1 to ${MOST_HOURS}.`, 'hours');
    const current = Math.floor(now().getTime() / HOUR_MS) * HOUR_MS;
    const asked = Array.from({ length: hours }, (_, i) => new Date(current - (hours - 1 - i) * HOUR_MS));
    const stored = new Map((await store.read(endpointId, asked)).map((each) => [each.at.getTime(), each]));
    const all = asked.map((at) => stored.get(at.getTime()) ?? emptyHour(at));
    const latencies = LATENCY_CLASSES.map((nth) => all.reduce((sum, each) => sum + (each.latencies[nth] ?? 0), 0));
    return {
      first: sumOf(all, 'first'),
      retries: sumOf(all, 'retries'),
      hours: all,
      medianMs: quantile(latencies, 0.5),
      p95Ms: quantile(latencies, 0.95),
    };
  };
}

const LATENCY_CLASSES = Array.from({ length: LATENCY_BOUNDS.length + 1 }, (_, nth) => nth);

function emptyHour(at: Date) {
  return {
    at,
    first: { delivered: 0, failed: 0 },
    retries: { delivered: 0, failed: 0 },
    latencies: LATENCY_CLASSES.map(() => 0),
  };
}

function classOf(latencyMs: number): number {
  const nth = LATENCY_BOUNDS.findIndex((bound) => latencyMs <= bound);
  return nth === -1 ? LATENCY_BOUNDS.length : nth;
}

function sumOf(hours: readonly EndpointHour[], kind: 'first' | 'retries'): Results {
  const sum = (result: keyof Results) => hours.reduce((total, each) => total + each[kind][result], 0);
  return { delivered: sum('delivered'), failed: sum('failed') };
}

/** Returns the bound of the class in which this part of the answers ends; null if there are none. */
function quantile(latencies: readonly number[], part: number): number | null {
  const all = latencies.reduce((sum, each) => sum + each, 0);
  let seen = 0;
  for (const [nth, count] of latencies.entries()) {
    seen += count;
    if (all > 0 && seen >= all * part) return LATENCY_BOUNDS[nth] ?? DELIVERY_TIMES.whole;
  }
  return null;
}
