import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agenda, Job } from 'agenda';
import { ReconciliationBusy } from '../domain/authority/reconciliation.ts';
import { every } from '../domain/kit/every.ts';

/** The name of the nightly job, which operators see in the dashboard. */
export const RECONCILE_JOB = 'authority.reconcile';

/**
 * For another time zone Agenda would take the offset from Node, whose data for Morocco may be outdated
 * (docs/decisions/0076).
 */
const TIMEZONE = 'UTC';
/** The runs of different installations start at different times within this number of minutes after three o'clock. */
const SPREAD_MINUTES = 30;
/**
 * Interval at which the job reports that it still runs. After two minutes without a report Agenda gives it to another
 * worker.
 */
const TOUCH_MS = 30_000;
/** Pause while another process reconciles, or until the lease of a dead process ends, milliseconds. */
const BUSY_MS = 60_000;
const BUSY_TIMES = 10;
/** The next night's run is never further away than this, also when the clocks change. */
const MOST_AHEAD_MS = 26 * 3_600_000;

export interface ReconcileJobParts {
  readonly agenda: Agenda;
  /** @throws {ReconciliationBusy} */
  readonly reconcile: (signal: AbortSignal) => Promise<unknown>;
  /** The name of the installation, which determines the minute of the run. */
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
    /**
     * Adds the job to the schedule, unless it exists. If a run became due while no worker ran, it starts immediately.
     */
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
      // Storing the job again would unlock it while another process runs it. A run later than the next night was
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

/** Returns the cron expression, with seconds. It is always the same for an installation. */
function scheduleOf(installation: string): string {
  const place = createHash('sha256').update(installation).digest().readUInt32BE() % (SPREAD_MINUTES * 60);
  return `${place % 60} ${Math.floor(place / 60)} 3 * * *`;
}
