import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Issuer, issue } from '../../../scripts/authority-simulator/certificates.ts';
import { createReceiptReader, MAX_RECEIPT_BYTES } from '../../../src/adapters/authority/receipt-reader.ts';
import { RECEIPT_NAMESPACE, type ReceiptFacts, writeReceipt } from '../../../src/adapters/authority/receipt-writer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { trustOfSignature } from '../../../src/adapters/xades/certificate-trust.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { VerificationGivenUp } from '../../../src/domain/verification/verification.ts';

const NOW = new Date('2026-11-22T10:00:00Z');
const FACTS: ReceiptFacts = {
  dgiId: 'DGI-2026-1',
  submissionId: 'inv_1',
  digest: 'c4'.repeat(32),
  status: 'accepted',
  decidedAt: new Date('2026-11-22T09:59:58.123Z'),
};

const root = issue('Authority', null);
const signerOf = ({ privateKey, certificate }: Issuer) =>
  createDocumentSigner(softwareKey({ privateKey, certificateChain: [certificate] }));
const signer = signerOf(issue('Receipts of the authority', root, { ca: false }));
const read = createReceiptReader({
  verify: verifySignedDocument,
  trust: (signature) => trustOfSignature(signature, [root.certificate]),
});

/** A receipt with this content, signed by the authority. */
function signedText(start: string, end = '</Receipt>'): Promise<Uint8Array> {
  const octets = Buffer.from(start + end);
  const sha256 = createHash('sha256').update(octets).digest('base64');
  return signer.sign({ octets, signatureAt: Buffer.byteLength(start), sha256 }, NOW);
}

const written = async (facts: Partial<ReceiptFacts> = {}) => writeReceipt({ ...FACTS, ...facts }, signer, NOW);
const changed = async (change: (text: string) => string) => {
  const text = Buffer.from(await written()).toString();
  expect(change(text)).not.toBe(text);
  return read(Buffer.from(change(text)));
};
const invalid = (message: RegExp) => ({ kind: 'invalid', message: expect.stringMatching(message) });

test('a receipt signed under an anchor is read', async () => {
  const document = await written({ dgiId: 'DGI <&> "é"' });
  expect(await read(document)).toEqual({
    kind: 'receipt',
    receipt: {
      document,
      submissionId: 'inv_1',
      dgiId: 'DGI <&> "é"',
      sha256: FACTS.digest,
      status: 'accepted',
      decidedAt: FACTS.decidedAt,
    },
  });
});

describe('is not accepted', () => {
  test.each(['DGI-2026-1', 'inv_1', 'c4c4c4', '>accepted<', '09:59:58'])('with a changed %s', async (part) => {
    const other = { 'DGI-2026-1': 'DGI-2026-2', '>accepted<': '>rejected<', '09:59:58': '09:59:59' }[part];
    expect(await changed((text) => text.replace(part, other ?? `${part}1`))).toEqual(invalid(/was changed after/));
  });

  test('with a forged signature value', async () => {
    const forged = (text: string) =>
      text.replace(/(<ds:SignatureValue>)(.)/, (_all, tag, first) => `${tag}${first === 'A' ? 'B' : 'A'}`);
    expect(await changed(forged)).toEqual(invalid(/not made with the key/));
  });

  test.each([
    ['of another authority', issue('Signer', issue('Authority', null), { ca: false })],
    ['of its own', issue('Receipts of the authority', null, { ca: false })],
  ])('signed under a certificate %s', async (_whose, other) => {
    expect(await read(await writeReceipt(FACTS, signerOf(other), NOW))).toEqual(
      invalid(/^The signer is not the tax authority: no trusted certificate/),
    );
  });

  test('truncated, at any place', async () => {
    const document = await written();
    for (let length = 0; length < document.length; length += 37)
      expect([length, await read(document.subarray(0, length))]).toEqual([length, invalid(/./)]);
  });

  test('unsigned', async () => {
    expect(await changed((text) => text.replace(/<ds:Signature .*<\/ds:Signature>/, ''))).toEqual(
      invalid(/0 signatures/),
    );
  });

  test('with a DOCTYPE, also one that is not used', async () => {
    expect(await changed((text) => `<!DOCTYPE Receipt [<!ENTITY a "b">]>${text}`)).toEqual(invalid(/DOCTYPE/));
  });

  test('larger than the limit, and then it is not even parsed', async () => {
    const verify = () => Promise.reject(new Error('it was parsed'));
    const reader = createReceiptReader({ verify, trust: () => ({ trusted: true }) });
    expect(await reader(Buffer.alloc(MAX_RECEIPT_BYTES + 1, 0x20))).toEqual(invalid(/larger than 256 KiB/));
  });

  test('that takes the verifier too long', async () => {
    const verify = () => Promise.reject(new VerificationGivenUp('It took too long.'));
    const reader = createReceiptReader({ verify, trust: () => ({ trusted: true }) });
    expect(await reader(await written())).toEqual(invalid(/too long/));
  });

  const open = `<Receipt xmlns="${RECEIPT_NAMESPACE}">`;
  const body =
    `<DgiId>D</DgiId><SubmissionId>i</SubmissionId><Digest>${FACTS.digest}</Digest>` +
    '<Status>accepted</Status><DecidedAt>2026-11-22T09:59:58Z</DecidedAt>';
  test('signed by the authority, but of another form', async () => {
    expect(await read(await signedText(open + body))).toMatchObject({ kind: 'receipt' });
    const cases: [string, string, RegExp][] = [
      ['an element twice', `${open}${body}<Status>rejected</Status>`, /exactly one Status/],
      ['an element missing', open + body.replace(/<Digest>.*<\/Digest>/, ''), /exactly one Digest/],
      ['an element more', `${open}${body}<Note>x</Note>`, /do not belong/],
      ['elements in an element', open + body.replace('>D<', '><b>D</b><'), /only text/],
      ['another namespace', open.replace('urn:authority', 'urn:other') + body, /not a receipt/],
      ['another status', open + body.replace('accepted', 'pending'), /neither accepted nor rejected/],
      ['a digest that is none', open + body.replace(FACTS.digest, FACTS.digest.toUpperCase()), /not SHA-256/],
      ['a time without zone', open + body.replace('58Z', '58'), /not a time in UTC/],
      ['a day that is none', open + body.replace('11-22', '13-22'), /not a time in UTC/],
    ];
    for (const [what, start, message] of cases)
      expect([what, await read(await signedText(start))]).toEqual([what, invalid(message)]);
  });

  test('if it is an invoice', async () => {
    const invoice = '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>';
    expect(await read(Buffer.from(invoice))).toEqual(invalid(/not a receipt of the tax authority/));
  });

  test('as an invoice by those who verify invoices', async () => {
    expect(await verifySignedDocument(await written())).toMatchObject({ valid: false, failed: 'structure' });
  });
});
