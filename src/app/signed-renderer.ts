import { createPdfSigner } from '../adapters/pades/pdf-signer.ts';
import { documentTexts } from '../adapters/pdf/invoice-page.ts';
import type { ChromiumPdfRenderer } from '../adapters/pdf/pdf-renderer.ts';
import type { OnFatal } from '../adapters/threads.ts';
import type { LegalInvoice, PdfRenderer } from '../domain/invoice/ports.ts';
import type { SigningKey } from '../domain/invoice/signing-key.ts';

/**
 * Creates a renderer that uses `browser` and signs with the key of the invoice's tenant. It closes the browser when it
 * is closed.
 * @param onFatal called when the thread that assembles PDFs ended and cannot restart
 */
export function createSignedRenderer(
  browser: ChromiumPdfRenderer,
  keyOf: (invoice: LegalInvoice) => SigningKey,
  onFatal?: OnFatal,
): PdfRenderer & { warm(): Promise<void>; close(): Promise<void> } {
  const signer = createPdfSigner(onFatal);
  return {
    async render(page, legalXml, receipt = null) {
      const { title, xml, receipt: receiptFile } = documentTexts(page);
      const contentType = 'application/xml';
      return signer.sign(keyOf(page.invoice), await browser.render(page), { title, at: new Date() }, [
        { ...xml, contentType, relationship: 'Alternative', content: legalXml },
        ...(receipt === null
          ? []
          : [{ ...receiptFile, contentType, relationship: 'Supplement' as const, content: receipt }]),
      ]);
    },
    draw: (page) => browser.render(page),
    warm: () => browser.warm(),
    async close() {
      await Promise.all([browser.close(), signer.close()]);
    },
  };
}
