import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { constants, inflateSync } from 'node:zlib';
import { fromBER } from 'asn1js';
import * as pkijs from 'pkijs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPdfSigner, type PdfSigner } from '../../../src/adapters/pades/pdf-signer.ts';
import { createPdfRenderer } from '../../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { SigningFailed } from '../../../src/domain/invoice/signing-key.ts';
import { hasTool } from '../../support/tools.ts';
import { CHROMIUM_CACHE, line, printed, textOfPages } from '../pdf/support.ts';
import { ecKey, identityOf, rsaKey, SIGNING_TIME } from '../xades/identities.ts';
import { detached, inFolder, pdfsig, statedSignature } from './support.ts';

const hasPdfsig = hasTool('pdfsig');
const hasPdfdetach = hasTool('pdfdetach');
const hasPdftotext = hasTool('pdftotext');
const hasOpenssl = hasTool('openssl');

const FACTS = { title: 'Facture 2026-000123 – Café & Fils <شركة>', at: SIGNING_TIME };
const XML = Buffer.from(`<?xml version="1.0"?><Invoice>${'é<a/>'.repeat(3_000)}</Invoice>\r\n`);
const ATTACHMENT = {
  name: 'facture-2026-000123.xml',
  description: 'UBL (signé) \\ شركة',
  relationship: 'Alternative' as const,
  contentType: 'application/xml',
  content: XML,
};

const IDENTITIES = {
  'RSA-2048': identityOf(rsaKey(2048)),
  'RSA-3072': identityOf(rsaKey(3072)),
  'P-256': identityOf(ecKey('prime256v1')),
};

describe('createPdfSigner', () => {
  let drawn: Uint8Array;
  let long: Uint8Array;
  const signers: PdfSigner[] = [];
  beforeAll(async () => {
    const renderer = createPdfRenderer({ cacheDir: CHROMIUM_CACHE, timeLimit: 60_000 });
    try {
      drawn = await renderer.render(printed());
      const lines = Array.from({ length: 150 }, (_, index) => line(`Article ${index + 1}`, 1, 100 + index, 20));
      long = await renderer.render(printed({ lines }));
    } finally {
      await renderer.close();
    }
  });
  afterAll(() => Promise.all(signers.map((signer) => signer.close())));

  function signer(identity: keyof typeof IDENTITIES) {
    const made = createPdfSigner();
    signers.push(made);
    const key = softwareKey(IDENTITIES[identity]);
    type Rest = Parameters<PdfSigner['sign']> extends [unknown, ...infer R] ? R : never;
    return { sign: (...rest: Rest) => made.sign(key, ...rest) };
  }

  describe.each(Object.keys(IDENTITIES) as (keyof typeof IDENTITIES)[])('with %s', (identity) => {
    let pdf: Uint8Array;
    beforeAll(async () => {
      pdf = await signer(identity).sign(drawn, FACTS, [ATTACHMENT]);
    });

    test('signs the whole file, verified by PKI.js', async () => {
      const stated = statedSignature(pdf);
      expect(stated.coversAll).toBe(true);
      expect(await verified(stated.content, stated.cms)).toBe(true);
      const changed = Buffer.from(stated.content);
      changed[1_000]! ^= 1;
      expect(await verified(changed, stated.cms)).toBe(false);
    });

    test('has exactly the attributes of PAdES baseline B-B', () => {
      const attributes = signerInfoOf(statedSignature(pdf).cms).signedAttrs!.attributes.map(({ type }) => type);
      // contentType, messageDigest, signingCertificateV2; the signing time is in the PDF.
      expect(attributes.toSorted()).toEqual([
        '1.2.840.113549.1.9.16.2.47',
        '1.2.840.113549.1.9.3',
        '1.2.840.113549.1.9.4',
      ]);
      const text = Buffer.from(pdf).toString('latin1');
      expect(text).toMatch(/\/SubFilter\/ETSI\.CAdES\.detached\/M \(D:20261121102030Z\)/);
    });

    test.skipIf(!hasOpenssl)('is a CAdES signature according to openssl', () => {
      const { content, cms } = statedSignature(pdf);
      const verify = (signed: Uint8Array) =>
        inFolder({ content: signed, cms, 'ca.pem': String(IDENTITIES[identity].certificateChain[0]) }, (folder) => {
          const file = (name: string) => join(folder, name);
          const files = [
            '-in',
            file('cms'),
            '-content',
            file('content'),
            '-CAfile',
            file('ca.pem'),
            '-out',
            file('out'),
          ];
          const options = ['-inform', 'DER', '-binary', '-cades', '-purpose', 'any'];
          return spawnSync('openssl', ['cms', '-verify', ...options, ...files], { encoding: 'utf8' }).stderr;
        });
      expect(verify(content)).toMatch(/Verification successful/);
      expect(verify(Buffer.concat([content, Buffer.of(10)]))).not.toMatch(/Verification successful/);
    });

    test.skipIf(!hasPdfsig)('is valid according to pdfsig, which detects a changed byte', () => {
      const verdict = pdfsig(pdf);
      expect(verdict).toContain('Signature is Valid');
      expect(verdict).toContain('Total document signed');
      expect(verdict).toContain('Signing Time: Nov 21 2026 10:20:30');
      const changed = Buffer.from(pdf);
      changed[changed.indexOf('stream\n') + 40]! ^= 1;
      expect(pdfsig(changed)).toContain('Digest Mismatch');
      expect(pdfsig(Buffer.concat([pdf, Buffer.from('% more\n')]))).not.toContain('Total document signed');
    });
  });

  test.skipIf(!hasPdfdetach)('contains the attached file byte for byte', async () => {
    const { name, content } = detached(await signer('P-256').sign(drawn, FACTS, [ATTACHMENT]));
    expect(name).toBe(ATTACHMENT.name);
    expect(content.equals(XML)).toBe(true);
  });

  test.skipIf(!hasPdfdetach)('attaches several files, each with its relationship, sorted by name', async () => {
    const receipt = { ...ATTACHMENT, name: 'a.receipt.xml', relationship: 'Supplement' as const };
    const pdf = await signer('P-256').sign(drawn, FACTS, [ATTACHMENT, receipt]);
    const list = inFolder({ 'it.pdf': pdf }, (folder) =>
      spawnSync('pdfdetach', ['-list', join(folder, 'it.pdf')], { encoding: 'utf8' }),
    );
    expect(list.stdout).toMatch(/^2 embedded files\n1: a\.receipt\.xml\n2: facture-2026-000123\.xml\n$/);
    const text = inflated(pdf);
    expect(text.match(/\/AFRelationship\/\w+/g)?.sort()).toEqual([
      '/AFRelationship/Alternative',
      '/AFRelationship/Supplement',
    ]);
    expect(text).toMatch(/\/AF ?\[\d+ 0 R \d+ 0 R\]/);
  });

  test.skipIf(!hasPdftotext)('keeps the printed text on every page', async () => {
    const pdf = await signer('P-256').sign(long, FACTS, [ATTACHMENT]);
    const pages = textOfPages(pdf);
    expect(pages).toEqual(textOfPages(long));
    expect(pages.length).toBeGreaterThan(3);
    const info = inFolder({ 'it.pdf': pdf }, (folder) =>
      execFileSync('pdfinfo', ['-enc', 'UTF-8', join(folder, 'it.pdf')], { encoding: 'utf8' }),
    );
    expect(info).toContain(FACTS.title);
    expect(info).toMatch(/Tagged: +yes/);
    expect(info).toMatch(/PDF version: +1\.7/);
  });

  test('packs the structure of the printed file, so that the result is hardly larger', async () => {
    const pdf = await signer('P-256').sign(drawn, FACTS, [ATTACHMENT]);
    expect(pdf.length).toBeLessThan(35_000);
  });

  test('declares PDF/A-3A, PDF/UA-1 and the associated file', async () => {
    const text = Buffer.from(await signer('P-256').sign(drawn, FACTS, [ATTACHMENT])).toString('latin1');
    expect(text).toContain('<pdfaid:part>3</pdfaid:part>');
    expect(text).toContain('<pdfaid:conformance>A</pdfaid:conformance>');
    expect(text).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(text).toContain(Buffer.from('Café &amp; Fils &lt;شركة&gt;').toString('latin1'));
    expect(text).toMatch(/\/ID\[<[0-9A-F]{32}><[0-9A-F]{32}>\]/);
  });

  test('two documents of the same invoice differ in their identifiers', async () => {
    const it = signer('P-256');
    const ids = await Promise.all(
      [1, 2].map(
        async () => /\/ID\[<\w+>/.exec(Buffer.from(await it.sign(drawn, FACTS, [ATTACHMENT])).toString('latin1'))?.[0],
      ),
    );
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('refuses to sign outside the validity of the certificate', async () => {
    const late = { ...FACTS, at: new Date('2037-01-01T00:00:00Z') };
    await expect(signer('P-256').sign(drawn, late, [ATTACHMENT])).rejects.toThrow(SigningFailed);
  });

  test('refuses a file of unexpected structure, and keeps working', async () => {
    const it = signer('P-256');
    await expect(it.sign(Buffer.from('%PDF-1.7 stand-in'), FACTS, [ATTACHMENT])).rejects.toThrow(/cross-reference/);
    await expect(it.sign(Buffer.from(drawn).subarray(0, 5_000), FACTS, [ATTACHMENT])).rejects.toThrow(
      /cross-reference/,
    );
    expect((await it.sign(drawn, FACTS, [ATTACHMENT])).length).toBeGreaterThan(10_000);
  });
});

function signerInfoOf(cms: Buffer): pkijs.SignerInfo {
  return signedDataOf(cms).signerInfos[0]!;
}

function signedDataOf(cms: Buffer): pkijs.SignedData {
  const { result, offset } = fromBER(cms);
  expect(offset).toBe(cms.length);
  return new pkijs.SignedData({ schema: new pkijs.ContentInfo({ schema: result }).content });
}

async function verified(content: Buffer, cms: Buffer): Promise<boolean> {
  return signedDataOf(cms)
    .verify({ signer: 0, data: new Uint8Array(content).buffer, checkChain: false })
    .catch(() => false);
}

/** The text of a PDF, with that of its compressed streams. */
function inflated(pdf: Uint8Array): string {
  const text = Buffer.from(pdf).toString('latin1');
  const streams = [...text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)].map(({ index, 0: { length } }) => {
    try {
      return inflateSync(pdf.subarray(index + length), { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
    } catch {
      return '';
    }
  });
  return text + streams.join('\n');
}
