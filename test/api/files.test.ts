import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { STAND_IN_PDF, startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
/** Releases the renderings that wait. */
let release: () => void;
let held = Promise.resolve();

beforeAll(async () => {
  const renderer = {
    render: async (): Promise<Uint8Array> => {
      await held;
      return STAND_IN_PDF;
    },
    draw: async () => STAND_IN_PDF,
    warm: async () => {},
    close: async () => {},
  };
  service = await startService({}, renderer);
  client = new Client(service.url, (await service.tenant()).secretKey);
});
afterAll(() => service.close());

function hold(): void {
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  release = gate.resolve;
}

async function accepted(): Promise<{ id: string; xml_url: string; pdf_url: string }> {
  return client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
}

describe('documents', () => {
  it('are served to anybody with the URL, which does not change', async () => {
    const invoice = await accepted();
    const again = (await client.get(`/v1/invoices/${invoice.id}`)).body;
    expect([again.xml_url, again.pdf_url]).toEqual([invoice.xml_url, invoice.pdf_url]);
    const xml = await fetch(invoice.xml_url);
    expect(xml.status).toBe(200);
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(xml.headers.get('content-security-policy')).toContain('sandbox');
    expect(xml.headers.get('content-disposition')).toMatch(/^inline; filename="facture-\d{4}-\d{6}\.xml"$/);
    expect(xml.headers.get('x-ratelimit-limit')).toBe('100');
    expect(await xml.text()).toMatch(/^<Invoice /);
  });

  it('are 404 without the exact secret in the URL', async () => {
    const [invoice, other] = [await accepted(), await accepted()];
    const token = (url: string) => url.split('/').at(-1)?.split('.')[0];
    const forged = [
      `/files/${invoice.id}/${'A'.repeat(32)}.xml`,
      `/files/${invoice.id}/${token(other.xml_url)}.xml`,
      `/files/${invoice.id}/${token(invoice.xml_url)}.pdf`,
      `/files/${invoice.id}/${token(invoice.xml_url)}`,
      `/files/${invoice.id}/${token(invoice.xml_url)}.exe`,
      `/files/${invoice.id.toUpperCase()}/${token(invoice.xml_url)}.xml`,
      `/files/..%2f..%2fetc/passwd.xml`,
      `/files/${invoice.id}/`,
    ];
    for (const path of forged) {
      const { status, body } = await new Client(service.url, null).get(path);
      expect([path, status, body.error.code]).toEqual([path, 404, 'resource_not_found']);
    }
  });

  it('of a rejected invoice are not available', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000102'));
    const settled = await client.settled(body.id);
    expect([settled.xml_url, settled.pdf_url]).toEqual([null, null]);
  });

  it('a request for a PDF waits for a rendering under way', async () => {
    hold();
    const { pdf_url } = await accepted();
    const answers = Promise.all([fetch(pdf_url), fetch(pdf_url), fetch(pdf_url)]);
    await expect.poll(() => service.app.listeners()).toBe(3);
    release();
    for (const answer of await answers) {
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(STAND_IN_PDF.toString());
    }
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('503 with Retry-After if rendering takes longer than 10 s; the invoice is accepted nevertheless', async () => {
    hold();
    const invoice = await accepted();
    const answer = await fetch(invoice.pdf_url);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await answer.json()).error).toMatchObject({ status: 503, param: null });
    release();
    await expect.poll(async () => (await fetch(invoice.pdf_url)).status).toBe(200);
  });
});
