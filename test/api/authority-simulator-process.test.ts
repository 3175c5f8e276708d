import { appendFile, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAULT_KINDS } from '../../scripts/authority-simulator/faults.ts';
import { loadEnvFile } from '../../src/config.ts';
import { type AuthorityClient, authorityClient, digestOf, signedDocument } from '../support/authority-client.ts';
import { firstOf } from '../support/samples.ts';
import { runSimulatorProgram, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

// The simulator as a program: its command line, its control port, and what a kill leaves.

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Documents are not examined, nothing is limited, and decisions are quick. */
const FAST = ['--verify', 'none', '--no-limits', '--decision-delay', '20ms'];

test('its folder is not in the data of the service, which a backup copies', async () => {
  const simulator = await startSimulatorProcess({ cwd: folder }, ...FAST);
  await simulator.end('SIGTERM');
  expect(simulator.settings.DGI_CA).toBe(join(await realpath(folder), 'authority-simulator', 'identity', 'ca.pem'));
  expect(await readdir(folder)).not.toContain('data');
});

describe('the ledger after kill -9', () => {
  test('holds everything that was answered, once, and takes the decisions that are owed', async () => {
    const dataDir = join(folder, 'killed');
    const answered = new Map<string, string>();
    for (const round of firstOf([0, 1, 2, 3])) {
      const simulator = await startSimulatorProcess(dataDir, ...FAST);
      const client = await authorityClient(simulator.settings);
      for (const [id, digest] of answered)
        expect((await client.get(`/v1/submissions/${id}`)).body).toMatchObject({ id, digest });
      expect((await simulator.control('GET', '/counters')).ledger.doubled).toEqual([]);
      let isOver = false;
      const submitting = Array.from({ length: 8 }, async (_, lane) => {
        for (let n = 0; !isOver; n++) {
          const [id, document] = [`inv_${round}_${lane}_${n}`, Buffer.from(`<a>${round} ${lane} ${n}</a>`)];
          const answer = await client.put(id, document).catch(() => null);
          if (answer === null) return;
          // 200 if the decision came before the answer was written.
          expect([200, 202]).toContain(answer.status);
          answered.set(id, digestOf(document));
        }
      });
      const before = answered.size;
      await expect.poll(() => answered.size).toBeGreaterThan(before + 50);
      await simulator.end();
      isOver = true;
      await Promise.all(submitting);
      await client.close();
    }
    // What a power failure cut short is removed.
    await appendFile(join(dataDir, 'ledger.jsonl'), '0badc0de {"k":"received","id":"inv_torn"');
    const simulator = await startSimulatorProcess(dataDir, ...FAST);
    const client = await authorityClient(simulator.settings);
    await expect.poll(async () => (await simulator.control('GET', '/counters')).ledger.processing).toBe(0);
    const { ledger } = await simulator.control('GET', '/counters');
    expect(ledger.doubled).toEqual([]);
    expect(ledger.accepted).toBeGreaterThanOrEqual(answered.size);
    const ids = await everyChange(client);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(ledger.entries);
    for (const id of answered.keys()) expect(ids).toContain(id);
    await client.put('inv_after', Buffer.from('<a>after</a>'));
    await client.decided('inv_after');
    await client.close();
    await simulator.end();
    const text = await readFile(join(dataDir, 'ledger.jsonl'), 'utf8');
    expect(text).not.toContain('inv_torn');
    expect(text).toContain('inv_after');
  });

  async function everyChange(client: AuthorityClient): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor = 'c0'; ; ) {
      const {
        data,
        next_cursor: next,
        high_water_mark: end,
      } = (await client.get(`/v1/changes?after=${cursor}&limit=1000`)).body;
      ids.push(...data.map(({ id }: { id: string }) => id));
      if (next === end) return ids;
      cursor = next;
    }
  }
});

describe('the command line', () => {
  test('prints one block of settings, whose files are private, and ends properly on SIGTERM', async () => {
    const dataDir = join(folder, 'settings');
    const file = join(folder, 'settings.env');
    const simulator = await startSimulatorProcess(dataDir, '--profile', 'synchronous', '--settings-file', file);
    expect(Object.keys(simulator.settings)).toEqual([
      'DGI_URL',
      'DGI_CA',
      'DGI_CLIENT_P12',
      'DGI_CLIENT_P12_PASSPHRASE',
      'DGI_TOKEN_URL',
      'DGI_CLIENT_ID',
      'DGI_CLIENT_KEY',
      'DGI_CALLBACK_SECRET',
      'SIGNING_P12',
      'SIGNING_P12_PASSPHRASE',
    ]);
    const files = ['DGI_CLIENT_P12', 'DGI_CLIENT_KEY', 'SIGNING_P12'] as const;
    for (const path of [file, ...files.map((name) => simulator.settings[name])])
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    const env: NodeJS.ProcessEnv = { ENV_FILE: file };
    loadEnvFile(env);
    expect(env).toEqual({ ...simulator.settings, ENV_FILE: file });
    expect(simulator.settings.DGI_CALLBACK_SECRET).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await simulator.end('SIGTERM')).toBe(0);
  });

  const usageErrors: [string[], RegExp][] = [
    [['--profile', 'x'], /--profile: x is not one of polling, synchronous, callback/],
    [['--limit', 'x=1'], /--limit: x is not one of submissions_per_minute/],
    [['--decision-delay', 'soon'], /soon is not a duration/],
    [['--fault', 'no-such'], /kind/],
    [['--fault', 'slow,rate=2'], /rate/],
    [['--faults', '2'], /1/],
    [['--no-such'], /Unknown option/],
  ];
  test.each(firstOf(usageErrors, 2))('%j is a usage error', async (options, message) => {
    const { code, printed } = await runSimulatorProgram(...options);
    expect([code, printed]).toEqual([2, expect.stringMatching(message)]);
  });

  test('--help lists the options', async () => {
    expect(await runSimulatorProgram('--help')).toEqual({
      code: 0,
      printed: expect.stringContaining('--control-port'),
    });
  });
});

describe('the control port', () => {
  let simulator: SimulatorProcess;
  let client: AuthorityClient;

  beforeAll(async () => {
    const options = [
      '--verify',
      'none',
      '--decision-delay',
      '1h',
      '--limit',
      'concurrent=3',
      '--fault',
      'slow,delay=1ms,calls=status',
    ];
    simulator = await startSimulatorProcess(join(folder, 'control'), ...options);
    client = await authorityClient(simulator.settings);
  });
  afterAll(async () => {
    await client.close();
    await simulator.end('SIGTERM');
  });

  test('lists its commands and every kind of fault', async () => {
    const { commands } = await simulator.control('GET', '/');
    expect(commands).toContain('POST /reset: no faults, the clock right, no maintenance');
    const { rules, kinds } = await simulator.control('GET', '/faults');
    expect(rules).toEqual([{ id: 'f1', kind: 'slow', delay: 1, calls: ['status'], fired: 0 }]);
    expect(Object.keys(kinds)).toEqual(Object.keys(FAULT_KINDS));
  });

  test('adds and removes faults', async () => {
    const { id } = await simulator.control('POST', '/faults', {
      kind: 'unavailable',
      calls: ['status'],
      retry_after: 3,
    });
    await simulator.control('DELETE', '/faults/f1');
    expect((await client.get('/v1/status')).status).toBe(503);
    expect(await simulator.control('DELETE', `/faults/${id}`)).toEqual({ removed: true });
    expect((await client.get('/v1/status')).status).toBe(200);
    await expect(simulator.control('POST', '/faults', { kind: 'x' })).rejects.toThrow(/^400/);
    await expect(simulator.control('POST', '/faults', { kind: 'stuck', calls: ['status'] })).rejects.toThrow(/cannot/);
    expect((await simulator.control('DELETE', '/faults')).rules).toEqual([]);
  });

  test('reads the ledger and decides what is held', async () => {
    const document = await signedDocument();
    await client.put('inv_a', document);
    await client.put('inv_b', await signedDocument());
    const held = await simulator.control('GET', '/ledger/inv_a');
    expect(held.status).toBe('processing');
    expect(held.retry_after).toBeGreaterThan(3500);
    expect(held.retry_after).toBeLessThanOrEqual(3600);
    expect((await simulator.control('GET', '/ledger')).data.map(({ id }: { id: string }) => id)).toEqual([
      'inv_a',
      'inv_b',
    ]);
    const problems = [{ code: 'x', message: 'Refusé.' }];
    expect(await simulator.control('POST', '/decide', { id: 'inv_a', problems })).toMatchObject({
      status: 'rejected',
      problems: [{ code: 'x', path: null, message: 'Refusé.' }],
    });
    expect(await simulator.control('POST', '/decide', { all: true })).toEqual({ decided: 1 });
    expect((await client.get('/v1/submissions/inv_b')).body.status).toBe('accepted');
    await expect(simulator.control('POST', '/decide', { id: 'inv_none' })).rejects.toThrow(/404/);
    await expect(simulator.control('GET', '/ledger/inv_none')).rejects.toThrow(/404/);
  });

  test('counts calls, answers and concurrent submissions', async () => {
    await simulator.control('DELETE', '/counters');
    await Promise.all(['inv_c', 'inv_d'].map(async (id) => client.put(id, await signedDocument())));
    await client.get('/v1/submissions/inv_c');
    const counters = await simulator.control('GET', '/counters');
    expect(counters).toMatchObject({
      calls: { submit: 2, lookup: 1 },
      answers: { 'submit 202': 2, 'lookup 200': 1 },
      lookups: { per_minute: { peak: 1, submission: 'inv_c' } },
      puts: { now: 0 },
    });
    expect(counters.puts.peak).toBeGreaterThan(0);
  });

  test('sets the clock, the maintenance, tokens and keys', async () => {
    expect((await simulator.control('PUT', '/clock', { offset: '-10m' })).offset).toBe(-600_000);
    expect(Date.parse((await client.get('/v1/status')).headers.date ?? '')).toBeLessThan(Date.now() - 500_000);
    await simulator.control('PUT', '/maintenance', { scope: 'all', retry_after: 5 });
    expect((await client.get('/v1/changes')).headers['retry-after']).toBe('5');
    await simulator.control('POST', '/reset');
    expect((await simulator.control('GET', '/clock')).offset).toBe(0);
    await simulator.control('POST', '/tokens/revoke', { refuse_for: '1h' });
    expect((await client.get('/v1/status')).body.error.code).toBe('token_invalid');
    expect((await client.token()).body.error).toBe('invalid_grant');
    await simulator.control('POST', '/rotate', { what: 'receipts' });
    await expect(simulator.control('POST', '/rotate', { what: 'x' })).rejects.toThrow(/400/);
    await simulator.control('PUT', '/listening', { listening: false });
    await expect(client.token()).rejects.toThrow();
    await simulator.control('PUT', '/listening', { listening: true });
    await expect(simulator.control('GET', '/no-such')).rejects.toThrow(/404/);
    expect(await simulator.control('POST', '/callbacks', { id: 'x', count: 2 })).toEqual({ 0: 2 });
  });
});
