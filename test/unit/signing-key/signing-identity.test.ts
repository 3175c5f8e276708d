import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadPkcs12 } from '../../../src/adapters/signing-key/pkcs12.ts';
import { loadTestIdentity } from '../../../src/adapters/signing-key/test-identity.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identity-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('the test identity', () => {
  test('is made once, is marked as a test, and is valid for ten years', async () => {
    const { privateKey, certificateChain } = await loadTestIdentity(join(folder, 'data'));
    const [certificate] = certificateChain;
    expect(certificate?.checkPrivateKey(privateKey)).toBe(true);
    expect(certificate?.verify(certificate.publicKey)).toBe(true);
    expect(certificate?.subject).toContain('Fatoura TEST');
    expect(certificate?.ca).toBe(false);
    const years = (certificate!.validToDate.getTime() - certificate!.validFromDate.getTime()) / (365.25 * 86_400_000);
    expect(years).toBeCloseTo(10, 1);
    const again = await loadTestIdentity(join(folder, 'data'));
    expect(again.certificateChain[0]?.fingerprint256).toBe(certificate?.fingerprint256);
    expect(again.privateKey.equals(privateKey)).toBe(true);
  });

  test('is the same for all that start at the same time, in a private file', async () => {
    const identities = await Promise.all(Array.from({ length: 8 }, () => loadTestIdentity(folder)));
    expect(new Set(identities.map(({ certificateChain }) => certificateChain[0]?.fingerprint256)).size).toBe(1);
    const files = await readdir(folder);
    expect(files).toHaveLength(1);
    if (process.platform !== 'win32') expect((await stat(join(folder, files[0]!))).mode & 0o777).toBe(0o600);
  });

  test('is not replaced when its file is damaged', async () => {
    await loadTestIdentity(folder);
    const [file = ''] = await readdir(folder);
    await writeFile(join(folder, file), 'spoilt');
    await expect(loadTestIdentity(folder)).rejects.toThrow(/does not hold a private key and its certificate/);
  });
});

describe('a PKCS#12 file', () => {
  const openssl = (...options: string[]) => spawnSync('openssl', options, { cwd: folder });
  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
  const WITHOUT_OPENSSL = 'openssl is not installed: skipped';

  /** A CA, a certificate that it issued, and both in `both.p12` under the passphrase `sécret`. */
  const makeFiles = () => {
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=CA');
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=Own');
    openssl(
      'x509',
      '-req',
      '-in',
      'own.csr',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      'own.crt',
    );
    const made = openssl(
      'pkcs12',
      '-export',
      '-inkey',
      'own.key',
      '-in',
      'own.crt',
      '-certfile',
      'ca.crt',
      '-out',
      'both.p12',
      '-passout',
      'pass:sécret',
    );
    expect(made.status).toBe(0);
  };

  test('yields the key and the chain, the signer first', async ({ skip }) => {
    if (!hasOpenssl) skip(WITHOUT_OPENSSL);
    makeFiles();
    const { privateKey, certificateChain } = await loadPkcs12(join(folder, 'both.p12'), 'sécret');
    expect(certificateChain.map(({ subject }) => subject)).toEqual(['CN=Own', 'CN=CA']);
    expect(certificateChain[0]?.checkPrivateKey(privateKey)).toBe(true);
    await expect(loadPkcs12(join(folder, 'both.p12'), 'wrong')).rejects.toThrow(/Check the passphrase/);
  });

  test('that cannot be read is refused with advice', async () => {
    await writeFile(join(folder, 'junk.p12'), 'junk');
    await expect(loadPkcs12(join(folder, 'junk.p12'), '')).rejects.toThrow(/openssl pkcs12/);
    await expect(loadPkcs12(join(folder, 'none.p12'), '')).rejects.toThrow(/^the file .*none\.p12 does not exist\.$/);
  });
});
