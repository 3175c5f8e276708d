import { SUSPICIOUS_CLAIMS } from './attention.ts';
import type { Stage } from './lifecycle.ts';
import { createNumbering } from './numbering.ts';
import { pauseAfter } from './pauses.ts';
import type { UnsignedDocument } from './ports.ts';
import { createRenewals } from './renewals.ts';
import { type Claim, ClaimLost } from './repository.ts';
import { createStageSpans } from './stage-spans.ts';
import { createCheckCorrection } from './stages/check-correction.ts';
import { createDecideStage } from './stages/decide.ts';
import { createEmailStage } from './stages/email.ts';
import { createNormalizeStage } from './stages/normalize.ts';
import { createReceiptStage } from './stages/receipt.ts';
import { createRenderStage } from './stages/render.ts';
import { createSignStage } from './stages/sign.ts';
import { createProgress, LEASE_MS, type PipelineParts, type RunStage, type Step } from './stages/stage.ts';
import { createTransmitStage } from './stages/transmit.ts';

/**
 * Number of claims without progress that are attributed to accidental deaths of workers. After more, the invoice may be
 * what kills them, so it is paused as after a defect.
 */
const ACCIDENTS = 5;

export interface Pipeline {
  /**
   * Runs the due stage of a claimed invoice and each following stage that need not wait. Stages handle expected
   * failures. After a defect it throws, with the lease extended.
   */
  runClaimed(claim: Claim): Promise<void>;
}

/**
 * Creates the pipeline: normalize → sign → transmit → decide → receipt → render → email. Each stage is a file in
 * `stages/`.
 */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { invoices, report } = parts;
  const renewals = createRenewals(invoices);
  const spans = createStageSpans(parts.tracing);
  const progress = createProgress(parts, spans);
  const numbering = createNumbering<UnsignedDocument | null>(invoices, parts.turns, progress.changeAll);
  const { decide, decideBy } = createDecideStage(parts, progress);
  const { transmit, transmitBytes } = createTransmitStage(parts, progress, decideBy);
  const { sign, signDocument } = createSignStage(parts, progress, transmitBytes);
  const stages: Readonly<Record<Stage, RunStage>> = {
    normalize: createNormalizeStage(parts, progress, createCheckCorrection(parts), numbering, signDocument),
    sign,
    transmit,
    decide,
    receipt: createReceiptStage(parts, progress),
    render: createRenderStage(parts, progress),
    email: createEmailStage(parts, progress),
  };

  return { runClaimed: (claim) => spans.run(claim, () => runStages(claim)) };

  async function runStages(claimed: Claim): Promise<void> {
    const invoiceId = claimed.invoice.id;
    let step: Step = claimed;
    const claims = Math.max(1, claimed.invoice.work?.claims ?? 1);
    const lease = claims > ACCIDENTS ? pauseAfter(claims - ACCIDENTS) : LEASE_MS;
    const release = renewals.hold(claimed, lease);
    try {
      // Another worker holds the lease now and continues.
      if (lease > LEASE_MS && (await invoices.renew([{ claim: claimed, leaseMs: lease }])) === 0) return;
      for (let runOn = false; step?.invoice.work; runOn = true)
        step = await stages[step.invoice.work.stage](step, runOn);
    } catch (error) {
      // Another worker holds the lease now and continues.
      if (error instanceof ClaimLost) return;
      release();
      // A defect would recur at once, so the lease is extended to pause the invoice. If the store fails, extending
      // fails too, and the lease ends at its original time.
      const pause = pauseAfter(claims);
      if (claims >= SUSPICIOUS_CLAIMS) {
        const stage = step?.invoice.work?.stage ?? 'normalize';
        const message = `needs attention: ${claims} runs without progress; the next in ${Math.round(pause / 1000)} s`;
        report({ level: 'error', invoiceId, stage, message, error });
      }
      await invoices.renew([{ claim: claimed, leaseMs: pause }]).catch(() => undefined);
      throw error;
    } finally {
      release();
    }
  }
}
