import { MINUTE_MS } from '../durations.ts';
import { every } from '../kit/every.ts';
import { newCreationMoment } from '../order-key.ts';
import { kindOf, type LoggedRequest, type RequestLog, type RequestRecord } from './request-record.ts';

/** Requests of a kind, and of a tenant, that get a record of their own in a minute. */
const OWN_RECORDS = { ofKind: 10, ofTenant: 120 } as const;
/** Records in memory. From the first number on, successes are dropped; at the second one, failures too. */
const MOST_WAITING = { successes: 8000, all: 10_000 } as const;
/** Kinds that are counted at once. */
const MOST_KINDS = 20_000;
/** Records of one command. */
const BATCH = 1000;
const FLUSH_MS = 1000;

export type AnsweredRequest = Omit<RequestRecord, 'standsFor'>;

/** The like requests of a minute. */
interface Kind {
  readonly minute: number;
  own: number;
  /** Stands for all that have no record of their own; written when the minute is over. */
  rest: LoggedRequest | null;
}

/**
 * Records requests in batches, out of their way. All are counted: of like ones only the first {@link OWN_RECORDS} of a
 * minute have a record of their own, and one more stands for the rest. So a client that repeats a mistake cannot fill
 * the store: at most 120 records of a tenant in a minute and process, and one for each kind of request.
 * @param report told of records that were dropped: their number, and the failure of the store if that is why
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
  const stopFlushing = every(FLUSH_MS, flush, (failure) => report(0, failure));

  /** Takes note of an answered request. Never waits and never throws. */
  function record(request: AnsweredRequest): void {
    turnOfMinute();
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
    // A first one of its kind always has a record.
    if (kind.own === 0 || (kind.own < OWN_RECORDS.ofKind && ofTenant < OWN_RECORDS.ofTenant)) {
      kind.own += 1;
      ofTenants.set(owner, ofTenant + 1);
      add(logged(request, 1));
    } else kind.rest = logged(request, (kind.rest?.standsFor ?? 0) + 1);
  }

  /** Adds the records that stand for the rest of a minute that is over. */
  function turnOfMinute(isLast = false): void {
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

  /** Sends one command at a time. Records that the store refuses are dropped: nothing piles up while it is away. */
  async function flush(): Promise<void> {
    turnOfMinute();
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
    /** Writes what waits, up to `timeoutMs`. */
    async stop(timeoutMs: number): Promise<void> {
      turnOfMinute(true);
      await Promise.race([
        stopFlushing().then(flush),
        new Promise((resolve) => setTimeout(resolve, timeoutMs).unref()),
      ]);
    },
  };
}

function logged(request: AnsweredRequest, standsFor: number): LoggedRequest {
  return { ...request, standsFor, order: newCreationMoment(request.at.getTime()).order };
}

function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / MINUTE_MS);
}
