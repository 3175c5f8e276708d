import { type Activity, within } from '../activity.ts';
import { kindOfError, NO_TRACING, type Tracing, traceIdOf } from '../tracing.ts';
import type { Invoice } from './invoice.ts';
import type { Claim, InvoiceChange } from './repository.ts';

/**
 * Records the stages of claimed invoices in the log and in traces, with a span for each stage in the trace of the
 * creation.
 */
export interface StageSpans {
  /** Runs the stages of a claim as one activity. */
  run<Result>(claim: Claim, work: () => Promise<Result>): Promise<Result>;
  /**
   * Must be called when an update has ended a stage.
   * @param after the claim after the update, which may run the next stage
   */
  changed(claim: Claim, change: InvoiceChange, after: Claim): void;
}

export function createStageSpans(tracing: Tracing = NO_TRACING): StageSpans {
  // Activities are found by claim, because an update of several invoices runs within the activity of only one of them.
  const activities = new WeakMap<Claim, Activity>();

  function begin(activity: Activity, { id, tenantId, environment, traceparent, work }: Invoice): void {
    activity.span =
      traceparent === null || work === null
        ? null
        : tracing.begin(`invoice ${work.stage}`, {
            kind: 'internal',
            parent: traceparent,
            attributes: {
              'fatoura.invoice.id': id,
              'fatoura.tenant.id': tenantId,
              'fatoura.environment': environment,
              'fatoura.stage.attempt': work.attempts + 1,
            },
          });
  }

  return {
    async run(claim, work) {
      const { id, tenantId, traceparent } = claim.invoice;
      const activity: Activity = { tenantId, invoiceId: id };
      if (traceparent !== null) activity.traceId = traceIdOf(traceparent);
      activities.set(claim, activity);
      begin(activity, claim.invoice);
      try {
        return await within(activity, work);
      } catch (error) {
        activity.span?.fail(kindOfError(error));
        throw error;
      } finally {
        activity.span?.end();
      }
    },

    changed(claim, { status, work }, after) {
      const activity = activities.get(claim);
      if (activity === undefined) return;
      const { span } = activity;
      if (status) span?.set({ 'fatoura.invoice.status': status });
      if (work && work.stage === claim.invoice.work?.stage) span?.set({ 'fatoura.stage.put_off': true });
      span?.end();
      activity.span = null;
      if (!work?.keep) return;
      activities.set(after, activity);
      begin(activity, after.invoice);
    },
  };
}
