import type { DrawnDraft, PrintedInvoice } from '../../domain/invoice/ports.ts';
import { fontFaces } from './fonts.ts';
import { invoicePage } from './invoice-page.ts';

/**
 * The task of the thread of `createPdfRenderer`.
 * @param printed null for an empty page that makes the browser load the fonts that every invoice needs
 * @returns HTML
 */
export default async function page(printed: PrintedInvoice | DrawnDraft | null): Promise<string> {
  if (printed !== null) return invoicePage(printed);
  return `<!doctype html><style>${await fontFaces('')}@page{size:A4}</style><p>`;
}
