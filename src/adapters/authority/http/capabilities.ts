import type { Capabilities } from '../../../domain/authority/ports.ts';
import { every } from '../../../domain/kit/every.ts';
import { readCapabilities } from './answers.ts';
import type { Outcome } from './outcomes.ts';
import { isOwn, troubleOf } from './outcomes.ts';

/**
 * The capabilities assumed until they are read. These values only allow a first call, which then reads the
 * capabilities: until then no submission is sent and no look-up result is trusted.
 */
const UNREAD: Capabilities = {
  decision: 'polling',
  lookUp: ['id'],
  clearedDocument: true,
  maxDocumentBytes: 5_242_880,
  limits: { submissionsPerMinute: 60, lookUpsPerMinute: 60, lookUpsPerSubmissionPerHour: 10, concurrent: 1 },
};

export interface CapabilityReading {
  readonly outcome: Outcome;
  /** Why the outcome was not usable; null if it was. */
  readonly trouble: string | null;
}

export interface CapabilityOptions {
  /** Calls `GET /v1/capabilities`. */
  readonly ask: () => Promise<Outcome>;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly refreshMs?: number;
}

const REFRESH_MS = 5 * 60_000;

/** Reads the capabilities of the authority at intervals, and keeps the last ones. */
export function createCapabilityReader({ ask, log, refreshMs = REFRESH_MS }: CapabilityOptions) {
  let read: Capabilities | null = null;
  let reading: Promise<CapabilityReading> | null = null;
  let reported: string | null = null;

  async function once(): Promise<CapabilityReading> {
    const outcome = await ask();
    const usable = outcome.kind === 'answer' && outcome.status === 200 && isOwn(outcome);
    const found = usable ? readCapabilities(outcome.body) : null;
    const trouble = found
      ? null
      : troubleOf(outcome, usable ? 'its capabilities are not those of the protocol' : undefined);
    if (found && JSON.stringify(found) !== JSON.stringify(read))
      log.info({ capabilities: found }, 'the authority offers this');
    if (trouble !== null && trouble !== reported) {
      log.warn({ trouble }, 'the capabilities of the authority could not be read');
    }
    reported = trouble;
    read = found ?? read;
    return { outcome, trouble };
  }

  const start = (): Promise<CapabilityReading> => {
    reading ??= once().finally(() => {
      reading = null;
    });
    return reading;
  };
  const stop = every(refreshMs, start, (err) =>
    log.warn({ err }, 'the capabilities of the authority could not be read'),
  );
  return {
    current: (): Capabilities => read ?? UNREAD,
    /** Whether the capabilities have been read at least once. */
    isRead: () => read !== null,
    /** Reads the capabilities. Concurrent calls share one request. */
    read: start,
    /** Reads the capabilities unless they are known. @returns the failed reading; null if they are known then */
    async ensure(): Promise<CapabilityReading | null> {
      if (read) return null;
      const result = await start();
      return result.trouble === null ? null : result;
    },
    stop: (): void => void stop(),
  };
}
