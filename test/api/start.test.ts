import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OpenAdministration, openAdministration } from '../../src/app/administration.ts';
import { type App, startApp } from '../../src/app/app.ts';
import { diagnoseMasterKey } from '../../src/app/diagnosis.ts';
import { greeting } from '../../src/cli/greeting.ts';
import { readConfig } from '../../src/config.ts';
import { moroccanOffset } from '../../src/domain/morocco/time.ts';
import { firstOf } from '../support/samples.ts';
import { STAND_IN_RENDERER, sharedThreads, TAKES_LIVE } from '../support/service.ts';
import { holdSilentPort } from '../support/silent-port.ts';

// What a start of the service creates and refuses, with the embedded engine.
// A test starts several services in sequence, and one waits 10 s for a server.
vi.setConfig({ testTimeout: 240_000 });

let folder: string;
let app: App | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-'));
});
afterEach(async () => {
  await app?.close();
  app = null;
  await rm(folder, { recursive: true, force: true });
});

async function start(settings: Record<string, string> = {}): Promise<App> {
  const config = readConfig({ PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', ...settings });
  app = await startApp(config, { ...sharedThreads(), renderer: STAND_IN_RENDERER });
  return app;
}

/** Ends the service before the next start. */
async function stop(): Promise<void> {
  await app?.close();
  app = null;
}

it('a first start has nothing to upgrade, and says nothing of it', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const config = readConfig({ PORT: '0', DATA_DIR: folder });
  app = await startApp(config, { ...sharedThreads(), renderer: STAND_IN_RENDERER, log });
  expect(lines.filter((line) => /upgrade|version/.test(line))).toEqual([]);
});

it('connections stay open for KEEP_ALIVE_TIMEOUT, or for longer than balancers keep them', async () => {
  const told = async () => (await fetch(`${app?.url}/healthz`)).headers.get('keep-alive');
  const cases: [Record<string, string>, string][] = [
    [{ KEEP_ALIVE_TIMEOUT: '67s' }, 'timeout=67'],
    [{ TRUST_PROXY: '1' }, 'timeout=620'],
  ];
  for (const [settings, timeout] of firstOf(cases)) {
    await start(settings);
    expect(await told()).toBe(timeout);
    await stop();
  }
});

it('says that Node’s time zone data knows of another time for Morocco', async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const timeZone = { version: '2099a', offset: (at: Date) => moroccanOffset(at) + 60 };
  const config = readConfig({ PORT: '0', DATA_DIR: folder });
  app = await startApp(config, {
    ...sharedThreads(),
    renderer: STAND_IN_RENDERER,
    log,
    means: { ...TAKES_LIVE, timeZone },
  });
  expect(lines.filter((line) => line.includes('2099a'))).toHaveLength(1);
});

describe('the credentials of a first start', () => {
  it('are created by the first start that succeeds, even after failed ones', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    try {
      await expect(start({ PORT: String((taken.address() as AddressInfo).port) })).rejects.toThrow(
        /^PORT \d+ is already in use on 127\.0\.0\.1\. .*set PORT/,
      );
    } finally {
      taken.close();
    }
    await expect(start({ GRAPHQL_OPERATIONS: join(folder, 'nowhere.json') })).rejects.toThrow('nowhere.json');

    const { firstStart } = await start();
    expect(firstStart.operatorPassword).toEqual(expect.any(String));
    expect(firstStart.demo?.secretKey).toMatch(/^sk_test_/);
    expect(firstStart.invitationUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/join#[\w-]{32}$/);
    await stop();
    expect((await start()).firstStart).toEqual({ operatorPassword: null, invitationUrl: null, demo: null });
  });
});

it('a disk that has become read-only refuses the start, says so, and is used again afterwards', async (context) => {
  const disk = join(folder, 'disk');
  await mkdir(disk);
  // Mounting takes root.
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk]).status !== 0) return context.skip();
  try {
    const settings = { DATA_DIR: join(disk, 'data') };
    expect((await start(settings)).firstStart.demo).not.toBeNull();
    await stop();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    await expect(start(settings)).rejects.toThrow(/^DATA_DIR .* cannot be used: the file system is read-only\./);
    execFileSync('mount', ['-o', 'remount,rw', disk]);
    expect((await start(settings)).firstStart.demo).toBeNull();
    await stop();
  } finally {
    await stop();
    execFileSync('umount', ['--lazy', disk]);
  }
});

it('the curl line works for the address that accepts test keys, even if that is not reachable yet', () => {
  const demo = { tenantId: 'ten_x', secretKey: 'sk_test_x', publishableKey: 'pk_test_x' };
  const lines = (sandbox?: string) =>
    greeting('http://127.0.0.1:3000', { operatorPassword: null, invitationUrl: null, demo }, sandbox);
  expect(lines('https://sandbox.invalid')).toContain("127.0.0.1:3000/v1/invoices -H 'Host: sandbox.invalid'");
  expect(lines()).not.toContain('Host:');
});

describe('a setting that cannot be used', () => {
  it('stops the start with a message that names it and says what to do', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '-----BEGIN PRIVATE KEY-----\n');
    const { port, release } = await holdSilentPort();
    const cases: [Record<string, string>, RegExp][] = [
      // An address of TEST-NET-1 (RFC 5737), which no machine has.
      [{ HOST: '192.0.2.1' }, /^HOST 192\.0\.2\.1 is not an address of this machine\. .*127\.0\.0\.1/],
      [{ DATA_DIR: file }, /^DATA_DIR .*file cannot be used: it is not a folder\./],
      [{ DATA_DIR: join(file, 'data') }, /^DATA_DIR .*data cannot be used: a part of its path is not a folder\./],
      [{ SIGNING_P12: file }, /^SIGNING_P12: .*file is in PEM format .*openssl pkcs12 -export/],
      [{ SIGNING_P12: join(folder, 'none') }, /^SIGNING_P12: the file .*none does not exist/],
      [
        { MONGODB_URL: `mongodb://127.0.0.1:${port}/`, MASTER_KEY: 'ab'.repeat(32) },
        /^MONGODB_URL cannot be used: .*ECONNREFUSED.* embedded engine/,
      ],
    ];
    try {
      for (const [settings, message] of cases) await expect(start(settings)).rejects.toThrow(message);
    } finally {
      release();
    }
  });
});

describe('the master key', () => {
  const config = (settings: Record<string, string> = {}) => readConfig({ DATA_DIR: folder, ...settings });
  const another = { MASTER_KEY: 'ab'.repeat(32) };
  const changeAsOperator = async (change: (administration: OpenAdministration) => Promise<unknown>): Promise<void> => {
    const administration = await openAdministration(config());
    await change(administration);
    await administration.close();
  };

  it('must be that of the first start: with another or no key the service does not start, and doctor says why', async () => {
    await start();
    await stop();
    const file = join(folder, 'master.key');
    const key = (await readFile(file, 'utf8')).trim();

    await expect(start(another)).rejects.toThrow(/^MASTER_KEY is not the master key .*accept-master-key/);
    await expect(diagnoseMasterKey(config(another))).rejects.toThrow(/^MASTER_KEY is not the master key/);
    await start({ MASTER_KEY: key });
    await stop();

    await rm(file);
    await expect(start()).rejects.toThrow(/master\.key, .*, is missing/);
    await expect(diagnoseMasterKey(config())).rejects.toThrow(/master\.key, .*, is missing/);
    // No new key was generated that could be mistaken for the right one.
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    await writeFile(file, `${key}\n`);
    await diagnoseMasterKey(config());
    await start();
  });

  it('can be replaced after the operator has abandoned the first one', async () => {
    await start();
    await stop();
    await changeAsOperator(({ keyRing }) => keyRing.forgetMaster());
    await diagnoseMasterKey(config(another));
    await start(another);
    await stop();
    await expect(start()).rejects.toThrow('master.key is not the master key');
  });
});
