import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../scripts/authority-simulator/simulator.ts';
import { type AuthorityDiagnosis, diagnoseAuthority } from '../../../src/app/diagnosis.ts';
import { checkAuthority } from '../../../src/cli/doctor-authority.ts';
import { readConfig } from '../../../src/config.ts';
import { openSimulated } from '../../support/http-authority.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** What doctor finds out about a simulator: a line for each finding, `state subject: found`. */
async function findings(
  prepare: (simulator: Awaited<ReturnType<typeof startSimulator>>) => unknown = () => undefined,
  change: Record<string, string> = {},
): Promise<string[]> {
  const simulator = await startSimulator();
  opened.push(simulator);
  await prepare(simulator);
  const config = readConfig({ ...simulator.settings, ...change });
  const all = await checkAuthority(() => diagnoseAuthority(config), null, new Date());
  for (const { state, advice } of all) expect(advice === undefined).toBe(state === 'works');
  return all.map(({ state, subject, found }) => `${state} ${subject}: ${found}`);
}

it('without DGI_URL there is nothing to check', async () => {
  const [finding, ...others] = await checkAuthority(() => diagnoseAuthority(readConfig({})), null, new Date());
  expect(finding).toMatchObject({ state: 'works', found: expect.stringContaining('DGI_URL is not set') });
  expect(others).toEqual([]);
});

it('without DGI_URL live invoices may wait, or live keys be valid: that is a failure, and what to do', async () => {
  const check = (waiting: number, tenants: number) =>
    checkAuthority(() => diagnoseAuthority(readConfig({})), { condition: 'authority', waiting, tenants }, new Date());
  expect(await check(7, 1)).toEqual([
    {
      subject: 'authority',
      state: 'fails',
      found: 'DGI_URL is not set, and the data has 7 unfinished live invoices and 1 tenant with valid live keys',
      advice: expect.stringContaining('Set DGI_URL'),
    },
  ]);
  expect(await check(0, 2)).toMatchObject([
    { state: 'fails', found: expect.stringMatching(/has 2 tenants with valid/) },
  ]);
});

it('certificate, token, capabilities and clock work', async () => {
  expect(await findings()).toEqual([
    expect.stringMatching(/^works DGI client: CN=.*days left/),
    expect.stringMatching(/^works DGI_CA: .*days left/),
    expect.stringMatching(/^works DGI server: CN=.*days left/),
    expect.stringMatching(/^works DGI token: valid for 3\d\d s|^works DGI token: valid for 2\d\d s/),
    expect.stringMatching(/^works authority: .* decisions polling, look-up by id and digest, 600 submissions a minute/),
    expect.stringMatching(/^works DGI clock: agrees/),
  ]);
});

it('a clock that is off is named, and everything else works', async () => {
  const found = await findings(({ control }) => control.setClock(600_000));
  expect(found.at(-1)).toMatch(/^warns DGI clock: the authority's clock is (59\d|60\d) s ahead of this machine's/);
  expect(found.filter((line) => line.startsWith('works'))).toHaveLength(5);
});

it('no token: the endpoint’s reason', async () => {
  const found = await findings(({ control }) => control.addFault({ kind: 'invalid-grant' }));
  expect(found).toContainEqual(expect.stringMatching(/^warns DGI token: .*status 400, invalid_grant/));
  expect(found).toContainEqual(expect.stringMatching(/^warns authority: .*for want of a token/));
});

it.each([
  ['foreign-server', /was not issued under DGI_CA.*\n.*DGI_CA/],
  ['unavailable', /status 503.*\n.*is not available/],
  ['invalid-grant', /invalid_grant.*\n.*DGI_CLIENT_KEY/],
] as const)('no token because of %s: the advice is about that', async (what, expected) => {
  const simulator = await startSimulator();
  opened.push(simulator);
  if (what === 'foreign-server') await simulator.control.rotate(what);
  else simulator.control.addFault({ kind: what, calls: ['token'] });
  const all = await checkAuthority(() => diagnoseAuthority(readConfig({ ...simulator.settings })), null, new Date());
  const token = all.find(({ subject }) => subject === 'DGI token');
  expect(`${token?.found}\n${token?.advice}`).toMatch(expected);
});

it('nobody listens', async () => {
  const found = await findings(({ control }) => control.setListening(false));
  expect(found).toContainEqual(expect.stringMatching(/^warns DGI token: .*ECONNREFUSED/));
});

it('a proxy answers in the place of the authority', async () => {
  const found = await findings(({ control }) =>
    control.addFault({ kind: 'proxy-page', calls: ['capabilities'], status: 200 }),
  );
  expect(found).toContainEqual(expect.stringMatching(/^warns authority: .*Something other than the authority/));
});

it('files that cannot be used prevent the start', async () => {
  const found = await findings(undefined, { DGI_CA: '/none/ca.pem', DGI_CLIENT_P12_PASSPHRASE: 'wrong' });
  expect(found).toEqual([
    expect.stringMatching(/^fails authority: DGI_CA: .* does not exist.*; DGI_CLIENT_P12: .*passphrase/),
  ]);
});

describe('a certificate', () => {
  it.each([
    [31, 'works'],
    [29, 'warns'],
    [-1, 'warns'],
  ])('%i days before its end', async (days, state) => {
    const live = await openSimulated();
    opened.push(live);
    const [certificate] = live.certificates();
    if (!certificate) throw new Error('no certificate');
    const diagnosis: AuthorityDiagnosis = {
      url: '',
      certificates: [certificate],
      token: null,
      trouble: null,
      clockOffsetMs: null,
      capabilities: live.authority.capabilities(),
    };
    const now = new Date(certificate.certificate.validToDate.getTime() - (days + 0.5) * 86_400_000);
    const [finding] = await checkAuthority(async () => diagnosis, null, now);
    expect(finding).toMatchObject({ state, found: expect.stringContaining(`(${days} days left)`) });
  });
});
