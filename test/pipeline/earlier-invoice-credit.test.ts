import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, test, vi } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { loadPkcs12 } from '../../src/adapters/signing-key/pkcs12.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { verifySignedDocument } from '../../src/adapters/xades/verify-document.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { type InvoiceDocument, invoiceOf } from '../../src/storage/invoice-document.ts';
import { Client } from '../support/client.ts';
import { brokenRules, WITHOUT_EN16931 } from '../support/en16931.ts';
import { signatureValidator, veraPdf } from '../support/java-tool.ts';
import { jdkVerifies, WITHOUT_JDK } from '../support/jdk-validator.ts';
import { differences, statedFigures } from '../support/recompute.ts';
import { testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';
import { detached, pdfsig } from '../unit/pades/support.ts';
import { CHROMIUM_CACHE, textOfPages } from '../unit/pdf/support.ts';
import { hasUblSchema, schemaErrors, WITHOUT_UBL_SCHEMA } from '../unit/ubl/ubl-schema.ts';
import { WITHOUT_XMLSEC1, xmlsec1Verifies } from '../unit/xades/xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');
const hasPoppler = hasTool('pdfsig') && hasTool('pdfdetach') && hasTool('pdftotext');

/** A credit of an invoice that another system issued in 2025, when water had 7 %, from the request to its documents. */

const INPUT = {
  number: 'FA/2025/17',
  issueDate: '2025-03-31',
  dgiId: 'DGI-2025-00c4',
  reason: 'return',
  note: 'Bouteilles rendues – إرجاع',
  customer: { ice: '001525713000085', name: 'Atlas Distribution SARL', address: '5, avenue Hassan II, Rabat' },
  lines: [
    { description: 'Eau', quantity: 3, unitPrice: 1_001, taxRate: 7 },
    { description: 'Transport', quantity: 1, unitPrice: 5_005, taxRate: 14 },
  ],
};
const CREDIT = `mutation ($input: CreditEarlierInvoiceInput!) {
  creditEarlierInvoice(input: $input) { ... on CreditEarlierInvoicePayload { creditNote { id } } ... on Error { message } } }`;
const READ = `query ($id: ID!) { creditNote(id: $id) {
  status rejectionReason number dgiId documents { xml { url } pdf { url ready } receipt { url } } } }`;

let simulator: Simulator;
let service: TestService;
let stored: Invoice;
let xml: Buffer;
let pdf: Buffer;
let receipt: Buffer;
let certificate: string;
/** The XML with one signed byte changed, and the PDF. */
let changed: { readonly xml: Buffer; readonly pdf: Buffer };

beforeAll(async () => {
  simulator = await startSimulator({ decisionDelay: 10 });
  const { SIGNING_P12, SIGNING_P12_PASSPHRASE } = simulator.settings;
  const key = softwareKey(await loadPkcs12(SIGNING_P12, SIGNING_P12_PASSPHRASE));
  const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: CHROMIUM_CACHE }), () => key);
  await renderer.warm();
  service = await startService({ ...simulator.settings }, renderer);
  const tenant = await service.tenant(SPECIMEN_SELLER);
  const client = new Client(service.url, await service.liveKey(tenant.id));
  const { creditNote } = (await client.graphql(CREDIT, { input: INPUT })).body.data.creditEarlierInvoice;
  const documents = await vi.waitFor(
    async () => {
      const note = (await client.graphql(READ, { id: creditNote.id })).body.data.creditNote;
      expect([note.status, note.documents.pdf.ready]).toEqual(['accepted', true]);
      return note.documents;
    },
    { timeout: 90_000, interval: 100 },
  );
  const bytesOf = async ({ url }: { url: string }) => Buffer.from(await (await fetch(url)).arrayBuffer());
  [xml, pdf, receipt] = [await bytesOf(documents.xml), await bytesOf(documents.pdf), await bytesOf(documents.receipt)];
  const invoices = service.app.store.db.collection<InvoiceDocument>('invoices');
  stored = invoiceOf((await invoices.findOne({ _id: creditNote.id }))!);
  const [, inXml = ''] = /<ds:X509Certificate>([^<]*)</.exec(xml.toString()) ?? [];
  certificate = new X509Certificate(Buffer.from(inXml, 'base64')).toString();
  changed = { xml: Buffer.from(xml.toString().replace('FA/2025/17', 'FA/2025/18')), pdf: Buffer.from(pdf) };
  changed.pdf[changed.pdf.indexOf('stream\n') + 40]! ^= 1;
}, 120_000);
afterAll(async () => {
  await service?.close();
  await simulator?.close();
});

it('states what was asked for, with every figure as recomputed independently', () => {
  const invoice = legalInvoice(stored, stored.number ?? '');
  expect(invoice.lines).toMatchObject(INPUT.lines.map((line) => ({ ...line, amount: line.quantity * line.unitPrice })));
  expect(differences(xml, { invoice, credits: null })).toEqual([]);
  expect(statedFigures(xml)).toEqual({
    rates: [
      { rate: 14, base: 5_005n, tax: 701n },
      { rate: 7, base: 3_003n, tax: 210n },
    ],
    amount: 8_919n,
  });
  expect(xml.toString()).toContain(`– ${INPUT.note}</cbc:Note>`);
});

it('is what the authority holds', async () => {
  expect(simulator.control.ledger()).toMatchObject([
    { id: stored.id, status: 'accepted', dgi_id: stored.dgiId, digest: stored.xml?.sha256, problems: [] },
  ]);
  expect((await simulator.control.document(stored.id))?.equals(xml)).toBe(true);
});

it('is valid against the UBL 2.1 schema', async ({ skip }) => {
  if (!hasUblSchema) skip(WITHOUT_UBL_SCHEMA);
  expect(await schemaErrors([xml])).toEqual([]);
});

it('satisfies every fatal rule of EN 16931', async ({ skip }) => {
  if (WITHOUT_EN16931) skip(WITHOUT_EN16931);
  expect(await brokenRules(xml)).toEqual([]);
});

it('verifies in the service’s verifier, and the changed document does not', async () => {
  expect(await verifySignedDocument(xml)).toMatchObject({ valid: true });
  expect(await verifySignedDocument(changed.xml)).toMatchObject({ valid: false });
});

it('verifies in xmlsec1, and the changed document does not', async ({ skip }) => {
  if (!hasXmlsec1) skip(WITHOUT_XMLSEC1);
  const ca = await readFile(simulator.settings.DGI_CA, 'utf8');
  expect(await xmlsec1Verifies(xml, ca)).toBe(true);
  expect(await xmlsec1Verifies(changed.xml, ca)).toBe(false);
});

testLong('verifies in the JDK, and the changed document does not', async ({ skip }) => {
  if (WITHOUT_JDK) skip(WITHOUT_JDK);
  expect(await jdkVerifies([xml, changed.xml], certificate)).toEqual([true, false]);
});

test.skipIf(!hasPoppler)('has a signed PDF that shows its invoice and contains the XML and the receipt', () => {
  expect(pdfsig(pdf)).toMatch(/Total document signed[\s\S]*Signature is Valid/);
  expect(pdfsig(changed.pdf)).not.toContain('Signature is Valid');
  expect(detached(pdf).content.equals(xml)).toBe(true);
  expect(detached(pdf, 2).content.equals(receipt)).toBe(true);
  const text = textOfPages(pdf).join('');
  for (const shown of [INPUT.number, INPUT.dgiId, stored.number, stored.dgiId, '89,19']) expect(text).toContain(shown);
});

testLong('has a PDF that is PDF/A-3A, PDF/UA-1 and PAdES-BASELINE-B', ({ skip }) => {
  const [validator, dss] = [veraPdf(), signatureValidator()];
  if (validator === null || dss === null) return skip('there is no Java, or Maven cannot download');
  for (const flavour of ['3a', 'ua1']) expect(validator.run([flavour], { 'a.pdf': pdf })).toEqual(['compliant a.pdf']);
  const verdicts = dss.run([], { 'trusted.pem': certificate, 'a.pdf': pdf, 'changed.pdf': changed.pdf });
  expect(verdicts[0]).toBe('PAdES-BASELINE-B TOTAL_PASSED a.pdf');
  expect(verdicts.join('\n')).toMatch(/TOTAL_FAILED changed\.pdf/);
});
