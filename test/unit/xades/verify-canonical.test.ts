import { createHash, createSign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeReceipt } from '../../../src/adapters/authority/receipt-writer.ts';
import { type SigningIdentity, softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { signature, signedInfo, signedProperties } from '../../../src/adapters/xades/signature-template.ts';
import { verifyCanonical } from '../../../src/adapters/xades/verify-canonical.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../../src/adapters/xades/vocabulary.ts';
import { anyText } from '../../support/any-text.ts';
import { sampled } from '../../support/samples.ts';
import { sampleInvoice, sampleLines } from '../ubl/sample-invoice.ts';
import { ecKey, FROM, identityOf, rsaKey, SIGNING_TIME, signedInvoice } from './identities.ts';

const identity = identityOf(ecKey('P-256'));
const signer = createDocumentSigner(softwareKey(identity));
const { xml, signatureAt } = writeInvoice(sampleInvoice({ lines: sampleLines(2) }));
const [head, tail] = [xml.slice(0, signatureAt), xml.slice(signatureAt)];

/** Signs these bytes as they are, whether or not they are in canonical form. */
async function signedAs(before: string, after: string): Promise<Buffer> {
  const octets = Buffer.from(before + after);
  const sha256 = createHash('sha256').update(octets).digest('base64');
  return Buffer.from(await signer.sign({ octets, signatureAt: Buffer.byteLength(before), sha256 }, SIGNING_TIME));
}

describe('a document of this service', () => {
  test.each([
    ['RSA', rsaKey(2048), 5],
    ['RSA of 4096 bits', rsaKey(4096), 1],
    ['ECDSA', ecKey('P-256'), 5],
    ['100 lines', ecKey('P-256'), 100],
  ])('is verified as xadesjs does: %s', async (_what, key, lines) => {
    const signed = await signedInvoice(identityOf(key), sampleInvoice({ lines: sampleLines(lines) }));
    const found = await verifySignedDocument(signed);
    expect(found.valid).toBe(true);
    expect(verifyCanonical(signed, 'ubl')).toEqual(found);
  });

  test('is verified as xadesjs does, whatever its texts are', async () => {
    const notAllowed = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
    const text = anyText({ maxLength: 60 }).map((each) => `x${each.replace(notAllowed, '')}`);
    await fc.assert(
      fc.asyncProperty(text, text, async (name, description) => {
        const lines = sampleLines(1).map((line) => ({ ...line, description }));
        const invoice = sampleInvoice({ lines });
        const signed = await signedInvoice(identity, { ...invoice, customer: { ...invoice.customer, name } });
        expect(verifyCanonical(signed, 'ubl')).toEqual(await verifySignedDocument(signed));
      }),
      { numRuns: 60 },
    );
  });

  test('is verified as xadesjs does: a receipt', async () => {
    const facts = {
      dgiId: 'DGI-1 & <2>',
      submissionId: 'inv_1',
      digest: 'ab',
      status: 'accepted',
      decidedAt: FROM,
    } as const;
    const receipt = await writeReceipt(facts, signer, SIGNING_TIME);
    const found = await verifySignedDocument(receipt, 'receipt');
    expect(found.valid).toBe(true);
    expect(verifyCanonical(receipt, 'receipt')).toEqual(found);
    expect(verifyCanonical(receipt, 'ubl')).toBeNull();
    expect(verifyCanonical(receipt, 'clearance')).toBeNull();
  });

  test('is left to xadesjs when a byte was changed, wherever it is', async () => {
    const signed = await signedAs(head, tail);
    const noticed = (at: number) => {
      const changed = Buffer.from(signed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      return verifyCanonical(changed, 'ubl') === null;
    };
    const unnoticed = Array.from(signed.keys()).filter((at) => at % 4 === 0 && !noticed(at));
    expect(unnoticed.map((at) => signed.toString('latin1', at - 30, at + 30))).toEqual([]);
    expect(verifyCanonical(signed, 'ubl')).not.toBeNull();
  });
});

const CBC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2';
const CAC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const EXT = 'urn:oasis:names:specification:ubl:schema:xsd:CommonExtensionComponents-2';
const SIG = 'urn:oasis:names:specification:ubl:schema:xsd:CommonSignatureComponents-2';
const put = (text: string) => (end: string) => end.replace('<cbc:UUID', `${text}<cbc:UUID`);
const note = (content: string, attributes = '') =>
  put(`<cbc:Note xmlns:cbc="${CBC}"${attributes}>${content}</cbc:Note>`);

describe('a document that is correctly signed, and is not in canonical form or not of the right structure', () => {
  test.each<[what: string, after: (end: string) => string, before?: (start: string) => string]>([
    ['an empty element', put(`<cbc:Note xmlns:cbc="${CBC}"/>`)],
    ['a namespace declared again', put(`<cac:A xmlns:cac="${CAC}"><cac:B xmlns:cac="${CAC}">1</cac:B></cac:A>`)],
    ['a namespace that the element does not use', note('1', ' xmlns:x="urn:x"')],
    ['a namespace that an element of the default one does not use', put('<A xmlns:x="urn:x">1</A>')],
    [
      'the default namespace declared again',
      put('<A xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">1</A>'),
    ],
    ['a prefix without a namespace', put('<x:A>1</x:A>')],
    ['a namespace behind an attribute', put(`<cbc:Note a="1" xmlns:cbc="${CBC}">1</cbc:Note>`)],
    ['an empty namespace', put('<A xmlns="">1</A>')],
    ['a namespace with an escaped character', put('<x:A xmlns:x="urn:&amp;">1</x:A>')],
    ['a namespace with a character that XML escapes', put('<x:A xmlns:x="urn:é">1</x:A>')],
    ['a reserved prefix', put('<xmlx:A xmlns:xmlx="urn:x">1</xmlx:A>')],
    ['a prefix that ends in xmlns', put('<axmlns:A xmlns:axmlns="urn:x">1</axmlns:A>')],
    ['attributes in another order', note('1', ' b="1" a="1"')],
    ['an attribute twice', note('1', ' a="1" a="1"')],
    ['an attribute with a prefix', note('1', ' cbc:a="1"')],
    ['an attribute in single quotes', note('1', " a='1'")],
    ['an attribute with a line end', note('1', ' a="1\n2"')],
    ['an escaped character in an attribute', note('1', ' a="&#x41;"')],
    ['an Id', note('1', ' Id="signature"')],
    ['an id in small letters', note('1', ' id="x"')],
    ['white space in a start tag', put(`<cbc:Note  xmlns:cbc="${CBC}">1</cbc:Note>`)],
    ['white space in an end tag', put(`<cbc:Note xmlns:cbc="${CBC}">1</cbc:Note >`)],
    ['a character reference', note('&#65;')],
    ['an escaped quote', note('&quot;')],
    ['an ampersand that is not escaped', note('a & b')],
    ['a sign that is not escaped', note('a > b')],
    ['a carriage return', note('a\rb')],
    ['an escaped carriage return', note('a&#xD;b')],
    ['a next-line character', note('a\u0085b')],
    ['a line separator', note('a\u2028b')],
    ['a control character', note('a\u0001b')],
    ['a comment', put('<!-- 1 -->')],
    ['a CDATA section', note('<![CDATA[1]]>')],
    ['a processing instruction', put('<?a b?>')],
    ['elements that cross', put('<A><B>1</A></B>')],
    ['an element that does not end', put('<A>')],
    ['text behind the root', (end) => `${end}\n`],
    ['a second root', (end) => `${end}<A xmlns="urn:x">1</A>`],
    ['an element of a signature', put(`<ds:Object xmlns:ds="${DS}">1</ds:Object>`)],
    ['an element of a signature by another prefix', put(`<x:Signature xmlns:x="${DS}">1</x:Signature>`)],
    ['a second extension list', put(`<ext:UBLExtensions xmlns:ext="${EXT}">1</ext:UBLExtensions>`)],
    [
      'a second extension',
      (end) => end.replace('</ext:UBLExtensions>', '<ext:UBLExtension>1</ext:UBLExtension></ext:UBLExtensions>'),
    ],
    [
      'a second list of signatures',
      (end) =>
        end.replace(
          '</ext:ExtensionContent>',
          `<sig:UBLDocumentSignatures xmlns:sig="${SIG}">1</sig:UBLDocumentSignatures></ext:ExtensionContent>`,
        ),
    ],
    ['a clearance of the authority', note('urn:authority:clearance:1')],
    ['an element in a fact', (end) => end.replace(/(<cbc:IssueDate[^>]*>)/, '$1<cbc:A>1</cbc:A>')],
    ['65 levels', put('<A>'.repeat(64) + '</A>'.repeat(64))],
    ['an XML declaration', (end) => end, (start) => `<?xml version="1.0"?>${start}`],
    ['a byte order mark', (end) => end, (start) => `\ufeff${start}`],
    ['text before the root', (end) => end, (start) => `\n${start}`],
    [
      'another root',
      (end) => end.replace(/<\/Invoice>$/, '</Order>'),
      (start) => start.replace('<Invoice ', '<Order '),
    ],
    ['another namespace of the root', (end) => end, (start) => start.replace('xsd:Invoice-2', 'xsd:Invoice-3')],
    [
      'the signature at another place of the path',
      (end) => end.replace('</sac:SignatureInformation>', ''),
      (start) => `${start}</sac:SignatureInformation>`,
    ],
    ['the signature in another element', (end) => `</cbc:A>${end}`, (start) => `${start}<cbc:A xmlns:cbc="${CBC}">`],
  ])('is left to xadesjs: %s', async (_what, change, opening = (start) => start) => {
    const [start, end] = [opening(head), change(tail)];
    expect([start, end]).not.toEqual([head, tail]);
    expect(verifyCanonical(await signedAs(start, end), 'ubl')).toBeNull();
  });

  test.each<[what: string, after: (end: string) => string]>([
    ['white space between elements', put('\n  ')],
    ['a further element', note('&amp;&lt;&gt;\n\té', ' a="é" b="2"')],
    ['a further element of another namespace', put('<x:A xmlns:x="urn:x"><x:B>1</x:B></x:A>')],
    ['a fact twice', put(`<cbc:IssueDate xmlns:cbc="${CBC}">2020-01-01</cbc:IssueDate>`)],
    [
      'a number twice',
      (end) => end.replace('<cbc:IssueDate', `<cbc:ID xmlns:cbc="${CBC}">other</cbc:ID><cbc:IssueDate`),
    ],
  ])('is verified as xadesjs does if it is in canonical form: %s', async (_what, change) => {
    const signed = await signedAs(head, change(tail));
    const found = await verifySignedDocument(signed);
    expect(found.valid).toBe(true);
    expect(verifyCanonical(signed, 'ubl')).toEqual(found);
  });

  test('is never found valid unless xadesjs finds the same', async () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      '"',
      "'",
      '&',
      ' ',
      '\n',
      '=',
      ':',
      'Id="a"',
      'xmlns=""',
      'xmlns:x="urn:x"',
      '<A>',
      '</A>',
      '<x:A xmlns:x="urn:x">',
      '</x:A>',
      '&amp;',
      '&#65;',
      ']]>',
      '<!---->',
      'cbc:',
      ' a="b"',
      '\r',
      '\ufeff',
      `<cbc:Note xmlns:cbc="${CBC}">`,
      '</cbc:Note>',
      '<A/>',
      `<ds:Object xmlns:ds="${DS}">`,
      '</ds:Object>',
    );
    const edit = fc.record({ at: fc.nat(xml.length), cut: fc.nat(3), piece });
    let both = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), fc.boolean(), async (edits, atTags) => {
        let [start, end] = [head, tail];
        for (const { at, cut, piece: text } of edits) {
          const change = (whole: string, place: number) => {
            const from = atTags ? whole.indexOf('<', place) : place;
            return from === -1 ? whole : whole.slice(0, from) + text + whole.slice(from + (atTags ? 0 : cut));
          };
          if (at < head.length) start = change(start, at);
          else end = change(end, at - head.length);
        }
        const signed = await signedAs(start, end);
        const fast = verifyCanonical(signed, 'ubl');
        if (fast === null) return;
        both += 1;
        expect(fast).toEqual(await verifySignedDocument(signed));
      }),
      { numRuns: sampled(3000) },
    );
    expect(both).toBeGreaterThan(sampled(40));
  });
});

describe('the signer of a document that is otherwise right', () => {
  /** Signs without the product's signer, which would refuse these keys and times. */
  async function signedBy({ privateKey, certificateChain: [certificate] }: SigningIdentity): Promise<Buffer> {
    const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('base64');
    const properties = signedProperties(SIGNING_TIME, sha256(certificate!.raw));
    const method = privateKey.asymmetricKeyType === 'rsa' ? RSA_SHA256 : ECDSA_SHA256;
    const info = signedInfo(method, sha256(xml), sha256(properties));
    const value = createSign('sha256').update(info).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' }, 'base64');
    return Buffer.from(head + signature(info, value, [certificate!.raw.toString('base64')], properties) + tail);
  }

  test('is found by both in the same way', async () => {
    const signed = await signedBy(identity);
    expect(verifyCanonical(signed, 'ubl')).toEqual(await verifySignedDocument(signed));
  });

  test.each<[what: string, SigningIdentity]>([
    ['a certificate that may not sign', identityOf(ecKey('P-256'), { usage: 0x20 })],
    ['a certificate that was not valid then', identityOf(ecKey('P-256'), { from: new Date('2036-06-01') })],
    ['an RSA key of 1024 bits', identityOf(rsaKey(1024))],
    ['a key of another curve', identityOf(ecKey('P-384'))],
    ['a key that is not that of the certificate', { ...identity, privateKey: ecKey('P-256') }],
  ])('is left to xadesjs: %s', async (_what, other) => {
    const signed = await signedBy(other);
    expect(verifyCanonical(signed, 'ubl')).toBeNull();
    expect(await verifySignedDocument(signed)).toMatchObject({ valid: false });
  });

  test('is left to xadesjs: the certificate of somebody else', async () => {
    const [mine, others] = [identity, identityOf(ecKey('P-256'))].map(
      ({ certificateChain }) => certificateChain[0]!.raw,
    );
    const signed = (await signedAs(head, tail)).toString('latin1');
    const swapped = signed.replace(mine!.toString('base64'), others!.toString('base64'));
    expect(swapped).not.toBe(signed);
    expect(verifyCanonical(Buffer.from(swapped, 'latin1'), 'ubl')).toBeNull();
  });
});
