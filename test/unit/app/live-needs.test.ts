import { expect, it } from 'vitest';
import { createMissingForIssue, type LiveSigners, meansOf } from '../../../src/app/live-needs.ts';
import { readConfig } from '../../../src/config.ts';

it.each<[string, LiveSigners, readonly string[]]>([
  // Whatever one worker has says nothing of the others: without a certificate the invoice waits.
  ['without keys (ROLE=api), or with the platform’s certificate', null, []],
  ['with the tenant’s own certificate', new Set(['ten_1']), []],
  ['with those of other tenants', new Set(['ten_2']), ['certificate']],
])('a process %s lacks what it cannot sign with', (_keys, signers, missing) => {
  const missingOf = createMissingForIssue({ hasAuthority: true, signers: () => signers });
  expect(missingOf('ten_1').map(({ condition }) => condition)).toEqual(missing);
});

it('a process without an authority lacks that, too', () => {
  const missingOf = createMissingForIssue({ hasAuthority: false, signers: () => new Set(['ten_own']) });
  expect(missingOf('ten_own')).toMatchObject([{ condition: 'authority' }]);
  expect(missingOf('ten_1')).toMatchObject([{ condition: 'authority' }, { condition: 'certificate' }]);
});

it('the settings have what they name', async () => {
  const none = await meansOf(readConfig({}));
  expect([none.hasAuthority, none.signers()]).toEqual([false, new Set()]);
  const all = await meansOf(readConfig({ DGI_URL: 'https://authority.example', SIGNING_P12: 'seal.p12' }));
  expect([all.hasAuthority, all.signers()]).toEqual([true, null]);
});

it('a process that only serves requests needs no certificate', async () => {
  expect((await meansOf({ ...readConfig({}), role: 'api' })).signers()).toBeNull();
});
