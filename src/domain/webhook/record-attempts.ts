import { createGroup } from '../kit/group.ts';
import type { AttemptRecord, DeliveryLedger, DeliveryQueue } from './ports.ts';

/** Maximum number of outcomes in a batch. One by one, the bench `webhooks` does not end within 150 s. */
const BATCH = 250;
/** Retries while the store fails: together about as long as a lease. */
const RETRY = { times: 20, pauseMs: 1000 } as const;

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
  const add = createGroup<AttemptRecord, null>(
    async (batch) => {
      await deliveries.record(batch);
      wakeRetries(batch);
      return batch.map(() => ({ result: null }));
    },
    {
      maxItems: BATCH,
      writers: 2,
      atOnce: true,
      retry: { ...RETRY, report: (error) => report('attempts could not be recorded', error) },
    },
  );
  const underWay = new Set<Promise<unknown>>();

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
      // Not recorded in time: reported above.
      const written = add(record).then(
        () => undefined,
        () => undefined,
      );
      underWay.add(written);
      return written.finally(() => underWay.delete(written));
    },
    async recorded() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
