import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Verification } from '../../domain/verification/verification.ts';
import { type Access, download, readInvoice } from './client.ts';

/** The downloaded documents of an accepted invoice. */
export interface Documents {
  readonly xmlFile: string;
  readonly pdfFile: string;
  readonly verification: Verification;
}

/**
 * Downloads both documents to the folder and verifies the XML.
 * @throws Error naming the document that is not available
 */
export async function fetchDocuments(
  access: Access,
  invoiceId: string,
  folder: string,
  verify: (document: Uint8Array) => Promise<Verification>,
  signal: AbortSignal,
): Promise<Documents> {
  const { xml_url, pdf_url } = await readInvoice(access, invoiceId, signal);
  if (xml_url === null || pdf_url === null) throw new Error(`invoice ${invoiceId} has no documents.`);
  await mkdir(folder, { recursive: true });
  const [xmlFile, pdfFile] = [join(folder, `${invoiceId}.xml`), join(folder, `${invoiceId}.pdf`)];
  const xml = await download(xml_url, signal);
  await writeFile(xmlFile, xml);
  const verification = await verify(xml);
  const pdf = await download(pdf_url, signal).catch((error: Error) => {
    throw new Error(`the PDF is not available: ${error.message} To check the PDF renderer: npm run -s cli -- doctor`, {
      cause: error,
    });
  });
  await writeFile(pdfFile, pdf);
  return { xmlFile, pdfFile, verification };
}
