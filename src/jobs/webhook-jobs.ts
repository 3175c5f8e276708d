import type { Agenda, Job } from 'agenda';
import type { DeliveryQueue } from '../domain/webhook/ports.ts';

/** The name of the jobs that wake workers for deliveries, mostly for retries. Operators see it in the dashboard. */
const DELIVER_JOB = 'webhook.deliver';

const SWEEP_MS = 1000;
const CONCURRENCY = 32;

interface DeliverJob {
  endpointId: string;
}

/** The webhook work of a worker. */
export interface WebhookWork {
  /** Called when deliveries of this endpoint may be due. */
  wake(endpointId: string): void;
  /** Finds due deliveries for which no worker was woken. */
  sweep(): Promise<void>;
}

/**
 * Wakes workers for deliveries through Agenda. The ledger decides what is done.
 * @param report receives failures; a job never throws
 */
export function createWebhookJobs(agenda: Agenda, report: (message: string, error: unknown) => void) {
  let timer: NodeJS.Timeout | null = null;
  let sweeping: Promise<void> = Promise.resolve();
  const queue: DeliveryQueue = {
    async wake(endpointId, at) {
      try {
        await agenda.schedule(at, DELIVER_JOB, { endpointId } satisfies DeliverJob);
      } catch (error) {
        // The sweep will find the delivery.
        report(`a job ${DELIVER_JOB} could not be queued`, error);
      }
    },
  };
  return {
    queue,
    /** To be called before Agenda starts. */
    start(work: WebhookWork): void {
      agenda.define<DeliverJob>(DELIVER_JOB, async (job: Job<DeliverJob>) => work.wake(job.attrs.data.endpointId), {
        concurrency: CONCURRENCY,
      });
      const tick = () => {
        sweeping = work
          .sweep()
          .catch((error) => report('the webhook sweep failed', error))
          .finally(() => {
            if (timer) timer = setTimeout(tick, SWEEP_MS);
          });
      };
      timer = setTimeout(tick, 0);
    },
    async stop(): Promise<void> {
      if (timer) clearTimeout(timer);
      timer = null;
      await sweeping;
    },
  };
}
