import { verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPkcs11Key } from '../../../src/adapters/signing-key/pkcs11-key.ts';
import { parsePkcs11Uri } from '../../../src/adapters/signing-key/pkcs11-uri.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { PIN, type SoftHsm, startSoftHsm, WITHOUT_HSM } from '../../support/soft-hsm.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { ecKey, identityOf, rsaKey, SIGNING_TIME } from '../xades/identities.ts';

describe('a PKCS #11 URI (RFC 7512)', () => {
  test('names library, token, key and PIN', () => {
    expect(
      parsePkcs11Uri('pkcs11:token=a%20b;object=key;id=%00%ff?module-path=/lib/x.so&pin-source=file:///run/pin'),
    ).toEqual({
      modulePath: '/lib/x.so',
      token: 'a b',
      object: 'key',
      id: Buffer.from([0, 255]),
      pin: { file: '/run/pin' },
    });
    expect(parsePkcs11Uri('pkcs11:object=k?module-path=/x&pin-value=1%262')).toMatchObject({
      token: null,
      id: null,
      pin: { value: '1&2' },
    });
  });

  test.each([
    ['https://x', /begin with pkcs11:/],
    ['pkcs11:object=k?pin-value=1', /module-path/],
    ['pkcs11:token=t?module-path=/x&pin-value=1', /must name the key/],
    ['pkcs11:object=k?module-path=/x', /pin-source=file/],
    ['pkcs11:object=k?module-path=/x&pin-value=1&pin-source=file:/y', /pin-source=file/],
    ['pkcs11:objekt=k?module-path=/x&pin-value=1', /has objekt, which is not one of/],
    ['pkcs11:object=k;object=l?module-path=/x&pin-value=1', /object twice/],
  ])('%s is refused', (uri, reason) => {
    expect(() => parsePkcs11Uri(uri)).toThrow(reason);
  });
});

describe.skipIf(WITHOUT_HSM !== null)(`a key in an HSM${WITHOUT_HSM === null ? '' : ` (${WITHOUT_HSM})`}`, () => {
  let hsm: SoftHsm;
  const keys = { p256: identityOf(ecKey('P-256')), rsa: identityOf(rsaKey(2048)) } as const;
  const other = identityOf(ecKey('P-256'));
  beforeAll(async () => {
    hsm = await startSoftHsm();
    await hsm.importKey('p256', '01', keys.p256.privateKey);
    await hsm.importCertificate('p256', '01', keys.p256.certificateChain[0]!);
    await hsm.importKey('rsa', '02', keys.rsa.privateKey);
    await hsm.importCertificate('rsa', '02', keys.rsa.certificateChain[0]!);
    await hsm.importKey('bare', '03', ecKey('P-256'));
    await hsm.importKey('twins', '04', ecKey('P-256'));
    await hsm.importKey('twins', '05', ecKey('P-256'));
  });
  afterAll(() => hsm.close());
  const load = (label: string) => loadPkcs11Key(parsePkcs11Uri(hsm.uri(label)));

  // One log-in serves all sessions of a process, so a wrong PIN is noticed only before the first log-in.
  test('reports a wrong PIN', async () => {
    const uri = hsm.uri('p256').replace(/pin-source=.*/, `pin-value=${PIN}0`);
    await expect(loadPkcs11Key(parsePkcs11Uri(uri))).rejects.toThrow(/PIN/);
  });

  test.each(['p256', 'rsa'] as const)('signs documents that verify: %s', async (kind) => {
    const key = await load(kind);
    expect(key.certificateChain[0].fingerprint256).toBe(keys[kind].certificateChain[0]?.fingerprint256);
    expect(key.testOnly).toBe(false);
    const signed = await createDocumentSigner(key).sign(unsignedDocument(writeInvoice(sampleInvoice())), SIGNING_TIME);
    expect(await verifySignedDocument(signed)).toMatchObject({ valid: true });
  });

  test('makes concurrent signatures, each over its own octets', async () => {
    const key = await load('p256');
    const octets = Array.from({ length: 64 }, (_, index) => Buffer.from(`document ${index}`));
    const signatures = await Promise.all(octets.map((each) => key.sign(each)));
    const { publicKey } = key.certificateChain[0];
    for (const [index, signature] of signatures.entries()) {
      expect(verify('sha256', octets[index]!, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    }
  });

  test('takes its certificate from a file when the token has none, and refuses a wrong one', async () => {
    await expect(load('bare')).rejects.toThrow(/holds no certificate/);
    await expect(loadPkcs11Key(parsePkcs11Uri(hsm.uri('p256')), other.certificateChain)).rejects.toThrow(
      /not that of the HSM's private key/,
    );
    const key = await loadPkcs11Key(parsePkcs11Uri(hsm.uri('p256')), keys.p256.certificateChain);
    expect((await key.sign(Buffer.from('x'))).length).toBe(64);
  });

  test.each([
    ['no such token', (uri: string) => uri.replace('token=fatoura', 'token=none'), /exactly one token none.*fatoura/],
    ['no such key', (uri: string) => uri.replace('object=p256', 'object=none'), /no private key/],
    ['two such keys', (uri: string) => uri.replace('object=p256', 'object=twins'), /several private keys/],
    [
      'no such library',
      (uri: string) => uri.replace(/module-path=[^&]*/, 'module-path=/none.so'),
      /none\.so, cannot be loaded/,
    ],
  ])('reports the fault: %s', async (_what, change, reason) => {
    await expect(loadPkcs11Key(parsePkcs11Uri(change(hsm.uri('p256'))))).rejects.toThrow(reason);
  });
});
