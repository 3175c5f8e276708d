import { createHash } from 'node:crypto';
import type {
  Authority,
  Capabilities,
  Decision,
  HeldSubmission,
  LedgerPlace,
  LedgerRow,
  LookUpAnswer,
  Problem,
  Submission,
  SubmissionLedger,
  SubmitAnswer,
} from '../../../domain/authority/ports.ts';
import { CLOCK_SKEW_MS } from '../../../domain/durations.ts';
import { kindOfId } from '../../../domain/invoice/kinds.ts';
import type { DocumentSigner } from '../../../domain/invoice/ports.ts';
import { magicOf } from '../../../domain/invoice/test-scenarios.ts';
import { later } from '../../../domain/later.ts';
import type { InvalidSignature } from '../../../domain/verification/verification.ts';
import type { ReceiptReader } from '../receipt-reader.ts';
import { writeReceipt } from '../receipt-writer.ts';
import type { Examined } from './content-examiner.ts';
import { faultOf } from './examine-invoice.ts';
import { digestProblem, scenarioProblem, signatureProblem } from './findings.ts';

export interface MockAuthorityParts {
  readonly ledger: SubmissionLedger;
  /** Verifies the signature of a document whose signature `examineContent` has not verified. */
  readonly verify: (
    document: Uint8Array,
  ) => Promise<{ readonly valid: true } | Pick<InvalidSignature, 'valid' | 'failed'>>;
  /** Checks the document. By default checks only its content, with `faultOf`, on the event loop. */
  readonly examineContent?: (document: Uint8Array, customerIce: string | null) => Promise<Examined>;
  /** Signs the receipts of this authority. */
  readonly signer: DocumentSigner;
  readonly readReceipt: ReceiptReader;
  readonly clock?: () => Date;
}

const DECISION_DELAY_MS = 10_000;
const RECEIPT_DELAY_MS = 60_000;
const UNAVAILABLE_TWICE_ATTEMPTS = 2;

/** The mock authority's capabilities: decisions are polled, and nothing is limited. */
export const MOCK_CAPABILITIES: Capabilities = {
  decision: 'polling',
  lookUp: ['id', 'digest'],
  clearedDocument: false,
  maxDocumentBytes: 5_242_880,
  // Nothing limits calls within this process.
  limits: {
    submissionsPerMinute: Number.POSITIVE_INFINITY,
    lookUpsPerMinute: Number.POSITIVE_INFINITY,
    lookUpsPerSubmissionPerHour: Number.POSITIVE_INFINITY,
    concurrent: Number.POSITIVE_INFINITY,
  },
};

/** Added to every answer. No HTTP request is sent, so there is no request id. */
const CALLED = { requestId: null } as const;

/**
 * Creates the tax authority of the test environment. It checks each submission as the real authority would (signature,
 * parties, figures to the centime), keeps a durable ledger, and applies the scenario of the customer's magic ICE
 * (docs/decisions/0029). A submission costs one write to the ledger. In the scenarios of a late receipt and a lost
 * reply the outcome is `unknown`; a later `lookUp` finds the submission.
 */
export function createMockAuthority({
  ledger,
  verify,
  examineContent = async (document, customerIce) => ({ isVerified: false, fault: faultOf(document, customerIce) }),
  signer,
  readReceipt,
  clock = () => new Date(),
}: MockAuthorityParts): Authority {
  /**
   * Returns the time by which a submission is judged, UNIX milliseconds. Returns infinity if the clock was set back
   * since the submission was received: otherwise the decision would be delayed by that much.
   */
  const nowFor = ({ receivedAt }: LedgerRow): number => {
    const now = clock().getTime();
    return now < receivedAt.getTime() - CLOCK_SKEW_MS ? Number.POSITIVE_INFINITY : now;
  };

  /** Returns the current state of a submission as an answer. */
  const answerOf = (row: LedgerRow): LookUpAnswer & SubmitAnswer => {
    const now = nowFor(row);
    if (now < row.receiptAt.getTime())
      return unknown(
        'The authority has not sent its receipt yet: look the submission up later, do not submit it again.',
      );
    const wait = row.decisionAt.getTime() - now;
    const visible =
      wait > 0 ? { decision: null, askAgainAfter: wait } : { decision: row.decision, askAgainAfter: null };
    const submission: HeldSubmission = { submissionId: row.submissionId, warnings: [], ...visible };
    return { kind: 'held', ...CALLED, submission };
  };

  return {
    capabilities: () => MOCK_CAPABILITIES,

    async submit(submission) {
      const scenario = magicOf(submission.customerIce);
      if (
        scenario === 'unavailable' ||
        (scenario === 'unavailable-twice' &&
          (await ledger.countRefusal(submission.submissionId)) <= UNAVAILABLE_TWICE_ATTEMPTS)
      ) {
        return notHeld('The authority is unavailable (503): submit again later.');
      }
      const examined = await examine(submission, verify, examineContent);
      if (examined === 'failed') return notHeld('The authority could not examine the document: submit again later.');
      const receivedAt = clock();
      const receiptAt = later(receivedAt, scenario === 'slow-receipt' ? RECEIPT_DELAY_MS : 0);
      const decisionAt = later(receiptAt, scenario === 'slow-decision' ? DECISION_DELAY_MS : 0);
      const { submissionId, sha256 } = submission;
      const decision = decide(submission, examined, decisionAt);
      const row = await ledger.record({ submissionId, sha256, receivedAt, receiptAt, decisionAt, decision });
      if (row.sha256 !== sha256) return { kind: 'digest_mismatch', ...CALLED, heldDigest: row.sha256 };
      if (scenario === 'lost-reply')
        return unknown('The reply of the authority was lost: look the submission up before submitting again.');
      return answerOf(row);
    },

    async lookUp({ submissionId, sha256 }) {
      const row = await ledger.find(submissionId);
      if (row === null) return { kind: 'absent', ...CALLED };
      if (row.sha256 !== sha256)
        return { ...unknown('The authority holds another document under this id.'), heldDigest: row.sha256 };
      return answerOf(row);
    },

    async receipt({ dgiId, submissionId }) {
      const row = await ledger.find(submissionId);
      if (row === null || answerOf(row).kind !== 'held' || nowFor(row) < row.decisionAt.getTime())
        return { kind: 'absent', ...CALLED };
      const { sha256: digest, decision } = row;
      if (decision.outcome !== 'accepted' || decision.dgiId !== dgiId) return { kind: 'absent', ...CALLED };
      const facts = { dgiId, submissionId, digest, status: decision.outcome, decidedAt: decision.decidedAt };
      return { ...CALLED, ...(await readReceipt(await writeReceipt(facts, signer, clock()))) };
    },

    cleared: async () => ({ kind: 'absent', ...CALLED }),
    async changes(after, limit) {
      const place = after === null || after === '' ? null : placeOf(after);
      if (place === undefined) return unknown('The cursor is not one of this ledger.');
      const now = clock();
      const rows = await ledger.decided(place, now, limit);
      const latest = rows.length < limit ? null : await ledger.latest(now);
      const entries = rows.map(({ submissionId, sha256, decision }) => ({ submissionId, sha256, decision }));
      const last = rows.at(-1);
      const nextCursor = last ? cursorOf(last) : (after ?? '');
      return { kind: 'changes', ...CALLED, entries, nextCursor, highWaterMark: latest ? cursorOf(latest) : nextCursor };
    },
    probe: async () => null,
  };
}

/** Returns the cursor that points behind a row of the ledger. */
function cursorOf({ decisionAt, submissionId }: LedgerPlace): string {
  return `${decisionAt.getTime()} ${submissionId}`;
}

/** Reads a cursor. @returns undefined if it is not a cursor of this ledger */
function placeOf(cursor: string): LedgerPlace | undefined {
  const [, time, submissionId] = /^(\d{1,15}) (.+)$/.exec(cursor) ?? [];
  return time && submissionId ? { decisionAt: new Date(Number(time)), submissionId } : undefined;
}

function unknown(message: string) {
  return { kind: 'unknown', ...CALLED, message, retryAfterMs: null } as const;
}

function notHeld(message: string): SubmitAnswer {
  return { kind: 'not_held', ...CALLED, reason: 'unavailable', message, retryAfterMs: null };
}

/**
 * Examines a document.
 * @returns the problem for which it is rejected, or null if there is none; `failed` when it cannot be examined, and
 * nothing is recorded
 */
async function examine(
  { document, sha256, customerIce }: Submission,
  verify: MockAuthorityParts['verify'],
  examineContent: NonNullable<MockAuthorityParts['examineContent']>,
): Promise<Problem | 'failed' | null> {
  if (createHash('sha256').update(document).digest('hex') !== sha256) {
    return digestProblem();
  }
  try {
    const { isVerified, fault } = await examineContent(document, customerIce);
    const verification = isVerified ? null : await verify(document);
    return verification?.valid === false ? signatureProblem(verification.failed) : fault;
  } catch {
    return 'failed';
  }
}

function decide({ submissionId, sha256, customerIce }: Submission, fault: Problem | null, decidedAt: Date): Decision {
  const problem = fault ?? scenarioProblem(magicOf(customerIce), customerIce, kindOfId(submissionId) ?? 'invoice');
  if (problem !== null) return { outcome: 'rejected', problems: [problem], decidedAt };
  const digits = createHash('sha256').update(`${submissionId} ${sha256}`).digest('hex').slice(0, 16).toUpperCase();
  return { outcome: 'accepted', dgiId: `DGI-TEST-${digits}`, decidedAt };
}
