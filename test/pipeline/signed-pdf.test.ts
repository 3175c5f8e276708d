import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { makeTestIdentity } from '../../src/adapters/signing-key/test-certificate.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';
import { detached, pdfsig, statedSignature } from '../unit/pades/support.ts';
import { CHROMIUM_CACHE, LOGO, textOfPages } from '../unit/pdf/support.ts';

const hasPdfToText = hasTool('pdftotext');

let service: TestService;
beforeAll(async () => {
  const key = softwareKey(await makeTestIdentity(new Date(Date.now() - 86_400_000)), true);
  const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: CHROMIUM_CACHE }), () => key);
  await renderer.warm();
  service = await startService({}, renderer);
}, 120_000);
afterAll(() => service.close());

/** Downloads the PDF. A request during rendering waits up to 10 s and then gets 503, so it is retried. */
async function drawn(url: string): Promise<Response> {
  let answer = await fetch(url);
  while (answer.status === 503 && answer.headers.has('retry-after')) answer = await fetch(url);
  return answer;
}

describe('the PDF of an accepted invoice', () => {
  it('is signed, shows the acceptance, and contains the served XML', async () => {
    const tenant = await service.tenant({ documentLanguage: 'ar', logo: parseLogo(LOGO), legalName: 'شركة الأطلس' });
    const client = new Client(service.url, tenant.secretKey);
    const invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
    const served = await drawn(invoice.pdf_url);
    expect(served.status).toBe(200);
    const pdf = new Uint8Array(await served.arrayBuffer());
    expect(statedSignature(pdf).coversAll).toBe(true);
    const again = new Uint8Array(await (await fetch(invoice.pdf_url)).arrayBuffer());
    expect(Buffer.from(again).equals(pdf)).toBe(true);
    if (hasPdfToText) {
      const text = textOfPages(pdf).join('');
      expect(text).toContain(invoice.dgi_id);
      expect(text).toContain('فاتورة');
      expect(text).toContain(`/verify/${invoice.id}`);
    }
    if (hasTool('pdfsig')) expect(pdfsig(pdf)).toMatch(/Total document signed[\s\S]*Signature is Valid/);
    if (hasTool('pdfdetach')) {
      const xml = Buffer.from(await (await fetch(invoice.xml_url)).arrayBuffer());
      expect(detached(pdf).content.equals(xml)).toBe(true);
      expect(detached(pdf).name).toMatch(/^facture-\d{4}-\d{6}\.xml$/);
      const query = `{ invoice(id: "${invoice.id}") { documents { receipt { url } } } }`;
      const { url } = (await client.graphql(query)).body.data.invoice.documents.receipt;
      const receipt = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(detached(pdf, 2).content.equals(receipt)).toBe(true);
      expect(detached(pdf, 2).name).toMatch(/^recu-\d{4}-\d{6}\.xml$/);
    }
  }, 120_000);
});
