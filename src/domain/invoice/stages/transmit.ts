import { createHash } from 'node:crypto';
import type { HeldSubmission, Submission } from '../../authority/ports.ts';
import { AttemptLog } from '../authority-attempts.ts';
import { next, recordOf, rejection, transition, warningsOf } from '../changes.ts';
import { ASK_AGAIN_MS } from '../pauses.ts';
import { transmissionFailed } from '../rejection-reasons.ts';
import type { Claim } from '../repository.ts';
import type { DecideBy } from './decide.ts';
import { attemptsOf, type PipelineParts, type Progress, type RunStage, type Step } from './stage.ts';

/**
 * @param askFirst true if an earlier run may have sent the document: the authority is asked before anything is sent
 *   again
 */
export type TransmitBytes = (claim: Claim, document: Uint8Array, askFirst?: boolean) => Promise<Step>;

/**
 * Submits the signed bytes until the receipt or a look-up proves that the tax authority holds them: `signing` →
 * `transmitted`. Rejects the invoice with `dgi_transmission_failed` only if every attempt is known as "not received".
 */
export function createTransmitStage(
  parts: Pick<PipelineParts, 'documents' | 'authorityOf' | 'transmitSchedule' | 'report'>,
  { change, putOff }: Progress,
  decideBy: DecideBy,
): { readonly transmit: RunStage; readonly transmitBytes: TransmitBytes } {
  const transmitBytes: TransmitBytes = async (claim, document, askFirst = false) => {
    const { invoice } = claim;
    const authority = parts.authorityOf(invoice.environment);
    const sha256 = invoice.xml?.sha256 ?? createHash('sha256').update(document).digest('hex');
    const submission: Submission = { submissionId: invoice.id, customerIce: invoice.customer.ice, sha256, document };
    let outcomeUnknown = askFirst || (invoice.work?.outcomeUnknown ?? false);
    const schedule = parts.transmitSchedule(invoice.environment);
    const log = new AttemptLog();
    const found = outcomeUnknown ? await log.call('look_up', () => authority.lookUp(submission)) : null;
    if (found?.kind === 'held') return transmitted(claim, found.submission, log);
    if (found?.kind !== 'unknown') {
      outcomeUnknown = false;
      if (attemptsOf(invoice) < schedule.length) {
        const answer = await log.call('submit', () => authority.submit(submission));
        if (answer.kind === 'held') return transmitted(claim, answer.submission, log);
        outcomeUnknown = answer.kind === 'unknown';
      }
    }
    const attempts = attemptsOf(invoice) + 1;
    if (attempts >= schedule.length && !outcomeUnknown) {
      const reason = transmissionFailed(invoice, schedule.length);
      await change(claim, { ...rejection(invoice, reason), ...recordOf(invoice, log) });
      return null;
    }
    if (attempts >= schedule.length) {
      const message = 'the outcome is still unknown; look-ups continue';
      parts.report({ level: 'error', invoiceId: invoice.id, stage: 'transmit', message });
    }
    return putOff(
      claim,
      { stage: 'transmit', attempts, outcomeUnknown },
      schedule[Math.min(attempts, schedule.length - 1)] ?? 0,
      recordOf(invoice, log),
    );
  };

  /** Records that the authority holds the document. */
  async function transmitted(claim: Claim, receipt: HeldSubmission, log: AttemptLog): Promise<Step> {
    const { invoice } = claim;
    const held = await change(claim, {
      ...transition(invoice, 'transmitted'),
      ...recordOf(invoice, log),
      ...warningsOf(receipt.warnings),
      work: next('decide'),
    });
    if (receipt.decision) return decideBy(held, receipt.decision);
    return putOff(held, { stage: 'decide', attempts: 0, outcomeUnknown: false }, receipt.askAgainAfter ?? ASK_AGAIN_MS);
  }

  return {
    transmitBytes,
    async transmit(claim, runOn) {
      if (!claim.invoice.xml)
        throw new Error(`invoice ${claim.invoice.id} is at stage transmit without a signed document`);
      return transmitBytes(claim, await parts.documents.get(claim.invoice.xml), !runOn);
    },
  };
}
