import { next, rejection, transition } from '../changes.ts';
import { legalInvoice, legalNumber } from '../legal-invoice.ts';
import { InvalidDocument, type UnsignedDocument } from '../ports.ts';
import { invalidDocument } from '../rejection-reasons.ts';
import type { Claim, SeriesNumber } from '../repository.ts';
import type { SignDocument } from './sign.ts';
import type { PipelineParts, Progress, RunStage } from './stage.ts';

/** An invoice that has its number, and the document that was checked with it. */
interface Numbered {
  readonly claim: Claim;
  readonly document: UnsignedDocument;
}

/**
 * Assigns the legal number and writes the UBL to check it: `pending` → `signing`, or `rejected` if it is invalid. The
 * same document is signed in the same run.
 */
export function createNormalizeStage(
  { numbering, writer, report }: Pick<PipelineParts, 'numbering' | 'writer' | 'report'>,
  { change }: Progress,
  signDocument: SignDocument,
): RunStage {
  return async (claim) => {
    const { invoice } = claim;
    const written =
      invoice.ownNumber !== null
        ? await numbered(invoice.ownNumber)
        : await numbering.withNext(invoice, (series) => numbered(legalNumber(series), { series }));
    return written && signDocument(written.claim, written.document);

    async function numbered(number: string, series?: { series: SeriesNumber }): Promise<Numbered | null> {
      let document: UnsignedDocument;
      try {
        document = await writer.write(legalInvoice(invoice, number));
      } catch (error) {
        if (!(error instanceof InvalidDocument)) throw error;
        const message = 'the UBL document is invalid';
        report({ level: 'error', invoiceId: invoice.id, stage: 'normalize', message, error });
        await change(claim, { ...rejection(invoice, invalidDocument()), ...series });
        return null;
      }
      const what = { ...transition(invoice, 'signing'), ...series, work: next('sign') };
      return { claim: await change(claim, what), document };
    }
  };
}
