import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

/** Longer than one chunk of the store. */
const PDF = Buffer.concat([Buffer.from('%PDF-1.7 '), Buffer.alloc(5 * 1024 * 1024, '0123456789')]);

let service: TestService;
let client: Client;
let invoice: { id: string; xml_url: string; pdf_url: string };

beforeAll(async () => {
  service = await startService(
    { RATE_LIMIT_ADDRESS: '1000' },
    { render: async () => PDF, draw: async () => PDF, warm: async () => {}, close: async () => {} },
  );
  client = new Client(service.url, (await service.tenant()).secretKey);
  invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
});
afterAll(() => service.close());

const get = (headers: Record<string, string> = {}, method = 'GET') => fetch(invoice.pdf_url, { method, headers });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('a document', () => {
  it('is sent whole, with a file name from its number, and marked as private and not to be transformed', async () => {
    const response = await get();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(PDF.length),
      'content-disposition': expect.stringMatching(/^inline; filename="facture-\d{4}-000001\.pdf"$/),
      'cache-control': 'private, no-cache, no-transform',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-ratelimit-limit': '1000',
      etag: `"${createHash('sha256').update(PDF).digest('hex')}"`,
    });
    expect((await bytesOf(response)).equals(PDF)).toBe(true);
  });

  it('answers HEAD with the same headers and no body', async () => {
    const [whole, head] = [await get(), await get({ Range: 'bytes=0-9' }, 'HEAD')];
    await whole.arrayBuffer();
    expect(head.status).toBe(200);
    const named = ({ headers }: Response) =>
      ['content-type', 'content-length', 'content-disposition', 'etag', 'accept-ranges'].map((name) =>
        headers.get(name),
      );
    expect(named(head)).toEqual(named(whole));
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  it('is not sent again to a client that has it', async () => {
    const etag = (await get({}, 'HEAD')).headers.get('etag') ?? '';
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await get({ 'If-None-Match': condition, 'Cache-Control': '' });
      expect([condition, response.status]).toEqual([condition, 304]);
      expect(response.headers.get('etag')).toBe(etag);
    }
    expect((await get({ 'If-None-Match': '"other"' }, 'HEAD')).status).toBe(200);
  });

  it.each([
    ['bytes=0-4', 0, 5],
    ['bytes=4194300-4194310', 4_194_300, 4_194_311],
    [`bytes=${PDF.length - 3}-`, PDF.length - 3, PDF.length],
    ['bytes=-7', PDF.length - 7, PDF.length],
  ])('is sent in part for a range: %s', async (range, from, to) => {
    const response = await get({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${PDF.length}`);
    expect(response.headers.get('content-length')).toBe(String(to - from));
    expect((await bytesOf(response)).equals(PDF.subarray(from, to))).toBe(true);
  });

  it('answers 416 with an error body for a range beyond its end', async () => {
    const response = await get({ Range: `bytes=${PDF.length}-` });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${PDF.length}`);
    expect((await response.json()).error).toMatchObject({ code: 'invalid_request', status: 416 });
  });

  it('sends a part only if If-Range matches, and the whole for several ranges', async () => {
    const etag = (await get({}, 'HEAD')).headers.get('etag') ?? '';
    const statuses = [];
    for (const headers of [
      { Range: 'bytes=0-4', 'If-Range': etag },
      { Range: 'bytes=0-4', 'If-Range': '"other"' },
      { Range: 'bytes=0-4', 'If-Range': `W/${etag}` },
      { Range: 'bytes=0-4,6-7' },
    ]) {
      const response = await get(headers);
      await response.arrayBuffer();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([206, 200, 200, 200]);
  });

  it('may be aborted by the client; the service keeps running', async () => {
    await new Promise<void>((resolve) => {
      const broken = request(invoice.pdf_url, (response) => {
        response.once('data', () => broken.destroy());
        response.once('close', resolve);
        response.on('error', () => undefined);
      });
      broken.on('error', () => undefined);
      broken.end();
    });
    expect((await bytesOf(await get())).equals(PDF)).toBe(true);
  });
});

describe('revokeDocumentUrls', () => {
  const REVOKE = `mutation ($id: ID!) { revokeDocumentUrls(id: $id) {
      ... on RevokeDocumentUrlsPayload { invoice { documents { xml { url } pdf { url } } } } ... on Error { code } } }`;

  it('invalidates the previous URLs and creates new ones, also in REST', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const before = await client.settled(body.id);
    const answer = (await client.graphql(REVOKE, { id: body.id })).body.data.revokeDocumentUrls;
    const after = (await client.get(`/v1/invoices/${body.id}`)).body;
    const { documents } = answer.invoice;
    expect([documents.xml.url, documents.pdf.url]).toEqual([after.xml_url, after.pdf_url]);
    for (const kind of ['xml_url', 'pdf_url']) {
      expect(after[kind]).not.toBe(before[kind]);
      expect([(await fetch(before[kind])).status, (await fetch(after[kind])).status]).toEqual([404, 200]);
      // A browser revalidates the copy in its cache.
      expect((await fetch(before[kind], { headers: { 'If-None-Match': '*' } })).status).toBe(404);
    }
    expect(after.updated_at).toBe(before.updated_at);
  });

  it('needs a secret key of the tenant', async () => {
    const stranger = await service.tenant();
    const codeOf = async (key: string) => {
      const { data, errors } = (await new Client(service.url, key).graphql(REVOKE, { id: invoice.id })).body;
      return data?.revokeDocumentUrls.code ?? errors[0].extensions.code;
    };
    expect(await codeOf(stranger.secretKey)).toBe('resource_not_found');
    expect(await codeOf(stranger.publishableKey)).toBe('insufficient_scope');
    expect((await get({}, 'HEAD')).status).toBe(200);
  });
});
