import { MINUTE_MS } from '../durations.ts';
import { flushEvery } from '../kit/flush-every.ts';
import { newCreationMoment } from '../order-key.ts';
import { kindOf, type LoggedRequest, type RequestLog, type RequestRecord } from './request-record.ts';

/** Maximum number of requests in a minute that get a record of their own: of one kind, and of one tenant. */
const OWN_RECORDS = { ofKind: 10, ofTenant: 120 } as const;
/**
 * Limits of the records in memory. From the first number on successes are dropped, from the second on also failures.
 */
const MOST_WAITING = { successes: 8000, all: 10_000 } as const;
/** Maximum number of kinds that are counted at once. */
const MOST_KINDS = 20_000;
/** Maximum number of records in one command. */
const BATCH = 1000;
const FLUSH_MS = 1000;

export type AnsweredRequest = Omit<RequestRecord, 'standsFor'>;

/** The similar requests of a minute. */
interface Kind {
  readonly minute: number;
  own: number;
  /** A record for all requests without one of their own; written when the minute is over. */
  rest: LoggedRequest | null;
}

/**
 * Records requests in batches, without delaying them. All requests are counted. Of similar requests in a minute, only
 * the first {@link OWN_RECORDS} get their own record; one further record stands for the rest. So a client that repeats
 * a mistake cannot fill the store: per tenant and minute, a process writes at most 120 records, and in addition one
 * record per kind of request.
 * @param report receives the number of dropped records, and the store's failure if that is the reason
 */
export function createRequestRecorder(
  log: Pick<RequestLog, 'insert'>,
  report: (dropped: number, failure: unknown) => void,
  now: () => number = Date.now,
) {
  const kinds = new Map<string, Kind>();
  const ofTenants = new Map<string, number>();
  let minute = minuteOf(now());
  let waiting: LoggedRequest[] = [];
  const stop = flushEvery(FLUSH_MS, flush, (failure) => report(0, failure));

  /** Records an answered request. Never waits and never throws. */
  function record(request: AnsweredRequest): void {
    turnOfMinute(false);
    const owner = `${request.tenantId} ${request.environment}`;
    const name = `${owner} ${kindOf(request)}`;
    let kind = kinds.get(name);
    if (!kind) {
      if (kinds.size >= MOST_KINDS) {
        report(1, null);
        return;
      }
      kind = { minute, own: 0, rest: null };
      kinds.set(name, kind);
    }
    const ofTenant = ofTenants.get(owner) ?? 0;
    // The first request of a kind always gets a record.
    if (kind.own === 0 || (kind.own < OWN_RECORDS.ofKind && ofTenant < OWN_RECORDS.ofTenant)) {
      kind.own += 1;
      ofTenants.set(owner, ofTenant + 1);
      add(logged(request, 1));
    } else kind.rest = logged(request, (kind.rest?.standsFor ?? 0) + 1);
  }

  /** Adds the records that stand for the rest of the past minute. */
  function turnOfMinute(isLast: boolean): void {
    const current = minuteOf(now());
    if (current === minute && !isLast) return;
    minute = current;
    for (const { rest } of kinds.values()) if (rest) add(rest);
    kinds.clear();
    ofTenants.clear();
  }

  function add(record: LoggedRequest): void {
    const most = record.code === null ? MOST_WAITING.successes : MOST_WAITING.all;
    if (waiting.length < most) waiting.push(record);
    else report(record.standsFor, null);
  }

  /**
   * Sends one command at a time. Records that the store refuses are dropped, so nothing accumulates during an outage.
   */
  async function flush(isLast: boolean): Promise<void> {
    turnOfMinute(isLast);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await log.insert(batch).catch((error: unknown) => {
        const requests = batch.reduce((sum, { standsFor }) => sum + standsFor, 0);
        report(requests, error);
      });
    }
  }

  return {
    record,
    /** Writes the waiting records, for at most `timeoutMs`. */
    stop,
  };
}

function logged(request: AnsweredRequest, standsFor: number): LoggedRequest {
  return { ...request, standsFor, order: newCreationMoment(request.at.getTime()).order };
}

function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / MINUTE_MS);
}
