import { MOCK_CAPABILITIES } from '../../src/adapters/authority/mock/mock-authority.ts';
import type {
  Authority,
  Decision,
  LookUpAnswer,
  NotHeldReason,
  SubmitAnswer,
} from '../../src/domain/authority/ports.ts';

const CALLED = { requestId: 'req_1' } as const;

/** The capabilities of an authority without limits that is polled. */
export const CAPABILITIES = MOCK_CAPABILITIES;

/** @param submissionId id under which the submission is held; default: that of the invoice */
export function held(decision: Decision | null, askAgainAfter: number | null = null, submissionId?: string) {
  const submission = { submissionId: submissionId ?? '', decision, warnings: [], askAgainAfter };
  return { kind: 'held', ...CALLED, submission } as const;
}

export function unknown(message = 'no reply', retryAfterMs: number | null = null) {
  return { kind: 'unknown', ...CALLED, message, retryAfterMs } as const;
}

export function absent() {
  return { kind: 'absent', ...CALLED } as const;
}

export function notHeld(reason: NotHeldReason, message: string = reason, retryAfterMs: number | null = null) {
  return { kind: 'not_held', ...CALLED, reason, message, retryAfterMs } as const;
}

export function refused(code = 'document_too_large', message = 'The document is too large.') {
  return { kind: 'refused', ...CALLED, code, message } as const;
}

export function duplicate(original = 'inv_other') {
  return { kind: 'duplicate', ...CALLED, original } as const;
}

export function digestMismatch(heldDigest: string | null = 'ff'.repeat(32)) {
  return { kind: 'digest_mismatch', ...CALLED, heldDigest } as const;
}

/**
 * Makes an authority that holds every submission undecided, knows no submission, and answers probes. `parts` replace
 * its methods.
 */
export function answering(parts: Partial<Authority>): Authority {
  return {
    capabilities: () => CAPABILITIES,
    receipt: async () => absent(),
    cleared: async () => absent(),
    changes: async (after) => ({
      kind: 'changes',
      ...CALLED,
      entries: [],
      nextCursor: after ?? '',
      highWaterMark: after ?? '',
    }),
    probe: async () => null,
    ...parts,
    submit: async (submission) =>
      ownId<SubmitAnswer>(await (parts.submit ?? (async () => held(null)))(submission), submission.submissionId),
    lookUp: async (submission) =>
      ownId<LookUpAnswer>(await (parts.lookUp ?? (async () => absent()))(submission), submission.submissionId),
  };
}

function ownId<Answer extends SubmitAnswer | LookUpAnswer>(answer: Answer, submissionId: string): Answer {
  if (answer.kind !== 'held' || answer.submission.submissionId !== '') return answer;
  return { ...answer, submission: { ...answer.submission, submissionId } };
}
