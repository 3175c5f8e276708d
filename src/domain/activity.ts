import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './tracing.ts';

/** The subject of the work under way, for the log and for traces. The caller that began it may add fields meanwhile. */
export interface Activity {
  requestId?: string;
  tenantId?: string;
  invoiceId?: string;
  /** The id of the trace that the work belongs to: 32 hexadecimal digits. */
  traceId?: string;
  /** The span under way. */
  span?: Span | null;
}

const activities = new AsyncLocalStorage<Activity>();

/** Returns the activity of the caller; undefined outside of one. */
export function currentActivity(): Activity | undefined {
  return activities.getStore();
}

/** Runs work, and everything that it awaits, as this activity. */
export function within<Result>(activity: Activity, work: () => Result): Result {
  return activities.run(activity, work);
}

/** Runs work for several callers, whose log entries and timers must not have the ids of the caller that began it. */
export function outside<Result>(work: () => Result): Result {
  return activities.run({}, work);
}
