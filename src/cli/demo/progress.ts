import type { StatusMessage } from './client.ts';
import type { Sample } from './samples.ts';

/** How far one sample has come. Times are milliseconds since it was sent. */
export interface Progress {
  readonly sample: Sample;
  /** Reading of a steady clock when the request went out, milliseconds. */
  sentAt: number | null;
  id: string | null;
  /** The answer's status first, then each that the stream told. */
  readonly steps: Step[];
  dgiId: string | null;
  rejectionReason: string | null;
  /** Why following it came to an end early. */
  failure: string | null;
  ended: boolean;
}

export interface Step {
  readonly status: string;
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

/** Notes a status that was told at `now`. */
export function noteStatus(
  progress: Progress,
  message: Pick<StatusMessage, 'status'> & Partial<StatusMessage>,
  now: number,
): void {
  progress.steps.push({ status: message.status, after: now - (progress.sentAt ?? now) });
  progress.dgiId = message.dgi_id ?? progress.dgiId;
  progress.rejectionReason = message.rejection_reason ?? progress.rejectionReason;
}

/**
 * What an ended invoice did other than its sample says, in words; null when it did as expected. A stream opens with the status of that
 * moment: where this machine was slow to open it, the first ones are not told.
 */
export function surpriseOf({ sample: { expected }, steps, failure, rejectionReason }: Progress): string | null {
  if (failure !== null) return failure;
  const [answered, ...streamed] = steps.map(({ status }) => status);
  const last = expected.statuses.slice(-streamed.length);
  if (answered !== 'pending' || streamed.length === 0 || streamed.join() !== last.join()) {
    const [wanted, told] = [
      ['pending', ...expected.statuses],
      [answered, ...streamed],
    ].map((each) => each.join(' → '));
    return `expected ${wanted}, was ${told}${rejectionReason === null ? '' : ` (${rejectionReason})`}`;
  }
  if (expected.reason !== undefined && !rejectionReason?.includes(expected.reason)) {
    return `the reason should say '${expected.reason}' and says '${rejectionReason ?? ''}'`;
  }
  return null;
}
