import { legalXml } from '../documents.ts';
import { legalInvoice } from '../legal-invoice.ts';
import { RENDER_SCHEDULE } from '../pauses.ts';
import { ClaimLost } from '../repository.ts';
import { attemptsOf, type PipelineParts, type Progress, type RunStage } from './stage.ts';

/**
 * Creates the stage that renders, signs and stores the PDF of an accepted invoice. Retries have no limit and never
 * change the status.
 */
export function createRenderStage(
  parts: Pick<PipelineParts, 'documents' | 'renderer' | 'logos' | 'verifyUrlOf' | 'report'>,
  { change, putOff, handOver }: Progress,
): RunStage {
  return async (claim) => {
    const { invoice } = claim;
    const { number, dgiId, receipt } = invoice;
    const xml = legalXml(invoice);
    const acceptedAt = invoice.events.find((event) => event.status === 'accepted')?.at;
    if (!acceptedAt || number === null || dgiId === null || xml === null)
      throw new Error(`invoice ${invoice.id} is at stage render but not accepted`);
    try {
      const logo = invoice.seller.logo ? await parts.logos.find(invoice.seller.logo) : null;
      const page = {
        invoice: legalInvoice(invoice, number),
        dgiId,
        acceptedAt,
        receipt,
        logo,
        verifyUrl: parts.verifyUrlOf(invoice),
      };
      const [xmlBytes, receiptBytes] = await Promise.all([
        parts.documents.get(xml),
        receipt && parts.documents.get(receipt),
      ]);
      const pdf = await parts.renderer.render(page, xmlBytes, receiptBytes);
      const stored = { pdf: await parts.documents.put(pdf, `${invoice.id}.pdf`, 'application/pdf') };
      if (invoice.customer.email !== null) return await handOver(claim, 'email', stored);
      await change(claim, { ...stored, work: null });
      return null;
    } catch (error) {
      if (error instanceof ClaimLost) throw error;
      const attempts = attemptsOf(invoice) + 1;
      const message = `rendering failed (attempt ${attempts})`;
      parts.report({ level: 'warn', invoiceId: invoice.id, stage: 'render', message, error });
      const delay = RENDER_SCHEDULE[Math.min(attempts, RENDER_SCHEDULE.length) - 1] ?? RENDER_SCHEDULE[0];
      return putOff(claim, { stage: 'render', attempts, outcomeUnknown: false }, delay);
    }
  };
}
