import type { Decision, Problem } from '../../authority/ports.ts';
import { boundedProblems } from '../../authority/problems.ts';
import { AttemptLog } from '../authority-attempts.ts';
import { recordOf, rejection, transition, warningsOf } from '../changes.ts';
import { decisionWait } from '../pauses.ts';
import { rejectedByAuthority } from '../rejection-reasons.ts';
import type { Claim } from '../repository.ts';
import { attemptsOf, type PipelineParts, type Progress, type RunStage, type Step } from './stage.ts';

/**
 * Records the authority's decision.
 * @param log calls to the authority that are not recorded yet
 * @param warnings findings of the authority that are not recorded yet
 */
export type DecideBy = (
  claim: Claim,
  decision: Decision,
  log?: AttemptLog,
  warnings?: readonly Problem[],
) => Promise<Step>;

/** Asks the tax authority for its decision until there is one: `transmitted` → `accepted` or `rejected`. */
export function createDecideStage(
  parts: Pick<PipelineParts, 'authorityOf' | 'report'>,
  { change, putOff, handOver }: Progress,
): { readonly decide: RunStage; readonly decideBy: DecideBy } {
  const decideBy: DecideBy = async (claim, decision, log = new AttemptLog(), warnings = []) => {
    const { invoice } = claim;
    if (decision.outcome === 'rejected') {
      await change(claim, {
        ...rejection(invoice, rejectedByAuthority(invoice, decision.problems)),
        ...recordOf(invoice, log),
        problems: boundedProblems(decision.problems),
        ...warningsOf(warnings),
      });
      return null;
    }
    const { dgiId } = decision;
    const accepted = {
      ...transition(invoice, 'accepted', { dgiId }),
      dgiId,
      ...(parts.authorityOf(invoice.environment).capabilities().clearedDocument && { awaitsCleared: true }),
    };
    return handOver(claim, 'receipt', { ...accepted, ...recordOf(invoice, log), ...warningsOf(warnings) });
  };

  return {
    decideBy,
    async decide(claim) {
      const { invoice } = claim;
      const authority = parts.authorityOf(invoice.environment);
      const log = new AttemptLog();
      const answer = await log.call('look_up', () =>
        authority.lookUp({ submissionId: invoice.id, sha256: invoice.xml?.sha256 ?? '' }),
      );
      const held = answer.kind === 'held' ? answer.submission : null;
      if (held?.decision) return decideBy(claim, held.decision, log, held.warnings);
      if (held === null) {
        const message = 'the look-up at the authority failed';
        parts.report({ level: 'warn', invoiceId: invoice.id, stage: 'decide', message });
      }
      const { days, delay } = decisionWait(invoice, new Date());
      if (days > 0) {
        const message = `the authority has not decided for ${days} ${days === 1 ? 'day' : 'days'}; look-ups continue`;
        parts.report({ level: 'error', invoiceId: invoice.id, stage: 'decide', message });
      }
      return putOff(
        claim,
        { stage: 'decide', attempts: attemptsOf(invoice) + 1, outcomeUnknown: false },
        held?.askAgainAfter ?? delay,
        recordOf(invoice, log),
      );
    },
  };
}
