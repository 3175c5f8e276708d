import type { Decision, LookUpAnswer, Problem } from '../../authority/ports.ts';
import { AttemptLog } from '../authority-attempts.ts';
import { after, next, recordOf, rejection, transition, warningsOf } from '../changes.ts';
import type { Invoice } from '../invoice.ts';
import { lookUpPause } from '../look-up-budget.ts';
import { decisionWait, failedLookUpWait } from '../pauses.ts';
import { boundedProblems } from '../problems.ts';
import { rejectedByAuthority } from '../rejection-reasons.ts';
import type { Claim, InvoiceChange } from '../repository.ts';
import { isAnswered, recordedCall, wasSent } from './call-authority.ts';
import {
  attemptsOf,
  type PipelineParts,
  type PipelineReport,
  type Progress,
  type RunStage,
  type Step,
} from './stage.ts';

/** Facts that have not been recorded yet when the authority decides. */
export interface Unrecorded {
  /** Calls to the authority. */
  readonly log?: AttemptLog;
  /** Findings of the authority. */
  readonly warnings?: readonly Problem[];
  /**
   * The change which says that the authority holds the invoice. It is written with its event in the same update as the
   * decision.
   */
  readonly held?: Omit<InvoiceChange, 'work'>;
}

/** Records the authority's decision with one update. */
export type DecideBy = (claim: Claim, decision: Decision, unrecorded: Unrecorded) => Promise<Step>;

/**
 * Creates the stage that looks up the tax authority's decision until there is one: `transmitted` → `accepted` or
 * `rejected`. However long that takes, nothing is sent again.
 */
export function createDecideStage(
  parts: Pick<PipelineParts, 'authorityOf' | 'gateOf' | 'report'>,
  { change, putOff, handOver }: Progress,
): { readonly decide: RunStage; readonly decideBy: DecideBy } {
  const decideBy: DecideBy = async (claim, decision, { log = new AttemptLog(), warnings = [], held = {} }) => {
    const invoice = after(claim.invoice, held);
    const recorded = { ...held, ...recordOf(invoice, log), ...warningsOf(warnings) };
    const events = (decided: Pick<InvoiceChange, 'events'>) => [...(held.events ?? []), ...(decided.events ?? [])];
    if (decision.outcome === 'rejected') {
      const rejected = rejection(invoice, rejectedByAuthority(invoice, decision.problems));
      const problems = boundedProblems(decision.problems);
      await change(claim, { ...recorded, ...rejected, events: events(rejected), problems });
      return null;
    }
    const { dgiId } = decision;
    const accepted = transition(invoice, 'accepted', { dgiId });
    const awaitsCleared = parts.authorityOf(invoice.environment).capabilities().clearedDocument;
    const what = { ...recorded, ...accepted, events: events(accepted), dgiId, ...(awaitsCleared && { awaitsCleared }) };
    // A live authority may be slow and must not occupy a place of this lane, so the receipt is a separate job. The test
    // authority is in this process.
    if (invoice.environment === 'live') return handOver(claim, 'receipt', what);
    return change(claim, { ...what, work: next('receipt') });
  };

  function report(invoice: Invoice, level: PipelineReport['level'], message: string): void {
    parts.report({ level, invoiceId: invoice.id, stage: 'decide', message });
  }

  function reportFailure(invoice: Invoice, answer: LookUpAnswer): void {
    if (answer.kind === 'unknown') report(invoice, 'warn', `the look-up at the authority failed: ${answer.message}`);
    if (answer.kind === 'absent')
      report(invoice, 'error', 'the authority does not know the document that it held; look-ups continue');
  }

  return {
    decideBy,
    async decide(claim) {
      const { invoice } = claim;
      const authority = parts.authorityOf(invoice.environment);
      const gate = parts.gateOf(invoice.environment);
      const capabilities = authority.capabilities();
      const work = { stage: 'decide', outcomeUnknown: false } as const;
      const wait = Math.max(gate.lookUpWait(), lookUpPause(invoice, capabilities.limits, new Date()));
      if (wait > 0) return putOff(claim, { ...work, attempts: attemptsOf(invoice) }, wait);
      const log = new AttemptLog();
      const submission = { submissionId: invoice.heldAs ?? invoice.id, sha256: invoice.xml?.sha256 ?? '' };
      const onDefect = (error: unknown) => {
        const message = 'the look-up failed by an internal error';
        parts.report({ level: 'error', invoiceId: invoice.id, stage: 'decide', message, error });
      };
      const answer = await recordedCall({ log, onDefect }, 'look_up', () => authority.lookUp(submission));
      if (answer.kind === 'unknown' && answer.deferred) {
        const { delay } = decisionWait(invoice, capabilities, null, new Date());
        return putOff(claim, { ...work, attempts: attemptsOf(invoice) }, Math.max(delay, answer.retryAfterMs ?? 0));
      }
      if (isAnswered(answer)) gate.answered();
      else if (answer.kind === 'unknown' && wasSent(answer)) await gate.lookUpFailed(answer.retryAfterMs);
      const held = answer.kind === 'held' ? answer.submission : null;
      if (held?.decision) return decideBy(claim, held.decision, { log, warnings: held.warnings });
      reportFailure(invoice, answer);
      const record = recordOf(invoice, log);
      const asked = { ...invoice, ...record };
      const now = new Date();
      const { days, delay } = decisionWait(asked, capabilities, held?.askAgainAfter ?? null, now);
      if (days > 0) {
        const message = `the authority has not decided for ${days} ${days === 1 ? 'day' : 'days'}; look-ups continue`;
        report(invoice, 'error', message);
      }
      const nextIn =
        answer.kind === 'unknown'
          ? Math.max(failedLookUpWait(asked, capabilities, now), answer.retryAfterMs ?? 0)
          : delay;
      return putOff(claim, { ...work, attempts: attemptsOf(invoice) + 1 }, nextIn, record);
    },
  };
}
