import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { certificateFindings } from '../../../src/adapters/signing-key/certificate-findings.ts';
import { openSigningKeys } from '../../../src/adapters/signing-key/signing-keys.ts';
import { softwareKey } from '../../../src/adapters/signing-key/software-key.ts';
import { unsignedDocument, writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { verifySignedDocument } from '../../../src/adapters/xades/verify-document.ts';
import { createClosing } from '../../../src/app/runtime.ts';
import { composeSigning, openSigning, watchSigning } from '../../../src/app/signing.ts';
import { readConfig } from '../../../src/config.ts';
import { SigningFailed } from '../../../src/domain/invoice/signing-key.ts';
import type { Tenant } from '../../../src/domain/tenant/tenant.ts';
import { createLogger } from '../../../src/transport/logger.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';
import { ecKey, FROM, identityOf, TO } from '../xades/identities.ts';
import { makePkcs12 } from './make-pkcs12.ts';

const NONE = { p12: null, pkcs11: null, tenants: null, policy: null, tsaUrl: null };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('the keys of a service', () => {
  test('without settings the key is the test identity, which does not sign live documents', async () => {
    const signing = await openSigning({ signing: NONE, dataDir: folder });
    const owner = { tenantId: 'ten_1', environment: 'test' } as const;
    expect(signing.keyOf(owner).testOnly).toBe(true);
    expect(() => signing.signerOf({ ...owner, environment: 'live' })).toThrow(SigningFailed);
    expect(() => signing.keyOf({ ...owner, environment: 'live' })).toThrow(/SIGNING_P12/);
  });

  test('a tenant’s own key takes precedence over the platform’s', async ({ skip }) => {
    const own = makePkcs12(folder, 'Own', 'sésame');
    const platform = makePkcs12(folder, 'Platform', '');
    if (own === null || platform === null) return skip('openssl is not installed: skipped');
    await writeFile(join(folder, 'tenants.json'), JSON.stringify({ ten_1: { p12: 'Own.p12', passphrase: 'sésame' } }));
    const signing = await openSigning({
      signing: { ...NONE, p12: { file: platform, passphrase: '' }, tenants: join(folder, 'tenants.json') },
      dataDir: folder,
    });
    const subjectOf = (tenantId: string) =>
      signing.keyOf({ tenantId, environment: 'live' }).certificateChain[0].subject;
    expect([subjectOf('ten_1'), subjectOf('ten_2')]).toEqual(['CN=Own', 'CN=Platform']);
    expect([...signing.keys.keys()]).toEqual(['platform', 'ten_1']);
  });

  test('a file that is replaced by another signs from the next look on; a wrong one changes nothing', async ({
    skip,
  }) => {
    const passphrase = 'sésame';
    const [first, second] = [makePkcs12(folder, 'First', passphrase), makePkcs12(folder, 'Second', passphrase)];
    const [other, unfit] = [makePkcs12(folder, 'Other', 'x'), makePkcs12(folder, 'Unfit', passphrase, 'keyAgreement')];
    if (first === null || second === null || other === null || unfit === null)
      return skip('openssl is not installed: skipped');
    const file = join(folder, 'signing.p12');
    await rename(first, file);
    await writeFile(join(folder, 'tenants.json'), JSON.stringify({ ten_1: { p12: 'signing.p12', passphrase } }));
    const rejected: string[] = [];
    const settings = { ...NONE, p12: { file, passphrase }, tenants: join(folder, 'tenants.json') };
    const signing = await openSigning(
      { signing: settings, dataDir: folder },
      {
        onRejected: (setting, reason) => void rejected.push(`${setting}: ${reason}`),
      },
    );
    const owner = { tenantId: 'ten_2', environment: 'live' } as const;
    const subjects = () => [...signing.keys.values()].map(({ certificateChain }) => certificateChain[0].subject);
    const before = signing.signerOf(owner);
    expect(await signing.refresh()).toBe(false);
    expect(signing.signerOf(owner)).toBe(before);

    await rename(second, file);
    expect(await signing.refresh()).toBe(true);
    expect(subjects()).toEqual(['CN=Second', 'CN=Second']);
    expect(signing.keyOf(owner).certificateChain[0].subject).toBe('CN=Second');
    const after = signing.signerOf(owner);
    expect(after).not.toBe(before);

    for (const [wrong, reason] of [
      [other, /passphrase/],
      [unfit, /key usage/],
    ] as const) {
      rejected.length = 0;
      await rename(wrong, file);
      expect([await signing.refresh(), await signing.refresh()]).toEqual([false, false]);
      expect(rejected.sort()).toEqual([
        expect.stringMatching(/^SIGNING_P12: /),
        expect.stringMatching(/^SIGNING_TENANTS, ten_1: /),
      ]);
      expect(rejected.every((line) => reason.test(line))).toBe(true);
    }
    await rm(file);
    expect(await signing.refresh()).toBe(false);
    expect(subjects()).toEqual(['CN=Second', 'CN=Second']);
    expect(signing.signerOf(owner)).toBe(after);
  });

  test('what is being signed when the file is replaced keeps its key and the certificate of that key', async ({
    skip,
  }) => {
    const [first, second] = [makePkcs12(folder, 'First', ''), makePkcs12(folder, 'Second', '')];
    if (first === null || second === null) return skip('openssl is not installed: skipped');
    const file = join(folder, 'signing.p12');
    await rename(first, file);
    const signing = await openSigning({ signing: { ...NONE, p12: { file, passphrase: '' } }, dataDir: folder });
    const sign = async () => {
      const signer = signing.signerOf({ tenantId: 'ten_1', environment: 'live' });
      // The key may be an HSM that answers late: what comes in between must not mix the two.
      await replaced.promise;
      return signer.sign(unsignedDocument(writeInvoice(sampleInvoice())), new Date());
    };
    const replaced = Promise.withResolvers<void>();
    const begun = sign();
    await rename(second, file);
    expect(await signing.refresh()).toBe(true);
    replaced.resolve();
    const verified = await Promise.all([begun, sign()].map(async (signed) => verifySignedDocument(await signed)));
    expect(verified.map((each) => each.valid && each.certificate.subject)).toEqual(['CN=First', 'CN=Second']);
  });

  test('a running service uses a replaced file without a restart, and tells of it', async ({ skip }) => {
    const [first, second] = [makePkcs12(folder, 'First', ''), makePkcs12(folder, 'Second', '')];
    if (first === null || second === null) return skip('openssl is not installed: skipped');
    const file = join(folder, 'signing.p12');
    await rename(first, file);
    const log = createLogger('silent');
    const told = vi.spyOn(log, 'info');
    const closing = createClosing(log);
    const seen: unknown[] = [];
    const toldOthers: unknown[] = [];
    const config = { ...readConfig({ SIGNING_P12: file }), dataDir: folder };
    const signing = await composeSigning(
      { config, log, closing, fail: (error) => expect.unreachable(String(error)) },
      {
        signersCertificates: {
          async tell([platform]) {
            toldOthers.push(platform?.subject);
          },
          list: async () => [],
          of: async () => null,
        },
        tenants: { find: async () => null },
        logFailure: (_level, message) => expect.unreachable(message),
      },
      {
        count: () => undefined,
        onKeys: (keys) => seen.push(keys.get('platform')?.certificateChain[0].subject),
      },
    );
    await rename(second, file);
    await expect.poll(() => seen).toEqual(['CN=First', 'CN=Second']);
    expect(toldOthers).toEqual(seen);
    const { fingerprint256 } = signing.keyOf({ tenantId: 'ten_1', environment: 'live' }).certificateChain[0];
    expect(told).toHaveBeenCalledExactlyOnceWith({ platform: fingerprint256 }, 'a changed signing key is used');
    await closing.close({ delayMs: 0, graceMs: 0, patient: false });
  });

  test('others are told of the keys of the platform and of tenants that are there, not of one that is erased', async ({
    skip,
  }) => {
    if (makePkcs12(folder, 'Own', '') === null) return skip('openssl is not installed: skipped');
    const own = { p12: 'Own.p12', passphrase: '' };
    await writeFile(join(folder, 'tenants.json'), JSON.stringify({ ten_1: own, ten_erased: own }));
    const log = createLogger('silent');
    const closing = createClosing(log);
    const told = Promise.withResolvers<string[]>();
    const config = { ...readConfig({ SIGNING_TENANTS: join(folder, 'tenants.json') }), dataDir: folder };
    await composeSigning(
      { config, log, closing, fail: (error) => expect.unreachable(String(error)) },
      {
        signersCertificates: {
          tell: async (certificates) => told.resolve(certificates.map(({ signer }) => signer)),
          list: async () => [],
          of: async () => null,
        },
        tenants: { find: async (id) => (id === 'ten_1' ? ({ id } as Tenant) : null) },
        logFailure: (_level, message) => expect.unreachable(message),
      },
      { count: () => undefined, onKeys: () => undefined },
    );
    expect(await told.promise).toEqual(['platform', 'ten_1']);
    await closing.close({ delayMs: 0, graceMs: 0, patient: false });
  });

  test('a key whose certificate does not allow signing is refused at the start', async ({ skip }) => {
    const file = makePkcs12(folder, 'Server', '', 'keyAgreement');
    const fit = makePkcs12(folder, 'Seal', '', 'nonRepudiation');
    if (file === null || fit === null) return skip('openssl is not installed: skipped');
    const opened = (name: string) => openSigningKeys({ ...NONE, p12: { file: name, passphrase: '' } }, folder);
    await expect(opened(file)).rejects.toThrow(/^SIGNING_P12: .*key usage/);
    expect((await opened(fit)).platform.certificateChain[0].subject).toBe('CN=Seal');
  });

  test.each([
    ['{', /cannot be read as JSON/],
    ['{"acme": {"p12": "x"}}', /wrong at acme/],
    ['{"ten_1": {"p12": "x", "pasphrase": "secret"}}', /wrong at ten_1/],
    ['{"ten_1": {"p12": "none.p12", "passphrase": "secret"}}', /SIGNING_TENANTS, ten_1: the file .* does not exist/],
    ['{"ten_1": {"pkcs11": "pkcs11:object=k?module-path=/x"}}', /SIGNING_TENANTS, ten_1: .*pin-source/],
  ])('reports the fault of %s without secrets', async (content, reason) => {
    await writeFile(join(folder, 'tenants.json'), content);
    const opened = openSigningKeys({ ...NONE, tenants: join(folder, 'tenants.json') }, folder);
    const message = await opened.then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).toMatch(reason);
    expect(message).not.toContain('secret');
  });
});

test('findings about a certificate are logged at the start', async () => {
  const lines: unknown[] = [];
  const log = {
    warn: (...line: unknown[]) => lines.push(['warn', ...line]),
    error: (...line: unknown[]) => lines.push(['error', ...line]),
  };
  const soon = new Date(Date.now() + 10.5 * 86_400_000);
  const key = softwareKey(identityOf(ecKey('P-256'), { from: new Date(Date.now() - 1000), to: soon }), true);
  watchSigning({ keys: new Map([['ten_1', key]]) }, log as never)();
  expect(lines).toEqual([['warn', { signer: 'ten_1' }, expect.stringMatching(/expires on .* in 10 days/)]]);
});

describe('findings about a certificate', () => {
  const levels = (certificate: Parameters<typeof identityOf>[1], now: Date, testOnly = true) =>
    certificateFindings(softwareKey(identityOf(ecKey('P-256'), certificate), testOnly), now).map(
      ({ level, text }) => `${level}: ${text}`,
    );
  const day = (offset: number) => new Date(TO.getTime() + offset * 86_400_000);

  test('none while it is in order', () => {
    expect(levels({}, day(-31))).toEqual([]);
  });

  test.each([
    ['29 days before it expires', {}, day(-29), /^warn: .*expires on 2036-01-01, in 29 days/],
    ['after its end', {}, day(1), /^error: .*expired on 2036-01-01/],
    ['before it is valid', {}, new Date(FROM.getTime() - 1000), /^error: .*not valid before/],
    ['of another key usage', { usage: KeyUsageFlags.keyEncipherment }, FROM, /^error: .*key usage/],
  ])('%s', (_when, certificate, now, finding) => {
    expect(levels(certificate, now)).toEqual([expect.stringMatching(finding)]);
  });

  test('that it is self-signed', () => {
    expect(levels({}, FROM, false)).toEqual([expect.stringMatching(/^warn: .*is self-signed/)]);
  });
});
