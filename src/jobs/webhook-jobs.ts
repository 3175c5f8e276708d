import { createHash } from 'node:crypto';
import type { Agenda, Job } from 'agenda';
import { type Db, ObjectId } from 'mongodb';
import { every } from '../domain/kit/every.ts';
import type { DeliveryQueue } from '../domain/webhook/ports.ts';
import { createJobInsert } from './job-documents.ts';

/** The name of the jobs that wake workers for deliveries, mostly for retries. Operators see it in the dashboard. */
const DELIVER_JOB = 'webhook.deliver';

const SWEEP_MS = 1000;
const CONCURRENCY = 32;
/** Minimum wait for which the job's id is derived from the wait, and minimum unit of its time, milliseconds. */
const WAIT_MS = 1000;
/**
 * Maximum number of jobs of an endpoint for retries after equal waits: retries due in the same unit of time share a
 * job.
 */
const JOBS_A_WAIT = 100;

interface DeliverJob {
  endpointId: string;
}

/** A worker's work on webhooks. */
export interface WebhookWork {
  /** Called when deliveries of this endpoint may be due. */
  wake(endpointId: string): void;
  /** Finds due deliveries for which no worker was woken. */
  sweep(): Promise<void>;
}

/**
 * Wakes workers for deliveries. The ledger decides what a worker does. A worker is notified directly of deliveries that
 * are due now; all other wakes are jobs of Agenda. For a wait, an endpoint has one job per unit of time, which runs at
 * the end of the unit. A job for each wait would be too many, because each search of Agenda reads all waiting jobs: an
 * endpoint that refuses an event a second would have as many as its longest wait has seconds. The sweep finds
 * deliveries that are due before the end of the unit.
 * @param report receives failures; a job never throws
 */
export function createWebhookJobs(agenda: Agenda, db: Db, report: (message: string, error: unknown) => void) {
  const add = createJobInsert<DeliverJob>(db, agenda.attrs.name ?? '');
  let stopSweeping = async () => {};
  /** This process's work on webhooks; null if it is no worker. */
  let own: WebhookWork | null = null;

  function addWait(endpointId: string, at: Date, wait: number): Promise<void> {
    // Units are powers of two, so that waits of similar length share one.
    const unit = WAIT_MS * 2 ** Math.max(0, Math.ceil(Math.log2(wait / JOBS_A_WAIT / WAIT_MS)));
    const end = Math.ceil(at.getTime() / unit) * unit;
    const id = createHash('sha256').update(`${DELIVER_JOB} ${endpointId} ${unit} ${end}`).digest().subarray(0, 12);
    return add({ _id: new ObjectId(id), name: DELIVER_JOB, data: { endpointId } }, new Date(end));
  }

  const queue: DeliveryQueue = {
    async wake(endpointId, at) {
      const wait = at.getTime() - Date.now();
      if (own && wait <= 0) {
        own.wake(endpointId);
        return;
      }
      try {
        if (wait < WAIT_MS) await agenda.schedule(at, DELIVER_JOB, { endpointId } satisfies DeliverJob);
        else await addWait(endpointId, at, wait);
      } catch (error) {
        // The sweep will find the delivery.
        report(`a job ${DELIVER_JOB} could not be queued`, error);
      }
    },
  };
  return {
    queue,
    /** Must be called before Agenda starts. */
    start(work: WebhookWork): void {
      own = work;
      agenda.define<DeliverJob>(DELIVER_JOB, async (job: Job<DeliverJob>) => work.wake(job.attrs.data.endpointId), {
        concurrency: CONCURRENCY,
      });
      const failed = (error: unknown) => report('the webhook sweep failed', error);
      stopSweeping = every(SWEEP_MS, () => work.sweep(), failed, { firstMs: 0 });
    },
    stop(): Promise<void> {
      own = null;
      return stopSweeping();
    },
  };
}
