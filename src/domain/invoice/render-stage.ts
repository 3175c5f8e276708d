import type { LogoStore } from '../tenant/ports.ts';
import type { Invoice } from './invoice.ts';
import { legalInvoice } from './legal-invoice.ts';
import { RENDER_SCHEDULE } from './pauses.ts';
import type { PipelineReport } from './pipeline.ts';
import type { PdfRenderer } from './ports.ts';
import { type Claim, ClaimLost, type DocumentStore, type InvoiceChange } from './repository.ts';

/** What the stage needs of the pipeline. */
export interface RenderStageParts {
  readonly documents: Pick<DocumentStore, 'get' | 'put'>;
  readonly renderer: PdfRenderer;
  readonly logos: LogoStore;
  readonly verifyUrlOf: (invoice: Invoice) => string;
  /** Records the stored PDF and goes on to the mail, or ends the invoice's work. */
  readonly finish: (claim: Claim, stored: Pick<InvoiceChange, 'pdf'>) => Promise<Claim | null>;
  readonly putOff: (claim: Claim, attempts: number, delayMs: number) => Promise<null>;
  readonly report: (event: PipelineReport) => void;
}

/** Draws and signs the PDF of an accepted invoice and stores it. */
export function createRenderStage(parts: RenderStageParts): (claim: Claim) => Promise<Claim | null> {
  return async (claim) => {
    const { invoice } = claim;
    const { number, dgiId, xml } = invoice;
    const acceptedAt = invoice.events.find((event) => event.status === 'accepted')?.at;
    if (!acceptedAt || number === null || dgiId === null || xml === null)
      throw new Error(`invoice ${invoice.id} is at render without being accepted`);
    try {
      const logo = invoice.seller.logo ? await parts.logos.find(invoice.seller.logo) : null;
      const page = {
        invoice: legalInvoice(invoice, number),
        dgiId,
        acceptedAt,
        logo,
        verifyUrl: parts.verifyUrlOf(invoice),
      };
      const pdf = await parts.renderer.render(page, await parts.documents.get(xml));
      return await parts.finish(claim, { pdf: await parts.documents.put(pdf, `${invoice.id}.pdf`, 'application/pdf') });
    } catch (error) {
      if (error instanceof ClaimLost) throw error;
      const attempts = (invoice.work?.attempts ?? 0) + 1;
      const message = `rendering failed (attempt ${attempts})`;
      parts.report({ level: 'warn', invoiceId: invoice.id, stage: 'render', message, error });
      const delay = RENDER_SCHEDULE[Math.min(attempts, RENDER_SCHEDULE.length) - 1] ?? RENDER_SCHEDULE[0];
      return parts.putOff(claim, attempts, delay);
    }
  };
}
