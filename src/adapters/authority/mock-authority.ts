import { createHash } from 'node:crypto';
import {
  type Authority,
  type Decision,
  type LedgerRow,
  NotReceived,
  OutcomeUnknown,
  type Receipt,
  type Submission,
  type SubmissionLedger,
} from '../../domain/invoice/ports.ts';
import { MAGIC_ICES } from '../../domain/invoice/test-scenarios.ts';
import { faultOf } from './examine-invoice.ts';

export interface MockAuthorityParts {
  readonly ledger: SubmissionLedger;
  /** Verifies the signature of a document. `reason` is a complete sentence. */
  readonly verify: (
    document: Uint8Array,
  ) => Promise<{ readonly valid: true } | { readonly valid: false; readonly reason: string }>;
  /** Checks the content of the document as `faultOf` does. By default `faultOf` itself runs, on the event loop. */
  readonly examineContent?: (document: Uint8Array, customerIce: string) => Promise<string | null>;
  readonly clock?: () => Date;
}

const DECISION_DELAY_MS = 10_000;
const RECEIPT_DELAY_MS = 60_000;
const UNAVAILABLE_TWICE_ATTEMPTS = 2;

/**
 * The tax authority of the test environment. It checks each submission as the real authority would (signature, parties,
 * figures to the centime), keeps a durable ledger, and applies the scenario of the customer's magic ICE
 * (docs/decisions/0029). A submission costs one write to the ledger. A late receipt and a lost reply both throw
 * `OutcomeUnknown`; a later `lookUp` returns the receipt.
 */
export function createMockAuthority({
  ledger,
  verify,
  examineContent = async (document, customerIce) => faultOf(document, customerIce),
  clock = () => new Date(),
}: MockAuthorityParts): Authority {
  /** The receipt as visible at the current time. @throws {OutcomeUnknown} while the receipt is not due yet */
  const receiptOf = (row: LedgerRow): Receipt => {
    const now = clock().getTime();
    if (now < row.receiptAt.getTime()) {
      throw new OutcomeUnknown(
        'The authority has not sent its receipt yet: look the submission up later, do not submit it again.',
      );
    }
    const wait = row.decisionAt.getTime() - now;
    return wait > 0 ? { decision: null, askAgainAfter: wait } : { decision: row.decision, askAgainAfter: null };
  };

  return {
    async submit(submission) {
      const scenario = MAGIC_ICES[submission.customerIce];
      if (
        scenario === 'unavailable' ||
        (scenario === 'unavailable-twice' &&
          (await ledger.countRefusal(submission.submissionId)) <= UNAVAILABLE_TWICE_ATTEMPTS)
      ) {
        throw new NotReceived('The authority is unavailable (503): submit again later.');
      }
      const fault = await examine(submission, verify, examineContent);
      const receivedAt = clock();
      const receiptAt = later(receivedAt, scenario === 'slow-receipt' ? RECEIPT_DELAY_MS : 0);
      const decisionAt = later(receiptAt, scenario === 'slow-decision' ? DECISION_DELAY_MS : 0);
      const { submissionId, sha256 } = submission;
      const decision = decide(submission, fault, decisionAt);
      const row = await ledger.record({ submissionId, sha256, receivedAt, receiptAt, decisionAt, decision });
      if (row.sha256 !== sha256) return { decision: rejectSecondDocument(receivedAt), askAgainAfter: null };
      if (scenario === 'lost-reply') {
        throw new OutcomeUnknown(
          'The reply of the authority was lost: look the submission up before submitting again.',
        );
      }
      return receiptOf(row);
    },

    async lookUp(submissionId, sha256) {
      const row = await ledger.find(submissionId);
      return row?.sha256 === sha256 ? receiptOf(row) : null;
    },
  };
}

/**
 * @returns why the document is rejected, or null
 * @throws {NotReceived} when the document cannot be examined; nothing is recorded in that case
 */
async function examine(
  { document, sha256, customerIce }: Submission,
  verify: MockAuthorityParts['verify'],
  examineContent: NonNullable<MockAuthorityParts['examineContent']>,
): Promise<string | null> {
  if (createHash('sha256').update(document).digest('hex') !== sha256) {
    return 'The document does not match the announced digest: it was changed in transit. Contact the support of the invoicing service.';
  }
  const notReceived = (cause: unknown) => {
    throw new NotReceived('The authority could not examine the document: submit again later.', { cause });
  };
  const verification = await verify(document).catch(notReceived);
  if (!verification.valid) {
    return `The signature is not valid. ${verification.reason} Contact the support of the invoicing service, then issue a new invoice.`;
  }
  return examineContent(document, customerIce).catch(notReceived);
}

function decide({ submissionId, sha256, customerIce }: Submission, fault: string | null, decidedAt: Date): Decision {
  if (fault !== null) return { outcome: 'rejected', reason: fault, decidedAt };
  switch (MAGIC_ICES[customerIce]) {
    case 'unknown-ice':
      return {
        outcome: 'rejected',
        reason: `The customer's ICE ${customerIce} is unknown to the tax authority. Check the ICE with the customer and issue a new invoice.`,
        decidedAt,
      };
    case 'duplicate':
      return {
        outcome: 'rejected',
        reason:
          'The tax authority already holds an invoice with the same content. Look for it among your earlier invoices; if this is a different sale, make the content of the new invoice say so.',
        decidedAt,
      };
    default: {
      const digits = createHash('sha256').update(`${submissionId} ${sha256}`).digest('hex').slice(0, 16).toUpperCase();
      return { outcome: 'accepted', dgiId: `DGI-TEST-${digits}`, decidedAt };
    }
  }
}

/**
 * The ledger keeps the first document of a submission. A different document under the same id is rejected and not
 * recorded.
 */
function rejectSecondDocument(decidedAt: Date): Decision {
  return {
    outcome: 'rejected',
    reason:
      'The tax authority already holds a different document for this submission. Keep that document, or issue a new invoice for the new content.',
    decidedAt,
  };
}

function later(time: Date, milliseconds: number): Date {
  return new Date(time.getTime() + milliseconds);
}
