import { createHash, randomUUID } from 'node:crypto';
import type { Problem } from '../../src/domain/authority/ports.ts';
import { timestamp } from './clock.ts';
import type { Entry } from './ledger.ts';

/** A submission as the protocol writes it. */
export interface SubmissionBody {
  readonly id: string;
  readonly digest: string;
  readonly status: 'received' | 'processing' | 'accepted' | 'rejected';
  readonly received_at: string;
  readonly decided_at: string | null;
  readonly dgi_id: string | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly retry_after: number | null;
}

/** Time after which a submission without a due decision should be looked up again, seconds. */
const HELD_RETRY_S = 60;

/**
 * @param now by the machine's clock, milliseconds
 * @param asksToPoll whether an answer without a decision states a delay for the next look-up; false if decisions are
 *   announced
 */
export function submissionBody(
  { received, decided }: Entry,
  now: number,
  asksToPoll: boolean,
  pending: 'received' | 'processing' = 'processing',
): SubmissionBody {
  const wait = received.dueAt === null ? HELD_RETRY_S : Math.max(1, Math.ceil((received.dueAt - now) / 1000));
  return {
    id: received.id,
    digest: received.digest,
    status: decided?.status ?? pending,
    received_at: timestamp(received.receivedAt),
    decided_at: decided === null ? null : timestamp(decided.decidedAt),
    dgi_id: decided?.dgiId ?? null,
    problems: decided?.problems ?? [],
    warnings: received.warnings,
    retry_after: decided === null && asksToPoll ? wait : null,
  };
}

/** Makes an id that no client uses. */
export function strangeId(): string {
  return `other_${randomUUID()}`;
}

/** Makes an accepted submission that nobody made. @param now by the simulator's clock, milliseconds */
export function strangeSubmission(now: number): SubmissionBody {
  const id = strangeId();
  const time = timestamp(now);
  return {
    id,
    digest: createHash('sha256').update(id).digest('hex'),
    status: 'accepted',
    received_at: time,
    decided_at: time,
    dgi_id: `DGI-${id.slice(-12).toUpperCase()}`,
    problems: [],
    warnings: [],
    retry_after: null,
  };
}
