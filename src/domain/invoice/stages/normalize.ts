import { next, rejection, transition } from '../changes.ts';
import type { Invoice } from '../invoice.ts';
import { legalInvoice } from '../legal-invoice.ts';
import type { Numbered, Numbering } from '../numbering.ts';
import { InvalidDocument, type UnsignedDocument } from '../ports.ts';
import { invalidDocument } from '../rejection-reasons.ts';
import type { Claim, InvoiceChange } from '../repository.ts';
import { legalNumber } from '../series-number.ts';
import type { CheckCorrection } from './check-correction.ts';
import type { SignDocument } from './sign.ts';
import type { PipelineParts, Progress, RunStage } from './stage.ts';

/**
 * Creates the stage that assigns the legal number and writes the UBL to check it: `pending` → `signing`, or `rejected`
 * if it is invalid or {@link CheckCorrection} says so. The same document is signed in the same run.
 */
export function createNormalizeStage(
  { writer, report }: Pick<PipelineParts, 'writer' | 'report'>,
  { change, putOff }: Progress,
  checkCorrection: CheckCorrection,
  numbering: Numbering<UnsignedDocument | null>,
  signDocument: SignDocument,
): RunStage {
  /**
   * Writes the document.
   * @returns the document and the change that assigns its number; without a document, the rejection
   */
  async function prepare<Series extends Pick<InvoiceChange, 'series'>>(
    invoice: Invoice,
    number: string,
    series: Series,
  ): Promise<{ readonly change: InvoiceChange & Series; readonly made: UnsignedDocument | null }> {
    try {
      const made = await writer.write(legalInvoice(invoice, number));
      return { change: { ...transition(invoice, 'signing'), ...series, work: next('sign') }, made };
    } catch (error) {
      if (!(error instanceof InvalidDocument)) throw error;
      const message = 'the UBL document is invalid';
      report({ level: 'error', invoiceId: invoice.id, stage: 'normalize', message, error });
      return { change: { ...rejection(invoice, invalidDocument(invoice)), ...series }, made: null };
    }
  }

  async function numbered(claim: Claim): Promise<Numbered<UnsignedDocument | null>> {
    const { invoice } = claim;
    // The number may also be one of the service's series: a process that took it for this invoice died before writing
    // the rest.
    if (invoice.number === null)
      return numbering.assign(claim, (series) => prepare(invoice, legalNumber(series), { series }));
    const { change: what, made } = await prepare(invoice, invoice.number, {});
    return { claim: await change(claim, what), made };
  }

  return async (claimed) => {
    const { invoice } = claimed;
    const checked = await checkCorrection(invoice);
    if (checked.kind === 'wait')
      return putOff(claimed, { stage: 'normalize', attempts: 0, outcomeUnknown: false }, checked.ms);
    if (checked.kind === 'reject') {
      await change(claimed, rejection(invoice, checked.reason));
      return null;
    }
    const { claim, made } = await numbered(claimed);
    return made && signDocument(claim, made);
  };
}
