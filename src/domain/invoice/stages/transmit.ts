import type { Pass } from '../../authority/gate.ts';
import { AttemptLog } from '../authority-attempts.ts';
import { NEW_WORK } from '../invoice.ts';
import { lookUpPause } from '../look-up-budget.ts';
import type { Claim } from '../repository.ts';
import { callAuthority, type Outcome } from './call-authority.ts';
import type { DecideBy } from './decide.ts';
import { createSettle, type TransmitRun } from './settle.ts';
import type { PipelineParts, Progress, RunStage, Step } from './stage.ts';

/**
 * Transmits the signed bytes.
 * @param read reads the bytes
 * @param asksFirst true if an earlier run may have sent them; a look-up then comes before any submission
 */
export type TransmitBytes = (claim: Claim, read: () => Promise<Uint8Array>, asksFirst: boolean) => Promise<Step>;

/**
 * Creates the stage that submits the signed bytes until an answer or a look-up proves that the tax authority holds
 * them: `signing` → `transmitted`. It rejects the invoice if the authority will never accept it, and with
 * `dgi_transmission_failed` if every attempt is known not to have arrived (docs/decisions/0009, 0045).
 */
export function createTransmitStage(
  parts: Pick<PipelineParts, 'documents' | 'authorityOf' | 'gateOf' | 'transmitSchedule' | 'report'>,
  progress: Progress,
  decideBy: DecideBy,
): { readonly transmit: RunStage; readonly transmitBytes: TransmitBytes } {
  const settle = createSettle({ ...parts, progress, decideBy });

  const transmitBytes: TransmitBytes = async (claim, read, asksFirst) => {
    const { invoice } = claim;
    const { environment, work } = invoice;
    const authority = parts.authorityOf(environment);
    const gate = parts.gateOf(environment);
    const log = new AttemptLog();
    const run: TransmitRun = { claim, invoice, gate, log, schedule: parts.transmitSchedule(environment) };
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
      // An earlier claim that changed nothing may have ended during a submission.
      const asksFirst = work.outcomeUnknown || (!runOn && work.claims > 1);
      return transmitBytes(claim, () => parts.documents.get(xml), asksFirst);
    },
  };
}
