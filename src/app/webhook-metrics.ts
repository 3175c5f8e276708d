import { Gauge } from 'prom-client';
import { MOST_WAITING } from '../domain/limits.ts';
import { type Attempt, isSuccess } from '../domain/webhook/delivery.ts';
import type { DeliveryLedger } from '../domain/webhook/ports.ts';
import { ageOf, type Instruments, shared, timing } from './instruments.ts';

/** Exposes the due deliveries of the store. @returns a function that counts an attempt of this process */
export function observeWebhooks(
  deliveries: Pick<DeliveryLedger, 'backlog'>,
  { registers, exemplars }: Instruments,
): (attempt: Attempt, traceparent: string | null) => void {
  const attempts = timing({
    name: 'fatoura_webhook_attempt_duration_seconds',
    help: 'Duration of attempts to deliver a webhook, by outcome: delivered, refused (any other status), or why there is no answer',
    labelNames: ['outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
    exemplars,
  });
  const read = shared(() => deliveries.backlog(MOST_WAITING, new Date()));
  const gauge = (
    name: string,
    help: string,
    measure: (backlog: Awaited<ReturnType<DeliveryLedger['backlog']>>) => number,
  ) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const backlog = await read();
        if (backlog === null) this.remove();
        else this.set(measure(backlog));
      },
    });
  gauge(
    'fatoura_webhook_deliveries_due',
    `Deliveries that are due and that no worker has, counted up to ${MOST_WAITING}`,
    ({ waiting }) => waiting,
  );
  gauge(
    'fatoura_webhook_oldest_due_seconds',
    'For how long the oldest of these deliveries has been due; 0 without one',
    ({ oldest }) => ageOf(oldest),
  );
  return (attempt, traceparent) => {
    const outcome = isSuccess(attempt) ? 'delivered' : (attempt.failure?.code ?? 'refused');
    attempts({ outcome }, attempt.latencyMs / 1000, traceparent);
  };
}
