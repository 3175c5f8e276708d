import type { Gate } from '../../authority/gate.ts';
import type { HeldSubmission, Problem } from '../../authority/ports.ts';
import type { AttemptLog } from '../authority-attempts.ts';
import { recordOf, rejection, transition, warningsOf } from '../changes.ts';
import { type Invoice, NEW_WORK } from '../invoice.ts';
import { decisionWait } from '../pauses.ts';
import { boundedProblems } from '../problems.ts';
import { duplicateOf, refusedByAuthority, transmissionFailed } from '../rejection-reasons.ts';
import type { Claim, NextWork } from '../repository.ts';
import type { Failed, Outcome } from './call-authority.ts';
import type { DecideBy } from './decide.ts';
import { byAge, type PipelineParts, type PipelineReport, type Progress, type Step } from './stage.ts';

/** A run of the stage `transmit` after its calls to the authority. */
export interface TransmitRun {
  readonly claim: Claim;
  readonly invoice: Invoice;
  readonly gate: Gate;
  readonly log: AttemptLog;
  readonly schedule: readonly number[];
}

export interface SettleParts extends Pick<PipelineParts, 'authorityOf' | 'report'> {
  readonly progress: Progress;
  readonly decideBy: DecideBy;
}

/** Creates a function that stores the result of a run with one update. */
export function createSettle(parts: SettleParts): (run: TransmitRun, outcome: Outcome) => Promise<Step> {
  const { change, leave } = parts.progress;

  async function rejected(run: TransmitRun, reason: string, problems: readonly Problem[] = []): Promise<null> {
    const { claim, invoice, log } = run;
    const found = problems.length > 0 && { problems: boundedProblems(problems) };
    await change(claim, { ...rejection(invoice, reason), ...found, ...recordOf(invoice, log) });
    return null;
  }

  return async (run, outcome) => {
    const { invoice, claim, log } = run;
    const alert = (message: string) => report(parts, run, 'error', message);
    const { attempts, failures } = invoice.work ?? NEW_WORK;
    switch (outcome.kind) {
      case 'held':
        return transmitted(parts, run, outcome.submission);
      case 'not_sent':
        return queued(parts, run, { attempts, failures, outcomeUnknown: outcome.outcomeUnknown });
      case 'deferred': {
        const work = { stage: 'transmit', attempts, outcomeUnknown: true, failures } as const;
        return parts.progress.putOff(claim, work, outcome.waitMs, recordOf(invoice, log));
      }
      case 'failed':
        if (outcome.needsOperator) alert(`the authority forbids the transmission: ${outcome.message}`);
        if (await isFinal(run, outcome)) return rejected(run, transmissionFailed(invoice, run.schedule.length));
        return retried(parts, run, outcome);
      case 'refused':
        alert(`the authority does not take the document: ${outcome.code}: ${outcome.message}`);
        return rejected(run, refusedByAuthority(invoice, outcome.code, outcome.message), [{ path: null, ...outcome }]);
      case 'duplicate': {
        alert(`the authority holds another document with this number, as ${outcome.original}; ${IF_RESTORED}`);
        const reason = duplicateOf(invoice, outcome.original);
        return rejected(run, reason, [{ code: 'duplicate', path: null, message: reason }]);
      }
      case 'digest_mismatch': {
        const digest = outcome.heldDigest ?? 'unknown';
        alert(`the authority holds another document under this id; its digest is ${digest}; ${IF_RESTORED}`);
        const work = { attempts, failures, outcomeUnknown: false, blocked: outcome.kind };
        return leave(claim, { stage: 'transmit', ...work }, 0, recordOf(invoice, log));
      }
    }
  };
}

/**
 * Advice in every alert about a document that is not ours: the authority may know more than the data after a restore.
 */
const IF_RESTORED =
  'if older data was restored, follow docs/operations.md, "After a restore of a backup or a followed copy" (numbers continue), and never have it removed there';

/** Records that the authority holds the document, perhaps under the id of an earlier submission. */
async function transmitted(
  { progress, decideBy, authorityOf }: SettleParts,
  { claim, invoice, log }: TransmitRun,
  { submissionId, decision, askAgainAfter, warnings }: HeldSubmission,
): Promise<Step> {
  const what = {
    ...transition(invoice, 'transmitted'),
    ...recordOf(invoice, log),
    ...(submissionId !== invoice.id && { heldAs: submissionId }),
    ...warningsOf(warnings),
  };
  if (decision) return decideBy(claim, decision, { held: what });
  const capabilities = authorityOf(invoice.environment).capabilities();
  const { delay } = decisionWait(invoice, capabilities, askAgainAfter, new Date());
  return progress.putOff(claim, { ...NEW_WORK, stage: 'decide' }, delay, what);
}

/**
 * Leaves the invoice in its lane, ordered by age. If it was tried in an outage, it waits behind the others until the
 * outage ends.
 */
async function queued(
  { progress }: SettleParts,
  { claim, invoice, log }: TransmitRun,
  work: Pick<NextWork, 'attempts' | 'outcomeUnknown' | 'failures' | 'tried'>,
): Promise<null> {
  const inMs = work.tried ? 0 : byAge(invoice);
  return progress.leave(claim, { ...work, stage: 'transmit' }, inMs, recordOf(invoice, log));
}

/** Whether every attempt is known not to have arrived and as many count as the schedule has. */
async function isFinal({ gate, schedule }: TransmitRun, { outcomeUnknown, failures }: Failed): Promise<boolean> {
  if (outcomeUnknown || gate.counted(failures).length < schedule.length) return false;
  return gate.conclude(failures, schedule.length);
}

async function retried(parts: SettleParts, run: TransmitRun, outcome: Failed): Promise<null> {
  const { claim, invoice, gate, log, schedule } = run;
  const { outcomeUnknown, retryAfterMs } = outcome;
  // Failures in an outage never count again, so they can be forgotten.
  const failures = gate.counted(outcome.failures);
  const runs = invoice.work?.attempts ?? 0;
  if (gate.isShut()) return queued(parts, run, { attempts: runs, outcomeUnknown, failures, tried: gate.isAway() });
  const attempts = runs + 1;
  if (outcomeUnknown && attempts >= schedule.length)
    report(parts, run, 'error', `the outcome is still unknown; look-ups continue: ${outcome.message}`);
  // The delay of a submission depends on the number of its attempts, that of a look-up on the number of runs.
  const step = Math.min(outcome.waitsBy === 'runs' ? attempts : failures.length, schedule.length - 1);
  const delay = Math.max(schedule[step] ?? 0, retryAfterMs ?? 0) || byAge(invoice);
  const work = { stage: 'transmit', attempts, outcomeUnknown, failures } as const;
  return parts.progress.putOff(claim, work, delay, recordOf(invoice, log));
}

function report(parts: SettleParts, { invoice }: TransmitRun, level: PipelineReport['level'], message: string): void {
  parts.report({ level, invoiceId: invoice.id, stage: 'transmit', message });
}
