import { expect, it } from 'vitest';
import { createMissingForIssue, meansOf } from '../../../src/app/live-needs.ts';
import { readConfig } from '../../../src/config.ts';

const certificateOf = (testOnly: boolean | null) => ({
  of: async () => (testOnly === null ? null : ({ testOnly } as never)),
});

it.each([
  ['the self-made one', true, ['certificate']],
  ['a real one', false, []],
  // A start of the workers is under way, or they have been away for a day: their invoices wait.
  ['nothing', null, []],
])(
  'a process without keys (ROLE=api) goes by what the workers told of their certificate: %s',
  async (_told, testOnly, missing) => {
    const missingOf = createMissingForIssue({ hasAuthority: true, signsLive: () => null }, certificateOf(testOnly));
    expect((await missingOf('ten_1')).map(({ condition }) => condition)).toEqual(missing);
  },
);

it('a process with keys goes by them', async () => {
  const means = { hasAuthority: false, signsLive: (tenantId: string) => tenantId === 'ten_own' };
  const missingOf = createMissingForIssue(means, certificateOf(true));
  expect(await missingOf('ten_own')).toMatchObject([{ condition: 'authority' }]);
  expect(await missingOf('ten_1')).toMatchObject([{ condition: 'authority' }, { condition: 'certificate' }]);
});

it('the settings have what they name', async () => {
  const none = await meansOf(readConfig({}));
  expect([none.hasAuthority, none.signsLive('ten_1')]).toEqual([false, false]);
  const all = await meansOf(readConfig({ DGI_URL: 'https://authority.example', SIGNING_P12: 'seal.p12' }));
  expect([all.hasAuthority, all.signsLive('ten_1')]).toEqual([true, true]);
});
