import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptRecord, DeliveryLedger, DeliveryQueue } from './ports.ts';

/** Maximum number of outcomes in a batch. One by one, the bench `webhooks` does not end within 150 s. */
const BATCH = 250;
/** Retries while the store fails: together about as long as a lease. */
const RETRIES = 20;
const RETRY_MS = 1000;

/** Records the outcomes of attempts in batches: a batch collects while the previous one is written. */
export interface RecordAttempts {
  /**
   * Resolves when the outcome is recorded. Never rejects: if it cannot be recorded within the time of a lease, the
   * lease ends and the delivery is attempted again.
   */
  record(record: AttemptRecord): Promise<void>;
  /** Resolves when all outcomes are recorded. */
  recorded(): Promise<void>;
}

export function createRecordAttempts(
  deliveries: Pick<DeliveryLedger, 'record'>,
  queue: DeliveryQueue,
  report: (message: string, error: unknown) => void,
): RecordAttempts {
  const waiting: { record: AttemptRecord; done: () => void }[] = [];
  let writers = 0;
  const running = new Set<Promise<void>>();

  async function run(): Promise<void> {
    writers++;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const records = batch.map(({ record }) => record);
      if (await write(records)) wakeRetries(records);
      for (const { done } of batch) done();
    }
    writers--;
  }

  async function write(batch: readonly AttemptRecord[]): Promise<boolean> {
    for (let left = RETRIES; ; left--) {
      try {
        await deliveries.record(batch);
        return true;
      } catch (error) {
        report('attempts could not be recorded', error);
        if (left === 0) return false;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Schedules one job for all deliveries of an endpoint that are due in the same second. */
  function wakeRetries(batch: readonly AttemptRecord[]): void {
    const wakes = new Map<string, { endpointId: string; at: Date }>();
    for (const { claim, outcome } of batch) {
      if (outcome.state !== 'pending') continue;
      const second = Math.ceil(outcome.nextAttemptAt.getTime() / 1000);
      wakes.set(`${claim.endpointId} ${second}`, { endpointId: claim.endpointId, at: outcome.nextAttemptAt });
    }
    for (const { endpointId, at } of wakes.values()) void queue.wake(endpointId, at);
  }

  return {
    record(record) {
      const written = new Promise<void>((done) => {
        waiting.push({ record, done });
      });
      // One batch is written at a time; a second writer starts when a full batch waits, so that the store is not idle.
      if (writers === 0 || (writers === 1 && waiting.length >= BATCH)) {
        const writing = run();
        running.add(writing);
        void writing.then(() => running.delete(writing));
      }
      return written;
    },
    async recorded() {
      while (writers > 0) await Promise.all(running);
    },
  };
}
