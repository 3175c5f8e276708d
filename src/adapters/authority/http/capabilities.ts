import type { Capabilities } from '../../../domain/authority/ports.ts';
import { readCapabilities } from './answers.ts';
import type { Outcome } from './outcomes.ts';
import { isOwn, troubleOf } from './outcomes.ts';

/**
 * Before the capabilities were read. No submission is sent and no look-up believed until then; what is asked of them
 * earlier gets the answer that leads to a call, and thereby to their reading.
 */
export const UNREAD: Capabilities = {
  decision: 'polling',
  lookUp: ['id'],
  clearedDocument: true,
  maxDocumentBytes: 5_242_880,
  limits: { submissionsPerMinute: 60, lookUpsPerMinute: 60, lookUpsPerSubmissionPerHour: 10, concurrent: 1 },
};

/** What the authority offers, as last read. */
export interface CapabilityReader {
  current(): Capabilities;
  /** Whether they were read once. */
  isRead(): boolean;
  /** Reads them; concurrent calls share one request. @returns the outcome, and why it was not usable or null */
  read(): Promise<CapabilityReading>;
  /** Reads them unless they were read. @returns null if they are known */
  ensure(): Promise<CapabilityReading | null>;
  stop(): void;
}

export interface CapabilityReading {
  readonly outcome: Outcome;
  readonly trouble: string | null;
}

export interface CapabilityOptions {
  /** Calls `GET /v1/capabilities`. */
  readonly ask: () => Promise<Outcome>;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly refreshMs?: number;
}

const REFRESH_MS = 5 * 60_000;

export function createCapabilityReader({ ask, log, refreshMs = REFRESH_MS }: CapabilityOptions): CapabilityReader {
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

  const start = () => {
    reading ??= once().finally(() => {
      reading = null;
    });
    return reading;
  };
  const timer = setInterval(() => void start(), refreshMs);
  timer.unref();
  return {
    current: () => read ?? UNREAD,
    isRead: () => read !== null,
    read: start,
    async ensure() {
      if (read) return null;
      const result = await start();
      return result.trouble === null ? null : result;
    },
    stop: () => clearInterval(timer),
  };
}
