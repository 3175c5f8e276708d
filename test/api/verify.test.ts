import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { STAND_IN_PDF, startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let id: string;
let url: string;
let xml: Buffer<ArrayBuffer>;

const BUYER = {
  ice: '001234567000089',
  name: 'Acheteur Secret SARL',
  address: '7, rue Cachée',
  email: 'x@example.org',
};

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000' });
  client = new Client(service.url, (await service.tenant()).secretKey);
  ({ id } = (await client.post('/v1/invoices', invoiceBody({ customer: BUYER }))).body);
  const { xml_url, pdf_url } = await client.settled(id);
  xml = Buffer.from(await (await fetch(xml_url)).arrayBuffer());
  await (await fetch(pdf_url)).arrayBuffer();
  url = `${service.url}/verify/${id}`;
});
afterAll(() => service.close());

const page = async (path = url, headers: Record<string, string> = {}) => (await fetch(path, { headers })).text();

describe('the page of an accepted invoice', () => {
  it('shows data of its PDF, but nothing about the buyer or the lines', async () => {
    const { dgi_id } = (await client.get(`/v1/invoices/${id}`)).body;
    const text = await page();
    for (const shown of [dgi_id, '-000001', '120,00', 'SPECIMEN', createHash('sha256').update(xml).digest('hex')]) {
      expect(text).toContain(shown);
    }
    expect(text).toContain('</svg>Facture de test</h1>');
    expect(text).not.toContain('authentique');
    for (const hidden of [...Object.values(BUYER), 'Conseil', 'client_secret', '/files/'])
      expect(text).not.toContain(hidden);
  });

  it('loads no other resources, is not indexed, cached or framed, and needs no credential', async () => {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '1000',
    });
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const text = await response.text();
    // The policy allows exactly the inline style and script of the page.
    for (const tag of ['style', 'script']) {
      const inline = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1] ?? '';
      expect(policy).toContain(createHash('sha256').update(inline).digest('base64'));
    }
    expect(text).not.toMatch(/ style=| on\w+=|src=|https?:\/\//);
  });

  it('is in the requested language', async () => {
    expect(await page(url, { 'Accept-Language': 'ar-MA,fr;q=0.5' })).toContain('<html lang="ar" dir="rtl">');
    expect(await page(url, { 'Accept-Language': 'de' })).toContain('<html lang="fr" dir="ltr">');
    expect(await page(`${url}?lang=en`, { 'Accept-Language': 'ar' })).toContain('<html lang="en" dir="ltr">');
    expect(await page(`${url}?lang=%3Cscript%3E`)).toContain('<html lang="fr" dir="ltr">');
  });

  it('escapes a hostile seller name', async () => {
    const legalName = '</bdi><script>alert(1)</script>';
    const hostile = new Client(service.url, (await service.tenant({ legalName })).secretKey);
    const { body } = await hostile.post('/v1/invoices', invoiceBody());
    await hostile.settled(body.id);
    const text = await page(`${service.url}/verify/${body.id}`);
    expect(text).toContain('&lt;script&gt;alert(1)');
    expect(text.match(/<script/g)).toHaveLength(1);
  });
});

it('is the same for every invoice that is unknown, rejected or not decided yet', async () => {
  const [rejected, waiting] = await Promise.all(
    ['999000000000102', '999000000000878'].map(
      async (ice) => (await client.post('/v1/invoices', invoiceFor(ice))).body,
    ),
  );
  await client.settled(rejected.id);
  const answers = new Set<string>();
  for (const each of [rejected.id, waiting.id, newId('inv'), 'x', `${id}'`, id.toUpperCase(), '..%2f..']) {
    const response = await fetch(`${service.url}/verify/${each}`);
    expect([each, response.status]).toEqual([each, 404]);
    answers.add(await response.text());
  }
  expect(answers.size).toBe(1);
  expect([...answers][0]).toContain('Document inconnu');
});

describe('an uploaded file', () => {
  async function outcomeOf(file: Blob | null, field = 'file', to = url) {
    const form = new FormData();
    if (file) form.append(field, file, 'f.pdf');
    const response = await fetch(to, { method: 'POST', body: form });
    const text = await response.text();
    const shown = [...text.matchAll(/data-outcome="([\w-]+)"( hidden)?/g)].filter(([, , hidden]) => !hidden);
    return [response.status, ...shown.map(([, name]) => name)];
  }
  const changed = () => {
    const copy = Buffer.from(xml);
    copy[copy.length >> 1]! ^= 1;
    return copy;
  };

  it('matches only if it is the PDF or the XML, byte for byte', async () => {
    expect(await outcomeOf(new Blob([STAND_IN_PDF]))).toEqual([200, 'pdf']);
    expect(await outcomeOf(new Blob([xml]))).toEqual([200, 'xml']);
    expect(await outcomeOf(new Blob([changed()]))).toEqual([200, 'other']);
    expect(await outcomeOf(new Blob([xml, '\n']))).toEqual([200, 'other']);
    expect(await outcomeOf(new Blob([xml.subarray(1)]))).toEqual([200, 'other']);
    expect(await outcomeOf(new Blob([randomBytes(3_000_000)]))).toEqual([200, 'other']);
  });

  it('that is missing, or in a field of another name, is requested', async () => {
    expect(await outcomeOf(null)).toEqual([200, 'no-file']);
    expect(await outcomeOf(new Blob([xml]), 'other')).toEqual([200, 'no-file']);
  });

  it('is refused for an unknown invoice', async () => {
    expect((await outcomeOf(new Blob([xml]), 'file', `${service.url}/verify/${newId('inv')}`))[0]).toBe(404);
  });

  it('of more than 32 MiB is refused, with or without a Content-Length', async () => {
    const send = (headers: Record<string, string | number>, chunks: number) =>
      new Promise<number | string>((resolve) => {
        const sending = request(url, { method: 'POST', headers }, (response) => {
          resolve(response.statusCode ?? 0);
          sending.destroy();
        });
        sending.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        sending.write('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n');
        const chunk = Buffer.alloc(1024 * 1024);
        const next = (left: number): void => {
          if (left > 0 && !sending.destroyed) sending.write(chunk, () => next(left - 1));
        };
        next(chunks);
      });
    const type = { 'Content-Type': 'multipart/form-data; boundary=b' };
    expect(await send({ ...type, 'Content-Length': 40_000_000 }, 0)).toBe(413);
    // A client that keeps sending may find the connection closed before it reads the response.
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(await send(type, 40));
    expect((await fetch(url)).status).toBe(200);
  });

  it('in a body that is not a form is refused', async () => {
    for (const [type, body] of [
      ['application/json', '{}'],
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=b', 'no boundary in here'],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\ncut off',
      ],
    ] as const) {
      const { status } = await fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body });
      expect([type, body, status]).toEqual([type, body, 400]);
    }
  });
});
