import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { selfSignedCertificate } from '../../../src/adapters/signing-key/test-certificate.ts';
import type { OpenAdministration } from '../../../src/app/administration.ts';
import { diagnoseMail } from '../../../src/app/diagnosis.ts';
import type { OpenStore } from '../../../src/app/store.ts';
import { NODE_TIME_ZONE } from '../../../src/app/time-zone-data.ts';
import type { CommandContext } from '../../../src/cli/command.ts';
import { doctor, findingText } from '../../../src/cli/doctor.ts';
import {
  checkCertificate,
  checkClock,
  checkDataFolder,
  checkMail,
  checkNode,
  checkOpenFiles,
  checkRenderer,
  checkStore,
} from '../../../src/cli/doctor-checks.ts';
import { checkConditions } from '../../../src/cli/doctor-conditions.ts';
import { checkProxy, checkService } from '../../../src/cli/doctor-service.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { type Config, readConfig } from '../../../src/config.ts';
import { ofState, ofSubjects } from '../../../src/domain/conditions/condition.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { holdSilentPort } from '../../support/silent-port.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2027-03-01T10:00:00Z');
const config = readConfig({});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('Node.js before 24 fails', () => {
  expect(checkNode('24.0.0').state).toBe('works');
  expect(checkNode('22.21.1')).toMatchObject({ state: 'fails', advice: expect.stringContaining('npm') });
});

it.each<[number | null, number | null, 'works' | 'warns', string]>([
  [null, null, 'works', 'no limit is known'],
  [1_048_576, null, 'works', '32,768 connections'],
  [20_000, null, 'works', '19,744 connections'],
  [8192, null, 'works', '7,936 connections'],
  [4096, null, 'warns', '3,840 connections'],
  [256, null, 'warns', '128 connections'],
  [65_536, 60_000, 'works', '60,000 connections'],
  [20_000, 60_000, 'warns', '19,744 connections'],
])('with %s open files and MAX_CONNECTIONS %s it %s', (limit, total, state, found) => {
  const finding = checkOpenFiles(limit, { total, perAddress: null }, false);
  expect(finding).toMatchObject({ state, found: expect.stringContaining(found) });
  if (state === 'warns') expect(finding.advice).toContain('LimitNOFILE');
});

describe('data folder', () => {
  it('need not exist, and is not created', async () => {
    const missing = join(folder, 'new', 'data');
    const [finding, ...others] = await checkDataFolder(missing);
    expect(finding?.found).toContain(`${missing}, created by the first start`);
    expect(finding?.state).not.toBe('fails');
    expect(others).toEqual([]);
    expect(await readdir(folder)).not.toContain('new');
  });

  it('fails when it is a file', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const [finding] = await checkDataFolder(join(file, 'data'));
    expect(finding).toMatchObject({ state: 'fails', found: expect.stringContaining('not a folder') });
  });

  it.skipIf(process.platform === 'win32')('warns about secret files that others can read', async () => {
    const file = join(folder, 'master.key');
    await writeFile(file, '');
    await chmod(file, 0o644);
    const [, warning] = await checkDataFolder(folder);
    expect(warning).toMatchObject({ state: 'warns', advice: `chmod 600 ${file}` });
  });
});

describe('store', () => {
  const store = (hello: object, kind = 'server') =>
    checkStore(config, async () => {
      const db = { databaseName: 'fatoura', command: async () => hello };
      return { store: { db, kind }, close: async () => {} } as unknown as OpenAdministration;
    });

  it('works on a replica set and a sharded cluster, not on a standalone server', async () => {
    const localTime = new Date();
    expect((await store({ setName: 'rs0', localTime })).finding.state).toBe('works');
    expect((await store({ msg: 'isdbgrid', localTime })).finding.state).toBe('works');
    expect((await store({ localTime })).finding).toMatchObject({
      state: 'fails',
      advice: expect.stringContaining('--replSet'),
    });
  });

  it("compares a server's clock, not that of the embedded engine", async () => {
    const behind = await store({ setName: 'rs0', localTime: new Date(Date.now() - 60_000) });
    expect(behind.clock).toBeGreaterThan(59_000);
    expect(behind.clock).toBeLessThan(61_000);
    expect((await store({ setName: 'rs0', localTime: new Date(0) }, 'running engine')).clock).toBeNull();
  });

  it('fails with the reason on one line, which says what to do', async () => {
    const { finding } = await checkStore(config, () => Promise.reject(new Error('it is\n  damaged')));
    expect(finding).toEqual({ subject: 'store', state: 'fails', found: 'it is; damaged' });
  });
});

describe('certificate', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const until = (days: number) => () =>
    Promise.resolve(
      selfSignedCertificate({
        privateKey,
        from: new Date(NOW.getTime() - 100 * DAY_MS),
        to: new Date(NOW.getTime() + days * DAY_MS),
      }),
    );

  it.each([
    [400, 'works', '(400 days left)'],
    [29, 'warns', '(29 days left)'],
    [-1, 'fails', 'expired'],
  ])('%i days before expiry it %s', async (days, state, found) => {
    const { finding } = await checkCertificate(until(days), null, NOW);
    expect(finding).toMatchObject({ state, found: expect.stringContaining(found) });
  });

  it('fails when the data has live invoices that it cannot sign', async () => {
    const need = { condition: 'certificate', waiting: 3, tenants: 0 } as const;
    const { finding } = await checkCertificate(until(400), need, NOW);
    expect(finding).toMatchObject({ state: 'fails', found: expect.stringMatching(/the data has 3 unfinished live/) });
    expect(finding.advice).toMatch(/^Set SIGNING_P12, SIGNING_PKCS11 or SIGNING_TENANTS/);
  });

  it('fails when it cannot be read', async () => {
    const { finding } = await checkCertificate(() => Promise.reject(new Error('no key in it')), null, NOW);
    expect(finding).toMatchObject({ state: 'fails', found: 'no key in it' });
  });
});

it.each([
  ['all clocks agree', NOW, 100, new Date('2026-12-01'), 'works'],
  ['no other clock is known', NOW, null, null, 'works'],
  ['before this version', new Date('2020-01-01'), null, null, 'fails'],
  ['before the certificate', NOW, null, new Date('2027-03-02'), 'fails'],
  ['ahead of the store', NOW, 6000, null, 'warns'],
  ['far behind the store', NOW, -400_000, null, 'fails'],
])('clock, %s', (_name, now, store, validFrom, state) => {
  expect(checkClock(now, { store, validFrom }).state).toBe(state);
});

it('a missing browser is a warning: invoices are processed without PDFs', async () => {
  const finding = await checkRenderer(async () => ({ works: false, advice: 'Install Chromium.' }));
  expect(finding).toMatchObject({ state: 'warns', advice: 'Install Chromium.' });
});

it('what is wrong with a running installation is a warning each, which names some of it', async () => {
  expect(await checkConditions(async () => [])).toMatchObject([{ state: 'works' }]);
  expect(await checkConditions(() => Promise.reject(new Error('away')))).toMatchObject([{ state: 'works' }]);
  const subjects = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `we_${i}`, name: `${i}.example.com`, since: new Date(NOW) }));
  const [one, worker] = await checkConditions(async () => [
    ...ofSubjects('endpoints_failing', subjects(1)),
    ...ofState('workers_missing', true, null),
  ]);
  expect(one).toMatchObject({ state: 'warns', advice: expect.stringContaining('Mend the server') });
  expect(one?.found).toMatch(/^Failing webhook endpoints: 1 \(since 20\S+Z\): we_0 0\.example\.com$/);
  expect(worker).toMatchObject({ state: 'warns', found: 'No worker runs' });
  const [many] = await checkConditions(async () => ofSubjects('endpoints_failing', subjects(101)));
  expect(many?.found).toMatch(/: 100\+ .*: we_0 .*; we_1 .*; we_2 [^;]*; …$/);
});

describe('service', () => {
  /** @param answer response of the program that listens on the port; null: nothing listens at HOST */
  async function found(answer: object | string | null, store: OpenStore['kind']) {
    const server = createServer((_request, response) =>
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const PORT = String((server.address() as AddressInfo).port);
    // While the port is bound on one address, the system assigns it to no other process.
    const finding = await checkService(readConfig({ PORT, ...(answer === null && { HOST: '127.0.0.2' }) }), store);
    server.closeAllConnections();
    server.close();
    return finding;
  }
  // On a loaded machine this may take longer than the default limit.
  beforeEach(() => void vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal));
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ['runs', { status: 'ready' }, 'running engine', 'works', /^answers at http:\/\/127\.0\.0\.1:\d+$/],
    ['runs on a server', { status: 'ready' }, 'server', 'works', /^answers at/],
    [
      'runs without a worker',
      { status: 'ready', warnings: ['no worker runs'] },
      'server',
      'warns',
      /^answers at .*, but no worker runs$/,
    ],
    ["is another folder's", { status: 'ready' }, 'own engine', 'fails', /uses another data folder/],
    ['is not ready', { status: 'not ready', reason: 'no store' }, 'server', 'warns', /no store/],
    ['is not the program that listens', '<h1>Hello</h1>', 'own engine', 'fails', /another program listens on port/],
  ] as const)('%s', async (_name, answer, store, state, text) => {
    expect(await found(answer, store)).toMatchObject({ state, found: expect.stringMatching(text) });
  });

  // macOS has one loopback address.
  it.skipIf(process.platform === 'darwin').each([
    ['can be started', 'own engine', 'works', /npm start will serve at/],
    ['cannot be started on a folder in use', 'running engine', 'fails', /another process uses/],
  ] as const)('%s', async (_name, store, state, text) => {
    expect(await found(null, store)).toMatchObject({ state, found: expect.stringMatching(text) });
  });

  it('fails where it must not listen, and does not listen as a worker', async () => {
    const elsewhere = readConfig({ HOST: '192.0.2.1', PORT: '0' });
    expect(await checkService(elsewhere, 'server')).toMatchObject({ state: 'fails', advice: 'Correct HOST and PORT.' });
    expect(await checkService({ ...config, role: 'worker' }, 'server')).toMatchObject({ state: 'works' });
  });
});

describe('proxy', () => {
  it.each([
    [{}, 'works'],
    [{ PUBLIC_URL: 'http://localhost:3000' }, 'works'],
    [{ PUBLIC_URL: 'https://fatoura.example.ma', TRUST_PROXY: 'true' }, 'works'],
    [{ PUBLIC_URL: 'https://fatoura.example.ma', TRUST_PROXY: '2' }, 'works'],
    [{ PUBLIC_URL: 'https://fatoura.example.ma' }, 'warns'],
    [{ PUBLIC_URL: 'https://fatoura.example.ma', TRUST_PROXY: 'false' }, 'warns'],
  ])('%j: %s', (settings, state) => {
    const finding = checkProxy(readConfig(settings));
    expect(finding.state).toBe(state);
    if (state === 'warns') expect(finding.advice).toContain('TRUST_PROXY');
  });
});

it('whatever the data folder does not contain yet is tried in a temporary folder, which is removed', async () => {
  const dataDir = join(folder, 'half');
  await mkdir(join(dataDir, 'db'), { recursive: true });
  const looked: Record<string, string> = {};
  const openAdministration = async (at: Config) => {
    looked.store = at.dataDir;
    throw new Error('no store');
  };
  const diagnosis = {
    signingCertificate: async (at: Config) => {
      looked.certificate = at.dataDir;
      await writeFile(join(at.dataDir, 'signing-test-identity.pem'), '');
      throw new Error('no certificate');
    },
    diagnoseRenderer: async (at: Config) => {
      looked.renderer = at.dataDir;
      return { works: false, advice: '' };
    },
    diagnoseAuthority: async () => null,
    diagnoseLive: async () => [],
    diagnoseConditions: async () => [],
    timeZoneData: async () => NODE_TIME_ZONE,
    diagnoseOpenFiles: async () => null,
    diagnoseMail,
  };
  const parts = { administration: async () => ({ openAdministration }), diagnosis: async () => diagnosis };
  const printed: string[] = [];
  const terminal = {
    print: (line: string) => printed.push(line),
    width: () => 1000,
    style: (_: string, text: string) => text,
  };
  const context = { terminal, parts, config: () => readConfig({ DATA_DIR: dataDir, PORT: '0' }) };
  const input = parseArguments(doctor, []);
  if (input === null) throw new Error('no input');
  expect(await doctor.run(input, context as unknown as CommandContext)).toBe(1);
  expect(looked.store).toBe(dataDir);
  expect(looked.renderer).toBe(looked.certificate);
  expect(looked.certificate).not.toBe(dataDir);
  expect(printed.join('\n')).toMatch(/no certificate; tested in a temporary folder/);
  expect(existsSync(looked.certificate ?? '')).toBe(false);
  expect(await readdir(dataDir)).toEqual(['db']);
});

it('a finding is printed with its mark and the advice below, within the width', () => {
  const text = findingText(
    { subject: 'store', state: 'fails', found: 'it does not answer', advice: 'Start the server and try it again' },
    40,
    (_format, part) => part,
  );
  expect(text.split('\n')).toEqual([
    '✘ store        it does not answer',
    '               → Start the server and',
    '               try it again',
  ]);
});

describe('mail', () => {
  const check = (settings: Record<string, string>) =>
    checkMail(() => diagnoseMail(readConfig({ MAIL_FROM: 'f@example.net', ...settings })));

  it('goes to the outbox without a server', async () => {
    expect(await check({})).toMatchObject({ state: 'works', found: expect.stringContaining('outbox') });
  });

  it('works with a server that accepts the log-in, and warns otherwise, without showing the password', async () => {
    const server = await startMailServer();
    try {
      const url = server.url.replace('smtp://', 'smtp://user:hunter2@');
      expect(await check({ SMTP_URL: url })).toMatchObject({ state: 'works' });
      server.behaviour = { auth: '535 5.7.8 wrong' };
      const warning = await check({ SMTP_URL: url });
      expect(warning).toMatchObject({ state: 'warns', found: expect.stringContaining('535 5.7.8 wrong') });
      expect(JSON.stringify(warning)).not.toContain('hunter2');
    } finally {
      await server.close();
    }
    const silent = await holdSilentPort();
    const refused = await check({ SMTP_URL: `smtp://127.0.0.1:${silent.port}` });
    silent.release();
    expect(refused).toMatchObject({ state: 'warns', found: expect.stringContaining('ECONNREFUSED') });
  });
});
