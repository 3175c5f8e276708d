import { verify } from 'node:crypto';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPkcs11Key } from '../../../src/adapters/signing-key/pkcs11-key.ts';
import { parsePkcs11Uri } from '../../../src/adapters/signing-key/pkcs11-uri.ts';
import {
  type Handle,
  loadPkcs11Js,
  type Pkcs11Js,
  type Pkcs11Module,
} from '../../../src/adapters/signing-key/pkcs11js.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { createDocumentSigner } from '../../../src/adapters/xades/document-signer.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { SetupError } from '../../../src/domain/setup-error.ts';
import { PIN, type SoftHsm, startSoftHsm, WITHOUT_HSM } from '../../support/soft-hsm.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { ecKey, identityOf, rsaKey, SIGNING_TIME } from '../xades/identities.ts';

describe('a PKCS #11 URI (RFC 7512)', () => {
  test('names library, token, key and PIN', () => {
    expect(
      parsePkcs11Uri('pkcs11:token=a%20b;object=key;id=%00%ff?module-path=/lib/x.so&pin-source=file:///run/pin'),
    ).toEqual({
      modulePath: '/lib/x.so',
      where: new Map([['token', 'a b']]),
      object: 'key',
      id: Buffer.from([0, 255]),
      pin: { file: '/run/pin' },
    });
    expect(parsePkcs11Uri('pkcs11:object=k?module-path=/x&pin-value=1%262')).toMatchObject({
      where: new Map(),
      id: null,
      pin: { value: '1&2' },
    });
  });

  test('is taken as p11tool prints it', () => {
    const printed =
      'pkcs11:model=SoftHSM%20v2;manufacturer=SoftHSM%20project;serial=1b4c2a3d4e5f6071;token=fatoura;id=%01;object=p256;type=private';
    expect(parsePkcs11Uri(`${printed}?module-path=/x&pin-value=1`)).toMatchObject({
      where: new Map([
        ['token', 'fatoura'],
        ['manufacturer', 'SoftHSM project'],
        ['model', 'SoftHSM v2'],
        ['serial', '1b4c2a3d4e5f6071'],
      ]),
      object: 'p256',
      id: Buffer.from([1]),
    });
  });

  test.each([
    ['pkcs11:object=k;type=secret-key?module-path=/x&pin-value=1', /type=private/],
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

/** The library with log-ins that are counted, and tokens that also have these flags and to which nobody is logged in. */
function recording(library: Pkcs11Js, flags = 0): Pkcs11Js & { logins: number } {
  // Its constants are not enumerable.
  const recorded = Object.assign(Object.create(library) as Pkcs11Js, { logins: 0 });
  function recordingModule(): Pkcs11Module {
    const module = new library.PKCS11();
    const { C_Login, C_GetTokenInfo } = module;
    return Object.assign(module, {
      C_Login(...given: Parameters<Pkcs11Module['C_Login']>) {
        recorded.logins += 1;
        C_Login.apply(module, given);
      },
      C_GetTokenInfo(slot: Handle) {
        const info = C_GetTokenInfo.call(module, slot);
        return { ...info, flags: (info.flags & ~library.CKF_USER_PIN_COUNT_LOW) | flags };
      },
      C_GetSessionInfo: () => ({ state: 0 }),
    });
  }
  return Object.assign(recorded, { PKCS11: recordingModule as unknown as Pkcs11Js['PKCS11'] });
}

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
    const library = recording(await loadPkcs11Js());
    const first = await loadPkcs11Key(parsePkcs11Uri(uri), [], { library }).catch((error: unknown) => error);
    expect(first).toBeInstanceOf(SetupError);
    expect((first as Error).message).toMatch(/token fatoura refuses the PIN \(.*CKR_PIN_INCORRECT/);
    // Not even once more: each wrong try brings the token nearer to its lock.
    await expect(loadPkcs11Key(parsePkcs11Uri(uri), [], { library })).rejects.toThrow(/not tried again/);
    expect(library.logins).toBe(1);
  });

  test.each([
    ['CKF_USER_PIN_FINAL_TRY', /one try left, which is not used/],
    ['CKF_USER_PIN_LOCKED', /is locked/],
  ] as const)('uses no PIN where the token says %s', async (flag, reason) => {
    const real = await loadPkcs11Js();
    const library = recording(real, real[flag] | real.CKF_USER_PIN_COUNT_LOW);
    const loading = loadPkcs11Key(parsePkcs11Uri(hsm.uri('p256')), [], { library });
    const error = await loading.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SetupError);
    expect((error as Error).message).toMatch(reason);
    expect(library.logins).toBe(0);
  });

  test('warns that a wrong PIN was tried', async () => {
    const real = await loadPkcs11Js();
    const library = recording(real, real.CKF_USER_PIN_COUNT_LOW);
    const warnings: string[] = [];
    await loadPkcs11Key(parsePkcs11Uri(hsm.uri('p256')), [], { library, onWarning: (text) => warnings.push(text) });
    expect(warnings[0]).toMatch(/a wrong PIN was tried on the token fatoura/);
  });

  test('of several certificates takes the one that may sign and is valid now', async () => {
    const privateKey = ecKey('P-256');
    await hsm.importKey('several', '06', privateKey);
    const certificate = (change: Parameters<typeof identityOf>[1]) =>
      identityOf(privateKey, change).certificateChain[0]!;
    const good = certificate({});
    await hsm.importCertificate('several', '06', certificate({ to: new Date('2026-02-01') }));
    await hsm.importCertificate('several', '06', certificate({ usage: KeyUsageFlags.keyEncipherment }));
    await hsm.importCertificate('several', '06', good);
    await hsm.importCertificate(
      'several',
      '06',
      certificate({ from: new Date('2098-01-01'), to: new Date('2099-01-01') }),
    );
    // By its id alone: the label is also that of the certificates.
    expect((await load('several')).certificateChain[0].fingerprint256).toBe(good.fingerprint256);
    const inFile = [certificate({ to: new Date('2026-02-01') }), other.certificateChain[0]!, good];
    const byFile = await loadPkcs11Key(parsePkcs11Uri(hsm.uri('several')), inFile);
    expect(byFile.certificateChain[0].fingerprint256).toBe(good.fingerprint256);
  });

  test('gives the PIN for each signature to a key that wants it', async () => {
    const { privateKey, certificateChain } = identityOf(ecKey('P-256'));
    await hsm.importCarefulKey('careful', '07', privateKey);
    const key = await loadPkcs11Key(parsePkcs11Uri(hsm.uri('careful')), certificateChain);
    const octets = Array.from({ length: 12 }, (_, index) => Buffer.from(`document ${index}`));
    const signatures = await Promise.all(octets.map((each) => key.sign(each)));
    for (const [index, signature] of signatures.entries()) {
      const { publicKey } = key.certificateChain[0];
      expect(verify('sha256', octets[index]!, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    }
  });

  test('finds its token by all that p11tool prints of it', async () => {
    const uri = hsm
      .uri('p256')
      .replace('token=fatoura', 'model=SoftHSM%20v2;manufacturer=SoftHSM%20project;token=fatoura');
    expect((await loadPkcs11Key(parsePkcs11Uri(uri))).testOnly).toBe(false);
    const elsewhere = parsePkcs11Uri(uri.replace('token=fatoura', 'token=fatoura;serial=0000'));
    await expect(loadPkcs11Key(elsewhere)).rejects.toThrow(
      /exactly one token .*serial=0000\. Tokens: fatoura \(model=SoftHSM v2, serial=/,
    );
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
      /does not match the HSM's private key/,
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
