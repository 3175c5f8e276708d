import type { Agenda, Job } from 'agenda';
import type { DeliveryQueue } from '../domain/webhook/ports.ts';

/** The name of the jobs that wake for deliveries, as operators see it in the dashboard: waiting retries, mostly. */
export const DELIVER_JOB = 'webhook.deliver';

const SWEEP_MS = 1000;
const CONCURRENCY = 32;

interface DeliverJob {
  endpointId: string;
}

/** What a worker does for webhooks. */
export interface WebhookWork {
  /** Something of this endpoint may be due. */
  wake(endpointId: string): void;
  /** Finds what is due and woke nobody. */
  sweep(): Promise<void>;
}

export interface WebhookJobs {
  readonly queue: DeliveryQueue;
  /** To be called before Agenda starts. */
  start(work: WebhookWork): void;
  stop(): Promise<void>;
}

/** Wakes for deliveries through Agenda; the ledger decides what is done. @param report told of what fails; nothing is thrown out of a job */
export function createWebhookJobs(agenda: Agenda, report: (message: string, error: unknown) => void): WebhookJobs {
  let timer: NodeJS.Timeout | null = null;
  let sweeping: Promise<void> = Promise.resolve();
  return {
    queue: {
      async wake(endpointId, at) {
        try {
          await agenda.schedule(at, DELIVER_JOB, { endpointId } satisfies DeliverJob);
        } catch (error) {
          // The sweep finds the delivery.
          report(`a job ${DELIVER_JOB} could not be queued`, error);
        }
      },
    },
    start(work) {
      agenda.define<DeliverJob>(DELIVER_JOB, async (job: Job<DeliverJob>) => work.wake(job.attrs.data.endpointId), {
        concurrency: CONCURRENCY,
      });
      const tick = () => {
        sweeping = work
          .sweep()
          .catch((error) => report('the sweep of webhooks failed', error))
          .finally(() => {
            if (timer) timer = setTimeout(tick, SWEEP_MS);
          });
      };
      timer = setTimeout(tick, 0);
    },
    async stop() {
      if (timer) clearTimeout(timer);
      timer = null;
      await sweeping;
    },
  };
}
