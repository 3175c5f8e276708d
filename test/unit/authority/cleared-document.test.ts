import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Issuer, issue } from '../../../scripts/authority-simulator/certificates.ts';
import { createClearedCheck } from '../../../src/adapters/authority/cleared-document.ts';
import type { ReceiptFacts } from '../../../src/adapters/authority/receipt-writer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { trustOfSignature } from '../../../src/adapters/xades/certificate-trust.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import type { LegalInvoice } from '../../../src/domain/invoice/ports.ts';
import { pendingInvoice } from '../../support/invoices.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { cleared } from '../xades/cleared.ts';

const NOW = new Date('2026-11-22T10:00:00Z');
const root = issue('Authority', null);
const authority = issue('Clearances of the authority', root, { ca: false });
const seller = issue('Seller', null, { ca: false });
const keyOf = ({ privateKey, certificate }: Issuer) => softwareKey({ privateKey, certificateChain: [certificate] });

async function signedBy(who: Issuer, changes: Partial<LegalInvoice> = {}): Promise<Buffer> {
  const unsigned = unsignedDocument(writeInvoice(sampleInvoice(changes)));
  return Buffer.from(await createDocumentSigner(keyOf(who)).sign(unsigned, NOW));
}

const legal = sampleInvoice();
const sent = await signedBy(seller);
const invoice = pendingInvoice({
  id: 'inv_1',
  status: 'accepted',
  dgiId: 'DGI-1',
  number: legal.number,
  amount: legal.amount,
  seller: legal.seller,
});
const FACTS: ReceiptFacts = {
  dgiId: 'DGI-1',
  submissionId: 'inv_1',
  status: 'accepted',
  decidedAt: NOW,
  digest: createHash('sha256').update(sent).digest('hex'),
};

const check = createClearedCheck({
  verify: verifySignedDocument,
  trust: (signature) => trustOfSignature(signature, [root.certificate]),
});

/** The document with the authority's clearance as its last extension. */
const withClearance = (facts: Partial<ReceiptFacts> = {}, by = authority, document = sent) =>
  cleared(document, by, { ...FACTS, ...facts });

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const outcome = (document: Uint8Array) => check(document, sent, invoice);

describe('the document that was sent, with a clearance', () => {
  test('is right when everything fits', async () => {
    expect(await outcome(await withClearance())).toBeNull();
    const held = await withClearance({ submissionId: 'inv_0' });
    expect(await check(held, sent, { ...invoice, heldAs: 'inv_0' })).toBeNull();
  });

  test.each([
    ['DgiId', { dgiId: 'DGI-2' }],
    ['SubmissionId', { submissionId: 'inv_2' }],
    ['Digest', { digest: 'ff'.repeat(32) }],
    ['Status', { status: 'rejected' }],
  ] as const)('is wrong with another %s', async (name, facts) => {
    expect(await outcome(await withClearance(facts))).toMatch(new RegExp(`another invoice: its ${name} differ`));
  });

  test('is wrong when the clearance is by somebody else', async () => {
    expect(await outcome(await withClearance({}, seller))).toMatch(/not the tax authority/);
  });

  test('is wrong when the clearance was changed after it was signed', async () => {
    const other = text(await withClearance({ dgiId: 'DGI-9' })).replace('>DGI-9<', '>DGI-1<');
    expect(await outcome(Buffer.from(other))).toMatch(/was changed after/);
  });

  test.each([
    ['one byte of it', (all: string) => all.replace('Prestation 1', 'Prestation 2')],
    ['something before it', (all: string) => ` ${all}`],
    ['something after it', (all: string) => `${all}\n`],
    ['another extension', (all: string) => all.replace('</ext:UBLExtensions>', '<ext:X/></ext:UBLExtensions>')],
  ])('is wrong when %s was changed or added', async (_what, change) => {
    const changed = change(text(await withClearance()));
    expect(await outcome(Buffer.from(changed))).not.toBeNull();
  });

  test.each([
    [
      'an attribute',
      (all: string) =>
        all.replace(
          'CommonExtensionComponents-2"><ext:ExtensionURI>',
          'CommonExtensionComponents-2" a="b"><ext:ExtensionURI>',
        ),
    ],
    [
      'an element',
      (all: string) => all.replace('</Clearance></ext:ExtensionContent>', '</Clearance><a/></ext:ExtensionContent>'),
    ],
    ['a second clearance', (all: string) => all.replace('</Clearance>', '</Clearance><Clearance></Clearance>')],
  ])('is wrong when its extension contains %s that nobody signed', async (_what, change) => {
    const whole = text(await withClearance());
    expect(change(whole)).not.toBe(whole);
    expect(await outcome(Buffer.from(change(whole)))).not.toBeNull();
  });
});

describe('verifying it as the legal XML that customers download', () => {
  test('it is valid, and tells of both signatures', async () => {
    const plain = await verifySignedDocument(sent);
    expect(plain).toMatchObject({ valid: true, clearance: null });
    expect(await verifySignedDocument(await withClearance())).toEqual({
      ...plain,
      clearance: {
        dgiId: 'DGI-1',
        submissionId: 'inv_1',
        decidedAt: NOW,
        signature: {
          signingTime: NOW,
          certificates: expect.any(Array),
          certificate: expect.objectContaining({ subject: 'CN=Clearances of the authority' }),
        },
      },
    });
  });

  test('it is valid with an XML declaration and white space that were added since', async () => {
    const plain = await verifySignedDocument(await withClearance());
    const other = `<?xml  version='1.0' ?>\r\n${text(await withClearance())}\n`;
    expect(await verifySignedDocument(Buffer.from(other))).toEqual(plain);
  });

  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'the document was changed',
      async () => text(await withClearance()).replace('Prestation 1', 'Prestation 2'),
      /was changed/,
    ],
    [
      'the clearance was changed',
      async () => text(await withClearance({ dgiId: 'DGI-9' })).replace('>DGI-9<', '>DGI-1<'),
      /clearance of the tax authority: .*was changed/,
    ],
    [
      'the clearance is of another document',
      async () => text(await cleared(await signedBy(seller, { number: '2026-000999' }), authority, FACTS)),
      /clearance of the tax authority is of another document/,
    ],
    [
      'it was rejected',
      async () => text(await withClearance({ status: 'rejected' })),
      /does not state that it was accepted/,
    ],
    [
      'the document has a third signature',
      async () => {
        const all = text(await withClearance());
        const signature = /<ds:Signature\b[^>]*>.*?<\/ds:Signature>/s.exec(all)?.[0] ?? '';
        const changed = all.replace('</Invoice>', `${signature.replaceAll(/ Id="[^"]*"/g, '')}</Invoice>`);
        expect(changed.length).toBeGreaterThan(all.length);
        return changed;
      },
      /2 signatures/,
    ],
    [
      'there are two clearances',
      async () => text(await cleared(await withClearance(), authority)),
      /the Id authority-clearance/,
    ],
  ])('it is not valid when %s', async (_what, make, reason) => {
    expect(await verifySignedDocument(Buffer.from(await make()))).toMatchObject({
      valid: false,
      reason: expect.stringMatching(reason),
    });
  });
});

describe('a document signed by the authority alone', () => {
  test('is right with the same number, seller and amount', async () => {
    expect(await outcome(await signedBy(authority))).toBeNull();
  });

  test.each([
    ['customerIce', { customer: { ...legal.customer, ice: '001234567000062' } }],
    ['issueDate', { issueDate: '2026-11-20' }],
    ['number', { number: '2026-000999' }],
    ['sellerIce', { seller: { ...legal.seller, ice: '001525713000085' } }],
    ['payable', { amount: legal.amount + 1 }],
  ])('is wrong with another %s', async (name, changes) => {
    expect(await outcome(await signedBy(authority, changes))).toMatch(new RegExp(`its ${name} differ`));
  });

  test('is wrong with another tax and the same amount to pay', async () => {
    const unsigned = unsignedDocument(writeInvoice(sampleInvoice()));
    const tax = /<cac:TaxTotal[^>]*><cbc:TaxAmount[^>]*>(?<amount>[\d.]+)</d.exec(
      Buffer.from(unsigned.octets).toString('latin1'),
    );
    const [at] = tax?.indices?.groups?.amount ?? [];
    if (at === undefined) throw new Error('the sample has no tax');
    const octets = Buffer.from(unsigned.octets);
    octets[at] = 0x39;
    const changed = { ...unsigned, octets, sha256: createHash('sha256').update(octets).digest('base64') };
    const document = await createDocumentSigner(keyOf(authority)).sign(changed, NOW);
    expect(await verifySignedDocument(document)).toMatchObject({ valid: true });
    expect(await outcome(document)).toMatch(/its taxAmount differ/);
  });

  test('is wrong when it is the one that was sent: the authority did not sign it', async () => {
    expect(await outcome(sent)).toMatch(/not the tax authority/);
  });

  test('is wrong when it is not a document at all', async () => {
    for (const document of [Buffer.alloc(0), Buffer.from('<a/>'), Buffer.alloc(9 * 1024 * 1024, 0x61)])
      expect(await outcome(document)).not.toBeNull();
  });
});
