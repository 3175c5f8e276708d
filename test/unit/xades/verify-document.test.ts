import { createHash, createSign } from 'node:crypto';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SigningIdentity } from '../../../src/adapters/signing-key/software-key.ts';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { signature, signedInfo, signedProperties } from '../../../src/adapters/xades/signature-template.ts';
import { verifyCanonical } from '../../../src/adapters/xades/verify-canonical.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../../src/adapters/xades/vocabulary.ts';
import { someOf } from '../../support/samples.ts';
import { hasTool } from '../../support/tools.ts';
import { sampleInvoice, sampleLines } from '../ubl/sample-invoice.ts';
import { ecKey, identityOf, rsaKey, SIGNING_TIME, signedInvoice } from './identities.ts';
import { xmlsec1Verifies } from './xmlsec1.ts';

const hasXmlsec1 = hasTool('xmlsec1');

const FORGED_TOTAL =
  '<cbc:PayableAmount xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2" currencyID="MAD">1.00</cbc:PayableAmount>';

const identity = identityOf(ecKey('P-256'));
const document = writeInvoice(sampleInvoice());
let signed: string;

beforeAll(async () => {
  signed = (await signedInvoice(identity, sampleInvoice())).toString();
});

/** What `verifySignedDocument` finds. If `verifyCanonical` finds the document valid, both find the same. */
async function verify(text: string | Buffer) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const found = await verifySignedDocument(bytes);
  const fast = verifyCanonical(bytes, 'ubl');
  if (fast !== null) expect(fast).toEqual(found);
  return found;
}

/** Signs without the product's signer, which would refuse these inputs. */
function forge(
  { privateKey, certificateChain }: SigningIdentity,
  { named = certificateChain, method = ECDSA_SHA256, time = SIGNING_TIME, info = (text: string) => text } = {},
): string {
  const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('base64');
  const properties = signedProperties(time, sha256(named[0]!.raw));
  const text = info(signedInfo(method, sha256(document.xml), sha256(properties)));
  const value = createSign('sha256').update(text).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' }, 'base64');
  const chain = certificateChain.map(({ raw }) => raw.toString('base64'));
  const { xml, signatureAt } = document;
  return xml.slice(0, signatureAt) + signature(text, value, chain, properties) + xml.slice(signatureAt);
}

describe('a changed document', () => {
  test('is detected wherever a byte was changed', async () => {
    const bytes = Buffer.from(signed);
    const unnoticed: string[] = [];
    const places = Array.from({ length: Math.ceil((bytes.length - 1) / 83) }, (_, n) => 1 + 83 * n);
    for (const at of someOf(places)) {
      const byte = bytes.readUInt8(at);
      // Base64 has unused bits before its padding, which may change without effect.
      if (/^==?</.test(bytes.toString('latin1', at + 1, at + 4))) continue;
      bytes.writeUInt8(byte ^ 1, at);
      const verification = await verify(bytes);
      if (verification.valid) unnoticed.push(`${at}: ${bytes.subarray(at - 20, at + 20)}`);
      bytes.writeUInt8(byte, at);
    }
    expect(unnoticed).toEqual([]);
    expect(await verifySignedDocument(bytes)).toMatchObject({ valid: true });
  });

  test.each([
    ['a figure', 'digest', (text: string) => text.replace('>123.45<', '>923.45<')],
    ['a missing line', 'digest', (text: string) => text.replace(/<cac:InvoiceLine.*?<\/cac:InvoiceLine>/, '')],
    ['white space between elements', 'digest', (text: string) => text.replace('</cbc:UUID>', '</cbc:UUID>\n')],
    ['the signing time', 'digest', (text: string) => text.replace('2026-11-21T10:20:30Z', '2026-11-21T10:20:31Z')],
    [
      'the digest of the document',
      'signature',
      (text: string) => {
        const changed = text.replace('>123.45<', '>923.45<');
        const digest = (xml: string) => createHash('sha256').update(xml).digest('base64');
        return changed.replace(digest(document.xml), digest(document.xml.replace('>123.45<', '>923.45<')));
      },
    ],
    ['the signature value', 'signature', (text: string) => text.replace(/(<ds:SignatureValue>)..../, '$1AAAA')],
  ])('fails for %s (%s)', async (_what, failed, change) => {
    const changed = change(signed);
    expect(changed).not.toBe(signed);
    expect(await verify(changed)).toMatchObject({ valid: false, failed });
  });

  test('that is equivalent XML still verifies', async () => {
    const other = `<?xml version="1.0" encoding="UTF-8"?>\n${signed.replace('<cac:PartyName>', '<cac:PartyName >').replaceAll('currencyID="MAD"', "currencyID='MAD'")}\n`;
    expect(await verify(other)).toMatchObject({ valid: true });
  });
});

/** The same signed document by the rules of XML: what differs is not part of its canonical form. */
const SAME: [what: string, change: (text: string) => string | Buffer][] = [
  ['two spaces in the declaration', (text) => `<?xml  version="1.0"  encoding="UTF-8"?>${text}`],
  ['spaces around the equals sign', (text) => `<?xml version = '1.0'\tencoding\n=\r\n'utf-8' ?>${text}`],
  ['one quote of each kind', (text) => `<?xml version="1.0" encoding='UTF-8'?>\n${text}`],
  ['a version alone', (text) => `<?xml version='1.0'?>${text}`],
  ['standalone', (text) => `<?xml version="1.0" encoding="UTF-8" standalone = 'yes' ?>${text}`],
  ['standalone without an encoding', (text) => `<?xml version="1.0" standalone="no"?>${text}`],
  ['a byte order mark', (text) => `\ufeff${text}`],
  ['a byte order mark and a declaration', (text) => `\ufeff<?xml version="1.0"?>\r\n${text}\r\n`],
  ['white space around the root', (text) => ` \t\r\n${text}\n \t`],
  ['comments around the root', (text) => `<?xml version="1.0"?><!-- a --> <!-- - -->\n${text}\n<!---->\n<!-- <b> -->`],
  ['other quotes of attributes', (text) => text.replaceAll('currencyID="MAD"', `currencyID = 'MAD'`)],
  ['white space in tags', (text) => text.replaceAll('</cbc:ID>', '</cbc:ID\n>').replace('<Invoice ', '<Invoice\r\n')],
  ['a character reference', (text) => text.replace('>380<', '>&#51;&#x38;0<')],
];
/** Another document, or no XML at all. */
const DIFFERENT: typeof SAME = [
  ['a processing instruction before the root', (text) => `<?x y?>${text}`],
  ['a processing instruction after the root', (text) => `${text}<?x y?>`],
  ['an instruction in a second declaration', (text) => `<?xml version="1.0"?><?xml version="1.0"?>${text}`],
  ['text before the root', (text) => `a${text}`],
  ['text after the root', (text) => `${text}a`],
  ['a no-break space before the root', (text) => `\u00a0${text}`],
  ['two byte order marks', (text) => `\ufeff\ufeff${text}`],
  ['a second root', (text) => `${text}<a/>`],
  ['white space before the declaration', (text) => ` <?xml version="1.0"?>${text}`],
  ['a no-break space in the declaration', (text) => `<?xml version="1.0"\u00a0?>${text}`],
  ['a declaration without a space', (text) => `<?xml version="1.0"encoding="UTF-8"?>${text}`],
  ['a declaration of unequal quotes', (text) => `<?xml version="1.0'?>${text}`],
  ['a declaration in another order', (text) => `<?xml encoding="UTF-8" version="1.0"?>${text}`],
  ['a standalone of another value', (text) => `<?xml version="1.0" standalone="perhaps"?>${text}`],
  ['a comment with two hyphens', (text) => `<!-- -- -->${text}`],
  ['a comment with three hyphens at its end', (text) => `${text}<!-- --->`],
  ['a comment that does not end', (text) => `${text}<!-- ->`],
  [
    'a figure, behind a comment that has the old one',
    (text) => `<!-- 123.45 -->${text.replace('>123.45<', '>923.45<')}`,
  ],
];

describe.each([
  ['the same document in another form', SAME, true],
  ['another document', DIFFERENT, false],
])('%s', (_, cases, valid) => {
  test.each(cases)(`is ${valid ? 'valid' : 'not valid'}: %s`, async (_what, change) => {
    const changed = change(signed);
    expect(changed).not.toBe(signed);
    expect(await verify(changed)).toMatchObject({ valid });
    if (hasXmlsec1) {
      expect(await xmlsec1Verifies(Buffer.from(changed), String(identity.certificateChain[0]))).toBe(valid);
    }
  });
});

describe('a signature that does not clearly cover the whole document', () => {
  const signatureElement = () => /<ds:Signature .*<\/ds:Signature>/.exec(signed)![0];
  test.each([
    ['a DOCTYPE', () => signed.replace('<Invoice', '<!DOCTYPE Invoice><Invoice'), /DOCTYPE/],
    ['an entity bomb', () => `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${signed}`, /DOCTYPE/],
    ['a comment', () => signed.replace('>123.45<', '>123<!-- -->.45<'), /comment/],
    ['CDATA', () => signed.replace('>123.45<', '><![CDATA[123.45]]><'), /CDATA/],
    ['a processing instruction', () => signed.replace('<cbc:UUID', '<?x y?><cbc:UUID'), /processing instruction/],
    [
      'two signatures',
      () => signed.replace('</ds:Signature>', `</ds:Signature>${signatureElement()}`),
      /Id signature|2 signatures/,
    ],
    [
      'a second signature elsewhere',
      () =>
        signed.replace(
          '</Invoice>',
          '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"></ds:Signature></Invoice>',
        ),
      /2 signatures/,
    ],
    [
      'a signature at the root',
      () => document.xml.replace('</Invoice>', `${signatureElement()}</Invoice>`),
      /must contain exactly one Signature/,
    ],
    ['no signature', () => document.xml, /0 signatures/],
    [
      'the signed invoice inside another one',
      () => `<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2">${signed}</Invoice>`,
      /UBLExtensions/,
    ],
    [
      'an object beside the signed properties',
      () => signed.replace('</ds:Signature>', `<ds:Object>${document.xml}</ds:Object></ds:Signature>`),
      /nothing else/,
    ],
    [
      'content beside the qualifying properties',
      () => signed.replace('</ds:Object>', '<x></x></ds:Object>'),
      /nothing else/,
    ],
    [
      'another total in the signature value, which a reader would find first',
      () => signed.replace('</ds:SignatureValue>', `${FORGED_TOTAL}</ds:SignatureValue>`),
      /signature value contains elements/,
    ],
    [
      'another total beside the certificate',
      () => signed.replace('</ds:X509Data>', `${FORGED_TOTAL}</ds:X509Data>`),
      /not part of a signature/,
    ],
    [
      'another total in a signature element beside the certificate',
      () => signed.replace('</ds:X509Data>', `<ds:X509CRL>${FORGED_TOTAL}</ds:X509CRL></ds:X509Data>`),
      /not part of a signature/,
    ],
    [
      'an element in the certificate',
      () => signed.replace('</ds:X509Certificate>', '<ds:X509CRL></ds:X509CRL></ds:X509Certificate>'),
      /must contain only text/,
    ],
    [
      'text between the parts of the signature',
      () => signed.replace('<ds:KeyInfo>', 'text<ds:KeyInfo>'),
      /nothing else/,
    ],
    [
      'a certificate by URL',
      () =>
        signed.replace(
          /<ds:X509Data>.*<\/ds:X509Data>/,
          '<ds:RetrievalMethod URI="http://127.0.0.1:1/"></ds:RetrievalMethod>',
        ),
      /nothing else/,
    ],
    [
      'unsigned properties',
      () =>
        signed.replace(
          '</xades:QualifyingProperties>',
          '<xades:UnsignedProperties></xades:UnsignedProperties></xades:QualifyingProperties>',
        ),
      /nothing else/,
    ],
    [
      'a duplicate of the properties’ Id',
      () => signed.replace('<cbc:UUID', '<cbc:UUID Id="signature-properties"'),
      /Two elements of the document/,
    ],
    [
      'a second extension',
      () => signed.replace('</ext:UBLExtension>', '</ext:UBLExtension><ext:UBLExtension></ext:UBLExtension>'),
      /must contain exactly one UBLExtension/,
    ],
    [
      'properties of another signature',
      () => signed.replace('Target="#signature"', 'Target="#other"'),
      /do not refer to the signature/,
    ],
    [
      'another root',
      () => signed.replace('<Invoice ', '<Order ').replace('</Invoice>', '</Order>'),
      /not a UBL 2.1 invoice/,
    ],
    [
      'a root of another namespace',
      () => signed.replace('schema:xsd:Invoice-2', 'schema:xsd:Invoice-3'),
      /not a UBL 2.1 invoice/,
    ],
    ['text that is not XML', () => 'hello', /not well-formed|not a UBL/],
    ['nothing', () => '', /not well-formed|not a UBL/],
    ['elements that do not close', () => signed.slice(0, -3), /not well-formed/],
    ['a control character', () => signed.replace('>123.45<', '>123.45\u0001<'), /character that XML does not allow/],
    [
      'a character reference that XML does not allow',
      () => signed.replace('>123.45<', '>123.45&#1;<'),
      /character that XML does not allow/,
    ],
    ['an entity of its own', () => signed.replace('>123.45<', '>&total;<'), /refers to an entity/],
    ['UTF-16', () => Buffer.from(`\ufeff${signed}`, 'utf16le'), /not UTF-8/],
    ['bytes that are not UTF-8', () => Buffer.from(signed.replace('>123.45<', '>é<'), 'latin1'), /not UTF-8/],
  ])('is refused: %s', async (_what, change, reason) => {
    expect(await verify(change())).toMatchObject({
      valid: false,
      failed: 'structure',
      reason: expect.stringMatching(reason),
    });
  });

  test.each([
    [
      'only a part of the document',
      (info: string) => info.replace('URI=""', 'URI="#part"'),
      /not to the whole document/,
    ],
    [
      'the document without canonicalization',
      (info: string) => info.replace(/(enveloped-signature"><\/ds:Transform>)<ds:Transform.*?<\/ds:Transform>/, '$1'),
      /Transform/,
    ],
    [
      'an XPath filter',
      (info: string) =>
        info.replace(
          '"http://www.w3.org/2000/09/xmldsig#enveloped-signature"',
          '"http://www.w3.org/TR/1999/REC-xpath-19991116"',
        ),
      /must be .*enveloped/,
    ],
    [
      'inclusive prefixes',
      (info: string) => info.replace('xml-exc-c14n#"></ds:Transform>', 'xml-exc-c14n#"><x></x></ds:Transform>'),
      /without parameters/,
    ],
    [
      'SHA-1',
      (info: string) =>
        info.replace('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
      /must be .*sha256/,
    ],
    ['no properties', (info: string) => info.replace(/<ds:Reference Type.*?<\/ds:Reference>/, ''), /nothing else/],
    [
      'the properties with another type',
      (info: string) => info.replace('01903#SignedProperties', '01903#Other'),
      /not to the signed properties/,
    ],
    [
      'a document elsewhere',
      (info: string) => info.replace('URI=""', 'URI="http://127.0.0.1:1/"'),
      /not to the whole document/,
    ],
    [
      'the document by another name',
      (info: string) => info.replace('URI=""', 'URI="#xpointer(/)"'),
      /not to the whole document/,
    ],
    [
      'two hundred transforms',
      (info: string) =>
        info.replace(/(<ds:Transform Algorithm="[^"]*enveloped.*?<\/ds:Transform>)/, (all) => all.repeat(200)),
      /nothing else/,
    ],
    [
      'a third reference',
      (info: string) => info.replace(/(<ds:Reference Type.*?<\/ds:Reference>)/, '$1$1'),
      /nothing else/,
    ],
  ])('is refused although it is correctly signed: %s', async (_what, info, reason) => {
    expect(await verify(forge(identity, { info }))).toMatchObject({
      valid: false,
      failed: 'structure',
      reason: expect.stringMatching(reason),
    });
  });
});

describe('a document that has the same digest as another one in xmldsigjs’ canonicalization', () => {
  const CAC = 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2';
  const LINE = `<cac:InvoiceLine xmlns:cac="${CAC}">`;
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&apos;');

  /**
   * The namespace is written unescaped, so it hides everything between the start tags of the first and the second line.
   */
  function swallowed(): string {
    const first = signed.indexOf(LINE);
    const second = signed.indexOf(LINE, first + 1) + LINE.length;
    const namespace = signed.slice(first, second).slice('<cac:InvoiceLine xmlns:cac="'.length, -'">'.length);
    return `${signed.slice(0, first)}<cac:InvoiceLine xmlns:cac='${escaped(namespace)}'>${signed.slice(second)}`;
  }
  const put = (attributes: string) => signed.replace(LINE, `<cac:InvoiceLine ${attributes}>`);

  test.each([
    ['a line that is hidden in a namespace', swallowed],
    ['a short quote in a namespace', () => put(`xmlns:cac='${CAC}" a="'`)],
    ['a reference in a namespace', () => put(`xmlns:cac="${CAC}&quot; a=&quot;"`)],
    ['an attribute that looks like a declaration', () => put(`xmlns:cac="${CAC}" xmlns:axmlns="urn:x" axmlns:y="z"`)],
    ['a line of another namespace', () => put(`xmlns:cac\u00e9="${CAC}" xmlns:cac="urn:other"`)],
    ['a reserved prefix', () => put(`xmlns:cac="${CAC}" xmlns:xmlns="${CAC}"`)],
    ['an empty namespace', () => put(`xmlns:cac="${CAC}" xmlns=""`)],
  ])('is refused: %s', async (_what, change) => {
    const changed = change();
    expect(changed).not.toBe(signed);
    const verification = await verify(changed);
    expect(verification.valid ? 'valid' : verification.failed).toMatch(/^(structure|limits)$/);
  });
});

describe('a document that would delay others', () => {
  const put = (content: string) => signed.replace('<cbc:UUID', () => `${content}<cbc:UUID`);
  const times = (count: number, each: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => each(n)).join('');
  const nested = (count: number, start: (n: number) => string) => times(count, start) + '</a>'.repeat(count);
  const MEBIBYTE = 1024 * 1024;

  test.each([
    ['31 MB', () => put(`<a>${'x'.repeat(31_000_000)}</a>`), /too large: more than 8 MiB/],
    ['400,000 levels', () => put(nested(400_000, () => '<a>')), /too deeply: more than 64 levels/],
    ['400,000 levels that do not close', () => '<a>'.repeat(400_000), /too deeply/],
    [
      '1 MiB of nested namespaces',
      () => put(nested(30_000, (n) => `<a xmlns:p${n}="urn:${n}">`)),
      /too many namespaces/,
    ],
    [
      'thousands of namespaces around thousands of elements',
      () =>
        put(
          nested(50, (n) => `<a${times(60, (k) => ` xmlns:p${n}_${k}="urn:${k}"`)}>`).replace(
            '</a>',
            `${'<a/>'.repeat(200_000)}</a>`,
          ),
        ),
      /too many namespaces/,
    ],
    [
      'ten thousand namespaces on one element',
      () => put(`<a${times(10_000, (n) => `\n xmlns:n${n} = 'urn:${n}'`)}/>`),
      /too many (attributes|namespaces)/,
    ],
    [
      '65 attributes of one element',
      () => put(`<a${times(65, (n) => ` a${n}=">"`)}/>`),
      /too many attributes: more than 64/,
    ],
    [
      '200,000 attributes',
      () => put(`<a>${`<a${times(50, (n) => ` a${n}=""`)}/>`.repeat(4000)}</a>`),
      /too many attributes/,
    ],
    ['250,000 elements', () => put(`<a>${'<a/>'.repeat(250_000)}</a>`), /too many elements/],
    ['a name of 1 MiB', () => put(`<${'a'.repeat(MEBIBYTE)}/>`), /name in the document is too long/],
    [
      'a namespace of 1 MiB',
      () => put(`<a xmlns:p="${'a'.repeat(MEBIBYTE)}"/>`),
      /namespace of the document is too long/,
    ],
    [
      'seventeen certificates',
      () => signed.replace(/<ds:X509Certificate>.*<\/ds:X509Certificate>/, (all) => all.repeat(17)),
      /more than 16 certificates/,
    ],
    [
      'a certificate of 1 MiB',
      () => signed.replace('<ds:X509Certificate>', (tag) => tag + 'MIIB'.repeat(MEBIBYTE / 4)),
      /X509Certificate is too long/,
    ],
    [
      'thousands of signed properties',
      () => signed.replace('<xades:DataObjectFormat', (tag) => '<xades:x></xades:x>'.repeat(5000) + tag),
      /signature has more than 1000 elements/,
    ],
    ['100,000 comments', () => put('<!---->'.repeat(100_000)), /comment/],
    ['100,000 instructions', () => put('<?a?>'.repeat(100_000)), /processing instruction/],
    ['an unterminated tag of 1 MiB', () => put(`<a${' b="c'.repeat(MEBIBYTE / 6)}`), /not well-formed/],
    ['1 MiB of incomplete references', () => put('&'.repeat(MEBIBYTE)), /refers to an entity/],
  ])('is refused before it is parsed: %s', async (_what, change, reason) => {
    const bytes = Buffer.from(change());
    const start = process.cpuUsage();
    const verification = await verifySignedDocument(bytes);
    const { user, system } = process.cpuUsage(start);
    expect(verification).toMatchObject({ valid: false, reason: expect.stringMatching(reason) });
    // Each takes milliseconds on an idle machine; without the limits they would take from 20 s to minutes.
    expect((user + system) / 1e6).toBeLessThan(5);
  });

  test('is not one of this service: the longest invoice is within the limits', async () => {
    const lines = sampleLines(1000).map((line) => ({ ...line, description: '&'.repeat(500) }));
    const longest = await signedInvoice(identity, sampleInvoice({ lines }));
    expect(longest.length).toBeGreaterThan(3_500_000);
    expect(await verifySignedDocument(longest)).toMatchObject({ valid: true });
  });
});

describe('the certificate', () => {
  test('of a correct signature made without the product’s signer is accepted', async () => {
    expect(await verify(forge(identity))).toMatchObject({ valid: true });
  });

  test('must be the one whose digest was signed', async () => {
    const other = identityOf(ecKey('P-256'));
    // Another key's signature with this certificate, and this key's signature with another certificate.
    expect(await verify(forge(other, { named: identity.certificateChain }))).toMatchObject({
      valid: false,
      failed: 'certificate',
    });
    const swapped = signed.replace(
      /(<ds:X509Certificate>)[^<]*/,
      `$1${other.certificateChain[0]!.raw.toString('base64')}`,
    );
    expect(await verify(swapped)).toMatchObject({
      valid: false,
      failed: 'certificate',
      reason: expect.stringContaining('not the one'),
    });
  });

  test('must belong to the signing key, even if other certificates are present', async () => {
    const other = identityOf(ecKey('P-256'));
    const chain = [...identity.certificateChain, ...other.certificateChain];
    expect(await verify(forge({ privateKey: other.privateKey, certificateChain: chain }))).toMatchObject({
      valid: false,
      failed: 'signature',
    });
    expect(await verify(forge({ privateKey: identity.privateKey, certificateChain: chain }))).toMatchObject({
      valid: true,
    });
  });

  test.each([
    ['not valid yet', identityOf(ecKey('P-256'), { from: new Date('2026-11-21T10:20:31Z') }), /is valid from/],
    ['out of its validity', identityOf(ecKey('P-256'), { to: new Date('2026-11-21T10:20:29Z') }), /is valid from/],
    ['not for signing', identityOf(ecKey('P-256'), { usage: KeyUsageFlags.keyAgreement }), /key usage/],
    ['of a weak key', identityOf(rsaKey(1024)), /neither RSA of 2048/],
  ])('must not be %s', async (_what, bad, reason) => {
    expect(await verify(forge(bad))).toMatchObject({
      valid: false,
      failed: 'certificate',
      reason: expect.stringMatching(reason),
    });
  });

  test('must match the signature algorithm', async () => {
    expect(await verify(forge(identity, { method: RSA_SHA256 }))).toMatchObject({ valid: false, failed: 'signature' });
  });

  test('must be present', async () => {
    const without = signed.replace(/<ds:X509Certificate>.*<\/ds:X509Certificate>/, '');
    expect(await verify(without)).toMatchObject({ valid: false, failed: 'certificate' });
  });
});
