import type { StatusMessage } from './client.ts';
import type { Sample } from './samples.ts';

/** Progress of one sample. */
export interface Progress {
  readonly sample: Sample;
  /** Time of the request on a monotonic clock, in milliseconds. */
  sentAt: number | null;
  id: string | null;
  /** The status in the answer to the creation, followed by those from the stream. */
  readonly steps: Step[];
  dgiId: string | null;
  rejectionReason: string | null;
  /** Why following the invoice failed; null when it did not. */
  failure: string | null;
  ended: boolean;
}

export interface Step {
  readonly status: string;
  /** Milliseconds since the request. */
  readonly after: number;
}

export function newProgress(sample: Sample): Progress {
  return {
    sample,
    sentAt: null,
    id: null,
    steps: [],
    dgiId: null,
    rejectionReason: null,
    failure: null,
    ended: false,
  };
}

/** Records a status received at `now`, a time of the same monotonic clock. */
export function recordStatus(
  progress: Progress,
  message: Pick<StatusMessage, 'status'> & Partial<StatusMessage>,
  now: number,
): void {
  progress.steps.push({ status: message.status, after: now - (progress.sentAt ?? now) });
  progress.dgiId = message.dgi_id ?? progress.dgiId;
  progress.rejectionReason = message.rejection_reason ?? progress.rejectionReason;
}

/**
 * Returns how an ended invoice deviated from its sample's expectation; null when it did not. The stream starts with the
 * current status, so the first statuses may be missing when it was opened late.
 */
export function deviationOf({ sample: { expected }, steps, failure, rejectionReason }: Progress): string | null {
  if (failure !== null) return failure;
  const [answered, ...streamed] = steps.map(({ status }) => status);
  const last = expected.statuses.slice(-streamed.length);
  if (answered !== 'pending' || streamed.length === 0 || streamed.join() !== last.join()) {
    const [expectedText, actualText] = [
      ['pending', ...expected.statuses],
      [answered, ...streamed],
    ].map((each) => each.join(' → '));
    return `expected ${expectedText}, but was ${actualText}${rejectionReason === null ? '' : ` (${rejectionReason})`}`;
  }
  if (expected.reason !== undefined && !rejectionReason?.includes(expected.reason)) {
    return `expected a reason with '${expected.reason}', but it was '${rejectionReason ?? ''}'`;
  }
  return null;
}
