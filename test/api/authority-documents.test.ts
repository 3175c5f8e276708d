import { createHash } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { testLong } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';

const WAIT = { timeout: 30_000, interval: 50 };

let service: TestService;
let client: Client;
/** Each test leaves them as the next one may find them; the ones that take a receipt away come last. */
let invoice: Created;
let sibling: Created;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant()).secretKey);
  [invoice, sibling] = await Promise.all([complete(), complete()]);
});

interface Created {
  readonly id: string;
  readonly client_secret: string;
}

const DOCUMENTS = `query ($id: ID!) {
  invoice(id: $id) {
    documents {
      xml { ...document } pdf { ...document } signedXml { ...document } receipt { ...document }
    }
  }
}
fragment document on InvoiceDocument { url mediaType ready sha256 size }`;

const PROBLEMS = `query ($id: ID!) {
  invoice(id: $id) { rejectionReason problems { code path message } authorityWarnings { code path message } }
}`;

async function documentsOf(id: string, by = client) {
  return (await by.graphql(DOCUMENTS, { id })).body.data.invoice.documents;
}

/** An accepted invoice whose receipt and PDF are stored. */
async function complete(): Promise<Created> {
  const { id, client_secret } = (await client.post('/v1/invoices', invoiceFor('001525713000085'))).body;
  await client.settled(id);
  await vi.waitFor(async () => expect((await documentsOf(id)).pdf.ready).toBe(true), WAIT);
  return { id, client_secret };
}

const invoices = () => service.app.store.db.collection<{ _id: string }>('invoices');

it('an accepted invoice has its receipt, and the document that was sent', async () => {
  const { id } = invoice;
  const { xml, signedXml, receipt } = await documentsOf(id);
  expect(signedXml).toMatchObject({ sha256: xml.sha256, mediaType: 'application/xml', ready: true });
  const answer = await fetch(receipt.url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
  expect(answer.headers.get('content-disposition')).toMatch(/^inline; filename="recu-\d{4}-\d{6}\.xml"$/);
  expect(answer.headers.get('content-security-policy')).toContain('sandbox');
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(receipt.sha256);
  const { dgi_id } = (await client.get(`/v1/invoices/${id}`)).body;
  expect(await verifySignedDocument(bytes, 'receipt')).toMatchObject({
    valid: true,
    facts: { DgiId: dgi_id, SubmissionId: id, Digest: xml.sha256, Status: 'accepted' },
  });
  const sent = await fetch(signedXml.url);
  expect(
    createHash('sha256')
      .update(Buffer.from(await sent.arrayBuffer()))
      .digest('hex'),
  ).toBe(xml.sha256);
});

it('each document has its own secret, and all are revoked together', async () => {
  const { id } = invoice;
  const before = await documentsOf(id);
  const urls = Object.values<{ url: string }>(before).map(({ url }) => url);
  const token = (url: string) => /\/([\w-]+)\.[\w.]+$/.exec(url)?.[1] ?? '';
  expect(new Set(urls.map(token)).size).toBe(4);
  const swapped = before.receipt.url.replace(token(before.receipt.url), token(before.xml.url));
  expect((await fetch(swapped)).status).toBe(404);
  for (const suffix of ['signed', 'receipt', 'xml.receipt', 'cleared.xml'])
    expect((await fetch(before.xml.url.replace(/\.xml$/, `.${suffix}`))).status).toBe(404);
  await client.graphql(`mutation { revokeDocumentUrls(id: "${id}") { __typename } }`);
  for (const url of urls) expect([url, (await fetch(url)).status]).toEqual([url, 404]);
  for (const { url } of Object.values<{ url: string }>(await documentsOf(id)))
    expect([url, (await fetch(url)).status]).toEqual([url, 200]);
});

it('they are shown to the client_secret of the invoice, and to nobody else', async () => {
  const { id, client_secret } = invoice;
  const own = await documentsOf(id, new Client(service.url, client_secret));
  expect(own).toEqual(await documentsOf(id));
  const stranger = new Client(service.url, (await service.tenant()).secretKey);
  expect((await stranger.graphql(DOCUMENTS, { id })).body.errors[0].extensions).toMatchObject({ status: 404 });
  const ofSibling = new Client(service.url, sibling.client_secret);
  expect((await ofSibling.graphql(DOCUMENTS, { id })).body.errors[0].extensions).toMatchObject({ status: 403 });
});

it('the authority’s problems keep code, path and message, for everybody who may read the reason', async () => {
  const { id, client_secret } = (await client.post('/v1/invoices', invoiceFor('999000000000102'))).body;
  await client.settled(id);
  for (const reader of [client, new Client(service.url, client_secret)]) {
    const { invoice } = (await reader.graphql(PROBLEMS, { id })).body.data;
    expect(invoice.problems).toEqual([
      {
        code: 'ice_unknown',
        path: '/Invoice/cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID',
        message: expect.stringMatching(/^L’ICE 999000000000102 du client est inconnu/),
      },
    ]);
    expect(invoice.authorityWarnings).toEqual([]);
    expect(invoice.rejectionReason).toContain(invoice.problems[0].message);
  }
});

it('warnings of the authority are shown, and an invoice without any stores none', async () => {
  const { id } = invoice;
  expect(Object.keys((await invoices().findOne({ _id: id })) ?? {})).not.toEqual(expect.arrayContaining(['problems']));
  const warning = { code: 'late', path: null, message: 'La facture est tardive.' };
  await invoices().updateOne({ _id: id }, { $set: { authorityWarnings: [warning] } });
  expect((await client.graphql(PROBLEMS, { id })).body.data.invoice).toEqual({
    rejectionReason: null,
    problems: [],
    authorityWarnings: [warning],
  });
});

// That of a PDF is in files.test.ts.
testLong('503 with Retry-After when the legal XML does not come within 10 s', async () => {
  const { id } = sibling;
  await invoices().updateOne({ _id: id }, { $set: { awaitsCleared: true } });
  const answer = await fetch((await documentsOf(id)).xml.url);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await answer.json()).error.message).toMatch(/still to come/);
});

it('a request for a legal XML or a receipt that is still to come waits for it', async () => {
  const { id } = sibling;
  const stored = await invoices().findOne<{ xml: object; receipt: object }>({ _id: id });
  const later = new Date(Date.now() + 3_600_000);
  const work = { stage: 'receipt', attempts: 1, outcomeUnknown: false, token: null, dueAt: later };
  await invoices().updateOne({ _id: id }, { $set: { work, awaitsCleared: true }, $unset: { receipt: '' } });
  const { xml, receipt, signedXml } = await documentsOf(id);
  expect([xml, receipt, signedXml].map(({ ready, sha256 }) => [ready, sha256 !== null])).toEqual([
    [false, false],
    [false, false],
    [true, true],
  ]);
  expect((await fetch(signedXml.url)).status).toBe(200);
  const answers = Promise.all([fetch(xml.url), fetch(receipt.url)]);
  await expect.poll(() => service.app.listeners()).toBe(2);
  // The receipt first: the request for the XML goes on waiting.
  await invoices().updateOne({ _id: id }, { $set: { receipt: stored?.receipt } });
  await expect.poll(() => service.app.listeners()).toBe(1);
  await invoices().updateOne({ _id: id }, { $set: { cleared: stored?.receipt, awaitsCleared: false } });
  const [xmlAnswer, receiptAnswer] = await answers;
  expect([xmlAnswer.status, receiptAnswer.status]).toEqual([200, 200]);
  expect((await documentsOf(id)).xml.sha256).toBe((await documentsOf(id)).receipt.sha256);
  expect(await xmlAnswer.text()).toMatch(/^<Receipt /);
});

it('an invoice for which the authority gave no receipt has none and its URL is a 404', async () => {
  const { id } = invoice;
  const { receipt } = await documentsOf(id);
  await invoices().updateOne({ _id: id }, { $unset: { receipt: '' } });
  expect(await documentsOf(id)).toMatchObject({ receipt: null, pdf: { ready: true } });
  expect((await fetch(receipt.url)).status).toBe(404);
});
