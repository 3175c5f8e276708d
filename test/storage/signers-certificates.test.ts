import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SignersCertificate } from '../../src/domain/tenant/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { createSignersCertificates } from '../../src/storage/signers-certificates.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('certificates');
});
afterAll(() => store.close());

const NOW = new Date('2026-11-24T10:00:00Z');
const later = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
const certificate = (signer: string, change: Partial<SignersCertificate> = {}): SignersCertificate => ({
  signer,
  subject: `CN=${signer}`,
  issuer: 'CN=CA',
  serialNumber: '01',
  fingerprint: 'ab'.repeat(32),
  validFrom: later(-1),
  validTo: later(24),
  testOnly: false,
  findings: ['It ends tomorrow.'],
  ...change,
});

it('a tenant’s own certificate comes before the platform’s, and both are known for a day', async () => {
  const certificates = createSignersCertificates(store.db);
  expect(await certificates.of('ten_a', NOW)).toBeNull();
  await certificates.tell([certificate('platform'), certificate('ten_a')], NOW);
  expect(await certificates.of('ten_a', NOW)).toEqual(certificate('ten_a'));
  expect(await certificates.of('ten_b', NOW)).toEqual(certificate('platform'));
  expect((await certificates.list(NOW)).map(({ signer }) => signer)).toEqual(['platform', 'ten_a']);
  // A later look without the tenant's key, which was removed: it is forgotten a day after it was last told of.
  await certificates.tell([certificate('platform', { testOnly: true })], later(20));
  expect(await certificates.of('ten_a', later(20))).toEqual(certificate('ten_a'));
  expect(await certificates.of('ten_a', later(25))).toEqual(certificate('platform', { testOnly: true }));
  expect(await certificates.list(later(45))).toEqual([]);
});

it('forgets only certificates, and what is too old', async () => {
  const certificates = createSignersCertificates(store.db);
  await createInstallationRepository(store.db).keepOperatorHash('hash');
  await certificates.tell([certificate('ten_c')], NOW);
  await certificates.tell([certificate('platform')], later(30));
  const ids = await store.db.collection('installation').distinct('_id');
  expect(ids).toEqual(['certificate:platform', 'operator']);
  await certificates.tell([], later(60));
  expect(await store.db.collection('installation').distinct('_id')).toEqual(['operator']);
});
