import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agenda, Job } from 'agenda';
import { ReconciliationBusy } from '../domain/authority/reconciliation.ts';
import { every } from '../domain/kit/every.ts';

/** The name of the nightly job, which operators see in the dashboard. */
export const RECONCILE_JOB = 'authority.reconcile';

/** Agenda would take any other one's offset from Node, whose data of Morocco may be older (docs/decisions/0076). */
const TIMEZONE = 'UTC';
/** The runs of different installations start within this many minutes after three o'clock. */
const SPREAD_MINUTES = 30;
/** Agenda gives a job to another worker if it is not told for two minutes that the job still runs. */
const TOUCH_MS = 30_000;
/** Pause while another process reconciles, or the lease of a dead one has not ended, milliseconds. */
const BUSY_MS = 60_000;
const BUSY_TIMES = 10;
/** The next night's run is nearer than this, also where the clocks change. */
const MOST_AHEAD_MS = 26 * 3_600_000;

export interface ReconcileJobParts {
  readonly agenda: Agenda;
  /** @throws {ReconciliationBusy} */
  readonly reconcile: (signal: AbortSignal) => Promise<unknown>;
  /** Identifies the installation: it decides the minute of the run. */
  readonly installation: string;
  readonly report: (message: string, error: unknown) => void;
}

/** Reconciles every night between 3:00 and 3:30 UTC, in one process. The store's lease excludes a second run. */
export function createReconcileJob({ agenda, reconcile, installation, report }: ReconcileJobParts) {
  const end = new AbortController();

  async function run(): Promise<void> {
    for (let time = 1; ; time++) {
      try {
        await reconcile(end.signal);
        return;
      } catch (error) {
        if (!(error instanceof ReconciliationBusy) || time === BUSY_TIMES) throw error;
        await sleep(BUSY_MS, undefined, { signal: end.signal, ref: false });
      }
    }
  }

  return {
    /** Adds the job to the schedule, unless it is there. A run that was due while no worker ran starts at once. */
    async start(): Promise<void> {
      const work = async (job: Job): Promise<void> => {
        const stopTouching = every(
          TOUCH_MS,
          () => job.touch(),
          () => undefined,
        );
        await run()
          .catch((error) => end.signal.aborted || report('the reconciliation with the authority failed', error))
          .finally(stopTouching);
      };
      agenda.define(RECONCILE_JOB, work, { concurrency: 1, lockLimit: 1 });
      const interval = scheduleOf(installation);
      const { jobs } = await agenda.queryJobs({ name: RECONCILE_JOB, limit: 1 });
      const next = jobs[0]?.nextRunAt?.getTime() ?? 0;
      const isKept = jobs[0]?.repeatInterval === interval && jobs[0].repeatTimezone === TIMEZONE;
      // Storing it again would unlock a job that another process runs. A run that is farther away than the next night was
      // planned by a clock that was ahead.
      if (isKept && next < Date.now() + MOST_AHEAD_MS) return;
      await agenda.every(interval, RECONCILE_JOB, {}, { timezone: TIMEZONE, skipImmediate: true });
    },
    /** Ends a run in progress after its current page. */
    stop: () => end.abort(),
  };
}

/** Removes the job of an earlier configuration. */
export async function removeReconcileJob(agenda: Agenda): Promise<void> {
  await agenda.cancel({ name: RECONCILE_JOB });
}

/** The cron expression with seconds. The same installation always gets the same one. */
function scheduleOf(installation: string): string {
  const place = createHash('sha256').update(installation).digest().readUInt32BE() % (SPREAD_MINUTES * 60);
  return `${place % 60} ${Math.floor(place / 60)} 3 * * *`;
}
