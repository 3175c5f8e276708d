import { move } from 'piscina';
import { assemblePdf, type PdfIngredients, type UnsignedPdf } from './assemble-pdf.ts';

/** The task of the thread of `createPdfSigner`. */
export default async function assemble(ingredients: PdfIngredients): Promise<UnsignedPdf> {
  const document = await assemblePdf(ingredients);
  move(document.bytes.buffer as ArrayBuffer);
  return document;
}
