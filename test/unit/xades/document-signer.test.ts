import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import type { LegalInvoice } from '../../../src/domain/invoice/ports.ts';
import { SigningFailed } from '../../../src/domain/invoice/signing-key.ts';
import { jdkVerifies, WITHOUT_JDK } from '../../support/jdk-validator.ts';
import { firstOf, testLong } from '../../support/samples.ts';
import { hasTool } from '../../support/tools.ts';
import { sampleInvoice, sampleLine, sampleLines } from '../ubl/sample-invoice.ts';
import { hasUblSchema, schemaErrors } from '../ubl/ubl-schema.ts';
import { ecKey, identityOf, rsaKey, SIGNING_TIME, signedInvoice } from './identities.ts';
import { WITHOUT_XMLSEC1, xmlsec1Verifies } from './xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

const p256 = identityOf(ecKey('P-256'));

const HOSTILE = [
  `quotes " ' and & < > ]]> &amp; &#13; <script>alert(1)</script>`,
  'فاتورة رقم ١٢٣ — شركة الأطلس',
  'emoji 🧾👩🏽‍💻 and U+10FFFD \u{10FFFD}',
  'line ends: lf\n crlf\r\n cr\r nel\u0085 ls\u2028 ps\u2029 end',
  'tabs\tand  two  spaces ',
  'bidi \u202Eoverride\u202C, isolates \u2066x\u2069, zero\u200Bwidth, C1 \u009F, combining e\u0301',
  '<!DOCTYPE x [<!ENTITY e "e">]>&e;',
  'x'.repeat(500),
];

const hostileInvoice = (): LegalInvoice =>
  sampleInvoice({
    seller: { ...sampleInvoice().seller, legalName: HOSTILE[0]! },
    terms: { ...sampleInvoice().terms, paymentMode: `"<&>'\t\n\u2028 ${HOSTILE[1]}` },
    customer: {
      ...COMPANY,
      ice: '001525713000085',
      name: HOSTILE[1]!,
      address: HOSTILE[3]!,
      email: `"a'<&>"@x.example`,
    },
    lines: HOSTILE.map((description) => sampleLine({ description, quantity: 2, unitPrice: 999, taxRate: 20 })),
  });

describe.each([
  ['RSA-2048', rsaKey(2048)],
  ['RSA-3072', rsaKey(3072)],
  ['ECDSA P-256', ecKey('P-256')],
])('a signature with %s', (kind, key) => {
  const identity = identityOf(key);
  const large = () => sampleInvoice({ lines: sampleLines(1000) });

  test.each([
    ['an ordinary invoice', () => sampleInvoice()] as const,
    ['hostile texts', hostileInvoice] as const,
    // Signed is a digest, whatever the key: one key signs the longest in `npm test`.
    ...firstOf([['1,000 lines', large]] as const, kind === 'RSA-2048' ? 1 : 0),
  ])('verifies in xadesjs and xmlsec1: %s', async (_what, invoice) => {
    const signed = await signedInvoice(identity, invoice());
    const verification = await verifySignedDocument(signed);
    expect(verification).toMatchObject({
      valid: true,
      signingTime: new Date('2026-11-21T10:20:30Z'),
      certificate: { subject: 'C=MA, O=Fatoura TEST, CN=Fatoura TEST - no legal value' },
      covered: { type: 'Invoice', number: '2026-000123' },
    });
    if (hasXmlsec1) expect(await xmlsec1Verifies(signed, String(identity.certificateChain[0]))).toBe(true);
  });
});

// The JDK starts in seconds; xmlsec1 is another program that verifies each document above.
testLong('the JDK accepts signed documents and rejects changed ones', async ({ skip }) => {
  if (WITHOUT_JDK) skip(WITHOUT_JDK);
  const signed = await Promise.all([sampleInvoice(), hostileInvoice()].map((invoice) => signedInvoice(p256, invoice)));
  const changed = signed.map((each) => Buffer.from(each.toString().replace('</cbc:InvoicedQuantity>', '1$&')));
  expect(await jdkVerifies([...signed, ...changed], String(p256.certificateChain[0]))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('xmlsec1 rejects a changed document', async ({ skip }) => {
  if (!hasXmlsec1) skip(WITHOUT_XMLSEC1);
  const signed = await signedInvoice(p256, sampleInvoice());
  const changed = signed.toString().replace('Prestation 3', 'Prestation 8');
  expect(await xmlsec1Verifies(Buffer.from(changed), String(p256.certificateChain[0]))).toBe(false);
});

describe('the signed document', () => {
  test('is the unsigned document byte for byte, plus the signature in its place', async () => {
    const document = writeInvoice(hostileInvoice());
    const signed = (await signedInvoice(p256, hostileInvoice())).toString();
    const start = signed.indexOf('<ds:Signature ');
    const end = signed.indexOf('</ds:Signature>') + '</ds:Signature>'.length;
    expect(start).toBe(document.signatureAt);
    expect(signed.slice(0, start) + signed.slice(end)).toBe(document.xml);
    // Verifiers therefore canonicalize to `xml` itself, and recompute its digest.
    expect(signed).toContain(createHash('sha256').update(document.xml).digest('base64'));
  });

  test('is XAdES baseline B-B: signing time, certificate and format, and no unsigned properties', async () => {
    const signed = (await signedInvoice(p256, sampleInvoice())).toString();
    const properties = signed
      .slice(signed.indexOf('<ds:Object>'), signed.indexOf('</ds:Object>'))
      .replace(/ xmlns:\w+="[^"]*"/g, '');
    const certificate = createHash('sha256').update(p256.certificateChain[0]!.raw).digest('base64');
    expect(properties).toBe(
      '<ds:Object><xades:QualifyingProperties Target="#signature"><xades:SignedProperties Id="signature-properties">' +
        '<xades:SignedSignatureProperties><xades:SigningTime>2026-11-21T10:20:30Z</xades:SigningTime>' +
        '<xades:SigningCertificateV2><xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>' +
        `<ds:DigestValue>${certificate}</ds:DigestValue></xades:CertDigest></xades:Cert></xades:SigningCertificateV2></xades:SignedSignatureProperties>` +
        '<xades:SignedDataObjectProperties><xades:DataObjectFormat ObjectReference="#signature-document"><xades:MimeType>text/xml</xades:MimeType>' +
        '</xades:DataObjectFormat></xades:SignedDataObjectProperties></xades:SignedProperties></xades:QualifyingProperties>',
    );
    expect(signed).toContain('<ds:Reference Id="signature-document" URI="">');
    expect(signed).toContain(
      '<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#signature-properties">',
    );
  });
});

describe('the signer refuses', () => {
  test.each([
    ['RSA-1024', rsaKey(1024)],
    ['P-384', ecKey('P-384')],
  ])('a key of %s', (_kind, key) => {
    expect(() => softwareKey(identityOf(key))).toThrow(SigningFailed);
  });

  test('a key without its certificate', () => {
    const { certificateChain } = p256;
    expect(() => softwareKey({ privateKey: ecKey('P-256'), certificateChain })).toThrow(
      /does not match the signing certificate/,
    );
    expect(() => softwareKey({ privateKey: p256.privateKey, certificateChain: [] })).toThrow(SigningFailed);
  });

  test('to sign when its certificate is not valid', async () => {
    const { sign } = createDocumentSigner(softwareKey(p256));
    const document = unsignedDocument(writeInvoice(sampleInvoice()));
    await expect(sign(document, new Date('2025-12-31T23:59:59Z'))).rejects.toThrow(SigningFailed);
    await expect(sign(document, new Date('2036-01-01T00:00:01Z'))).rejects.toThrow(/is valid from .* not at/);
  });
});

test('a signature policy is one of the signed properties, with its digest', async () => {
  const policy = {
    id: '1.2.504.9.1',
    sha256: createHash('sha256').update('policy').digest('base64'),
    url: 'https://x.example/p?a=1&b=2',
  };
  const sign = (changes: object) =>
    createDocumentSigner(softwareKey(p256), { policy: { ...policy, ...changes } })
      .sign(unsignedDocument(writeInvoice(sampleInvoice())), SIGNING_TIME)
      .then((signed) => Buffer.from(signed));
  const signed = await sign({});
  expect(signed.toString()).toContain(
    '</xades:SigningCertificateV2><xades:SignaturePolicyIdentifier><xades:SignaturePolicyId><xades:SigPolicyId>' +
      '<xades:Identifier Qualifier="OIDAsURN">urn:oid:1.2.504.9.1</xades:Identifier></xades:SigPolicyId>',
  );
  const byUri = await sign({ id: 'https://x.example/policy?a=1&b=2' });
  expect(byUri.toString()).toContain('<xades:Identifier>https://x.example/policy?a=1&amp;b=2</xades:Identifier>');
  for (const document of [signed, byUri]) {
    expect(await verifySignedDocument(document)).toMatchObject({ valid: true, timeStamp: null });
    if (hasXmlsec1) expect(await xmlsec1Verifies(document, String(p256.certificateChain[0]))).toBe(true);
  }
  if (hasUblSchema) expect(await schemaErrors([signed, byUri])).toEqual([]);
});
