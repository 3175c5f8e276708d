import type { Gate, Pass } from '../../authority/gate.ts';
import type { HeldSubmission, Problem } from '../../authority/ports.ts';
import { AttemptLog } from '../authority-attempts.ts';
import { next, recordOf, rejection, transition, warningsOf } from '../changes.ts';
import { type Invoice, NEW_WORK } from '../invoice.ts';
import { lookUpPause } from '../look-up-budget.ts';
import { decisionWait } from '../pauses.ts';
import { boundedProblems } from '../problems.ts';
import { duplicateOf, refusedByAuthority, transmissionFailed } from '../rejection-reasons.ts';
import type { Claim } from '../repository.ts';
import { callAuthority, type Outcome } from './call-authority.ts';
import type { DecideBy } from './decide.ts';
import type { PipelineParts, PipelineReport, Progress, RunStage, Step } from './stage.ts';

/**
 * @param read reads the signed bytes
 * @param asksFirst true if an earlier run may have sent them: the authority is asked before anything is sent again
 */
export type TransmitBytes = (claim: Claim, read: () => Promise<Uint8Array>, asksFirst: boolean) => Promise<Step>;

/** A run of the stage, after its calls. */
interface Run {
  readonly claim: Claim;
  readonly invoice: Invoice;
  readonly gate: Gate;
  readonly log: AttemptLog;
  readonly schedule: readonly number[];
}

/**
 * Submits the signed bytes until an answer or a look-up proves that the tax authority holds them: `signing` →
 * `transmitted`. Rejects the invoice if the authority will never take it, and with `dgi_transmission_failed` if every
 * attempt is known as "not held" (docs/decisions/0009, 0045).
 */
export function createTransmitStage(
  parts: Pick<PipelineParts, 'documents' | 'authorityOf' | 'gateOf' | 'transmitSchedule' | 'report'>,
  progress: Progress,
  decideBy: DecideBy,
): { readonly transmit: RunStage; readonly transmitBytes: TransmitBytes } {
  const settle = createSettle(parts, progress, decideBy);

  const transmitBytes: TransmitBytes = async (claim, read, asksFirst) => {
    const { invoice } = claim;
    const { environment, work } = invoice;
    const authority = parts.authorityOf(environment);
    const gate = parts.gateOf(environment);
    const log = new AttemptLog();
    const run: Run = { claim, invoice, gate, log, schedule: parts.transmitSchedule(environment) };
    if (asksFirst) {
      const pause = lookUpPause(invoice, authority.capabilities().limits, new Date());
      const { attempts, failures } = work ?? NEW_WORK;
      if (pause > 0)
        return progress.putOff(claim, { stage: 'transmit', attempts, outcomeUnknown: true, failures }, pause);
    }
    const pass = await gate.enter(invoice.id);
    if (pass === null) return settle(run, { kind: 'not_sent', outcomeUnknown: asksFirst });
    return settle(run, await outcomeOf(pass));

    async function outcomeOf(pass: Pass): Promise<Outcome> {
      try {
        const attempts = run.schedule.length;
        const onDefect = (error: unknown) => {
          const message = 'the transmission failed by an internal error; the outcome is unknown';
          parts.report({ level: 'error', invoiceId: invoice.id, stage: 'transmit', message, error });
        };
        return await callAuthority({ authority, gate, pass, log, invoice, read, asksFirst, attempts, onDefect });
      } finally {
        pass.leave();
      }
    }
  };

  return {
    transmitBytes,
    async transmit(claim, runOn) {
      const { id, xml, work } = claim.invoice;
      if (!xml || !work) throw new Error(`invoice ${id} is at stage transmit without a signed document`);
      // An earlier claim that changed nothing may have ended in the middle of a submission.
      const asksFirst = work.outcomeUnknown || (!runOn && work.claims > 1);
      return transmitBytes(claim, () => parts.documents.get(xml), asksFirst);
    },
  };
}

/** What follows from each outcome. */
function createSettle(
  parts: Pick<PipelineParts, 'authorityOf' | 'report'>,
  { change, putOff, park }: Progress,
  decideBy: DecideBy,
): (run: Run, outcome: Outcome) => Promise<Step> {
  function report({ invoice }: Run, level: PipelineReport['level'], message: string): void {
    parts.report({ level, invoiceId: invoice.id, stage: 'transmit', message });
  }

  async function rejected(run: Run, reason: string, problems: readonly Problem[] = []): Promise<null> {
    const { claim, invoice, log } = run;
    const found = problems.length > 0 && { problems: boundedProblems(problems) };
    await change(claim, { ...rejection(invoice, reason), ...found, ...recordOf(invoice, log) });
    return null;
  }

  /** The authority holds the document, perhaps under the id of an earlier submission of it. */
  async function transmitted({ claim, invoice, log }: Run, held: HeldSubmission): Promise<Step> {
    const { submissionId, decision, warnings } = held;
    const what = {
      ...transition(invoice, 'transmitted'),
      ...recordOf(invoice, log),
      ...(submissionId !== invoice.id && { heldAs: submissionId }),
      ...warningsOf(warnings),
    };
    if (decision) return decideBy(await change(claim, { ...what, work: next('decide') }), decision);
    const capabilities = parts.authorityOf(invoice.environment).capabilities();
    const { delay } = decisionWait(invoice, capabilities, held.askAgainAfter, new Date());
    return putOff(claim, { ...NEW_WORK, stage: 'decide' }, delay, what);
  }

  /** Waits in the queue. A document that was tried goes to its end, so that it does not keep others from being tried. */
  async function queued(run: Run, outcomeUnknown: boolean, failures: readonly number[], tried: boolean): Promise<null> {
    const { claim, invoice, log } = run;
    const attempts = invoice.work?.attempts ?? 0;
    const work = { stage: 'transmit', attempts, outcomeUnknown, failures, parked: true } as const;
    const inMs = tried ? 0 : Math.min(0, invoice.createdAt.getTime() - Date.now());
    await park(claim, work, inMs, recordOf(invoice, log));
    run.gate.parked();
    return null;
  }

  async function retried(run: Run, outcome: Extract<Outcome, { kind: 'failed' }>): Promise<Step> {
    const { claim, invoice, gate, log, schedule } = run;
    const { outcomeUnknown, retryAfterMs } = outcome;
    // An outage excuses a failure for good, so it can be forgotten.
    const failures = gate.counted(outcome.failures);
    const isSpent = !outcomeUnknown && failures.length >= schedule.length;
    if (isSpent && (await gate.conclude(failures, schedule.length)))
      return rejected(run, transmissionFailed(invoice, schedule.length));
    if (gate.isShut()) return queued(run, outcomeUnknown, failures, true);
    const attempts = (invoice.work?.attempts ?? 0) + 1;
    if (outcomeUnknown && attempts >= schedule.length)
      report(run, 'error', 'the outcome is still unknown; look-ups continue');
    // A submission waits by the number of its attempts, a look-up by the number of runs.
    const step = Math.min(outcome.waitsBy === 'runs' ? attempts : failures.length, schedule.length - 1);
    const delay = Math.max(schedule[step] ?? 0, retryAfterMs ?? 0);
    return putOff(claim, { stage: 'transmit', attempts, outcomeUnknown, failures }, delay, recordOf(invoice, log));
  }

  return async (run, outcome) => {
    const { invoice, claim, log } = run;
    switch (outcome.kind) {
      case 'held':
        return transmitted(run, outcome.submission);
      case 'not_sent':
        return queued(run, outcome.outcomeUnknown, invoice.work?.failures ?? [], false);
      case 'failed':
        if (outcome.needsOperator) report(run, 'error', `the authority forbids the transmission: ${outcome.message}`);
        return retried(run, outcome);
      case 'refused':
        report(run, 'error', `the authority does not take the document: ${outcome.code}: ${outcome.message}`);
        return rejected(run, refusedByAuthority(invoice, outcome.code, outcome.message), [{ path: null, ...outcome }]);
      case 'duplicate': {
        report(run, 'error', `the authority holds another document with this number, as ${outcome.original}`);
        const reason = duplicateOf(invoice, outcome.original);
        return rejected(run, reason, [{ code: 'duplicate', path: null, message: reason }]);
      }
      case 'digest_mismatch': {
        const digest = outcome.heldDigest ?? 'unknown';
        report(run, 'error', `the authority holds another document under this id; its digest is ${digest}`);
        const failures = invoice.work?.failures ?? [];
        const { attempts = 0 } = invoice.work ?? {};
        const work = {
          stage: 'transmit',
          attempts,
          outcomeUnknown: false,
          failures,
          blocked: 'digest_mismatch',
        } as const;
        return park(claim, work, 0, recordOf(invoice, log));
      }
    }
  };
}
