import { next, rejection, transition } from '../changes.ts';
import { legalInvoice, legalNumber } from '../legal-invoice.ts';
import { InvalidDocument } from '../ports.ts';
import { invalidDocument } from '../rejection-reasons.ts';
import type { SeriesNumber } from '../repository.ts';
import type { PipelineParts, Progress, RunStage, Step } from './stage.ts';

/**
 * Assigns the legal number and writes the UBL once to check it: `pending` → `signing`, or `rejected` if it is invalid.
 */
export function createNormalizeStage(
  { numbering, writer, report }: Pick<PipelineParts, 'numbering' | 'writer' | 'report'>,
  { change }: Progress,
): RunStage {
  return async (claim) => {
    const { invoice } = claim;
    if (invoice.ownNumber !== null) return numbered(invoice.ownNumber);
    return numbering.withNext(invoice, (series) => numbered(legalNumber(series), { series }));

    async function numbered(number: string, series?: { series: SeriesNumber }): Promise<Step> {
      try {
        await writer.write(legalInvoice(invoice, number));
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
        const message = 'the UBL document is invalid';
        report({ level: 'error', invoiceId: invoice.id, stage: 'normalize', message, error });
        await change(claim, { ...rejection(invoice, invalidDocument()), ...series });
        return null;
      }
      return change(claim, { ...transition(invoice, 'signing'), ...series, work: next('sign') });
    }
  };
}
