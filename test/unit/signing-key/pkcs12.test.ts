import { spawnSync } from 'node:child_process';
import { createHmac, createPrivateKey, pbkdf2Sync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Integer, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import { ContentInfo, PFX } from 'pkijs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mayAuthenticate } from '../../../src/adapters/signing-key/certificate-findings.ts';
import { loadPkcs12 } from '../../../src/adapters/signing-key/pkcs12.ts';
import { openPkcs12 } from '../../../src/adapters/signing-key/pkcs12-contents.ts';
import { longestTurn } from '../../support/longest-turn.ts';
import { hasTool } from '../../support/tools.ts';
import { identityOf } from '../xades/identities.ts';

const PASSPHRASE = 'sécret';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkcs12-'));
});
afterAll(() => rm(folder, { recursive: true }));

function openssl(...options: string[]): void {
  const { status, stderr } = spawnSync('openssl', options, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** A certificate for `own.key`, which is made with the first one. */
function certificate(name: string, ...options: string[]): void {
  openssl('req', '-x509', '-key', 'own.key', '-out', `${name}.crt`, '-subj', `/CN=${name}`, ...options);
}

/** `it.p12` with the key and these certificates, in this order. */
async function bundle(names: readonly string[], ...options: string[]): Promise<string> {
  const pems = await Promise.all(names.map((name) => readFile(join(folder, `${name}.crt`), 'utf8')));
  await writeFile(join(folder, 'all.crt'), pems.join(''));
  const pass = ['-passout', `pass:${PASSPHRASE}`];
  openssl('pkcs12', '-export', '-inkey', 'own.key', '-in', 'all.crt', '-out', 'it.p12', ...pass, ...options);
  return join(folder, 'it.p12');
}

describe.skipIf(!hasTool('openssl'))('a PKCS #12 file', () => {
  beforeAll(() => {
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'own.key');
    certificate('own', '-days', '90');
  });

  test.each([
    ['no MAC', ['-nomac']],
    ['a MAC with SHA-224', ['-macalg', 'sha224']],
    ['a MAC with SHA-1', ['-macalg', 'sha1']],
    ['a MAC with SHA-512', ['-macalg', 'sha512']],
    ['AES-128', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC']],
    ['3DES by PBES2', ['-keypbe', 'DES-EDE3-CBC', '-certpbe', 'DES-EDE3-CBC']],
    ['certificates in the clear', ['-certpbe', 'NONE']],
  ])('with %s is opened, and a wrong passphrase is told as one', async (_, options) => {
    const file = await bundle(['own'], ...options);
    const { privateKey, certificateChain } = await loadPkcs12(file, PASSPHRASE);
    expect(certificateChain[0]?.checkPrivateKey(privateKey)).toBe(true);
    await expect(loadPkcs12(file, 'wrong')).rejects.toThrow(/with this passphrase\. Check the passphrase\.$/);
  });

  test('with PBMAC1 (RFC 9579) is opened', async () => {
    const file = await bundle(['own']);
    await writeFile(file, withPbmac1(await readFile(file), PASSPHRASE));
    expect((await loadPkcs12(file, PASSPHRASE)).certificateChain[0]?.subject).toBe('CN=own');
    await expect(loadPkcs12(file, 'wrong')).rejects.toThrow(/Check the passphrase/);
  });

  test('with an old encryption is told as what it is', async () => {
    const file = await bundle(['own'], '-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1');
    await expect(loadPkcs12(file, PASSPHRASE)).rejects.toThrow(/an old encryption \(RC2, 3DES\) that is not supported/);
  });

  test('with many iterations does not hold the loop', async () => {
    const file = await bundle(['own'], '-iter', '100000');
    const octets = new Uint8Array(await readFile(file));
    const onTheLoop = await longestTurn(async () => void openPkcs12(octets, PASSPHRASE));
    expect(await longestTurn(() => loadPkcs12(file, PASSPHRASE))).toBeLessThan(onTheLoop / 3);
  });

  test('with too many iterations is refused: those of all its keys count together', async () => {
    // A number of iterations of three octets, and none of a MAC, which would cover what is changed below.
    const file = await bundle(['own'], '-iter', '100000', '-nomac', '-certpbe', 'AES-256-CBC');
    const octets = await readFile(file);
    expect((await loadPkcs12(file, PASSPHRASE)).certificateChain[0]?.subject).toBe('CN=own');
    // 5,000,000 by HMAC with SHA-1, which makes a key of 32 octets in two blocks: as many as one file may ask for.
    const last = octets.lastIndexOf(Buffer.from('02030186a0', 'hex'));
    octets.write('02034c4b40', last, 'hex');
    octets.write('0207', octets.indexOf(Buffer.from('0209', 'hex'), last), 'hex');
    await writeFile(file, octets);
    await expect(loadPkcs12(file, PASSPHRASE)).rejects.toThrow(/more than 10,000,000 iterations/);
  });

  test('with several certificates for its key gives the one that may sign and is valid now', async () => {
    const privateKey = createPrivateKey(await readFile(join(folder, 'own.key')));
    const expired = identityOf(privateKey, { from: new Date('2020-01-01'), to: new Date('2021-01-01') });
    await writeFile(join(folder, 'expired.crt'), String(expired.certificateChain[0]));
    certificate('cipher', '-days', '900', '-addext', 'keyUsage=critical,keyEncipherment');
    const file = await bundle(['expired', 'cipher', 'own']);
    expect((await loadPkcs12(file, PASSPHRASE)).certificateChain[0]?.subject).toBe('CN=own');
  });

  test('gives a TLS client the certificate that is one of clients', async () => {
    certificate('seal', '-days', '900', '-addext', 'keyUsage=critical,nonRepudiation');
    certificate('server', '-days', '900', '-addext', 'extendedKeyUsage=serverAuth');
    certificate('client', '-days', '30', '-addext', 'extendedKeyUsage=clientAuth');
    const file = await bundle(['seal', 'server', 'client']);
    expect((await loadPkcs12(file, PASSPHRASE, mayAuthenticate)).certificateChain[0]?.subject).toBe('CN=client');
  });
});

/** The file with another MAC: PBKDF2 and HMAC with SHA-256, as OpenSSL 3.4 writes with -pbmac1_pbkdf2. */
function withPbmac1(file: Buffer, passphrase: string): Buffer {
  const pfx = PFX.fromBER(new Uint8Array(file));
  const safe = Buffer.from((pfx.authSafe.content as OctetString).getValue());
  const salt = Buffer.alloc(16, 7);
  const mac = createHmac('sha256', pbkdf2Sync(passphrase, salt, 3000, 32, 'sha256'))
    .update(safe)
    .digest();
  const sequence = (...value: (Sequence | ObjectIdentifier | OctetString | Integer)[]) => new Sequence({ value });
  const oid = (value: string) => new ObjectIdentifier({ value });
  const octets = (valueHex: Buffer) => new OctetString({ valueHex: new Uint8Array(valueHex) });
  const hmac = sequence(oid('1.2.840.113549.2.9'));
  const pbkdf2 = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(octets(salt), new Integer({ value: 3000 }), new Integer({ value: 32 }), hmac),
  );
  const algorithm = sequence(oid('1.2.840.113549.1.5.14'), sequence(pbkdf2, hmac));
  const macData = sequence(
    sequence(algorithm, octets(mac)),
    octets(Buffer.from('NOT USED')),
    new Integer({ value: 1 }),
  );
  const content = new ContentInfo({ contentType: pfx.authSafe.contentType, content: pfx.authSafe.content });
  return Buffer.from(sequence(new Integer({ value: 3 }), content.toSchema() as Sequence, macData).toBER());
}
