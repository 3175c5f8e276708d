import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { createLogger } from '../../src/transport/logger.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { ENGINE_MAIN, type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { STAND_IN_RENDERER, sharedThreads } from '../support/service.ts';

// Simulates a full disk: a file size limit makes the system refuse the engine's writes.
const PRLIMIT = '/usr/bin/prlimit';
const PAGE = 4096;

let folder: string;
let engine: EngineProcess;
let app: App;
let client: Client;
let logged: { level: number; msg: string; outage?: string }[] = [];

describe.skipIf(!existsSync(PRLIMIT))('a full store', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'full-'));
    engine = await startEngineProcess(join(folder, 'db'), '--port', '0');
    const write = (line: string) => void logged.push(JSON.parse(line));
    app = await startApp(
      readConfig({
        PORT: '0',
        DATA_DIR: folder,
        MONGODB_URL: engine.uri,
        MASTER_KEY: '0123456789abcdef'.repeat(4),
        RATE_LIMIT_SECRET: '1000000',
      }),
      { log: createLogger('info', { write }), renderer: STAND_IN_RENDERER, ...sharedThreads() },
    );
    const id = newId('ten');
    await app.tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
    client = new Client(app.url ?? '', (await app.manageKeys.create(id, 'secret', 'test')).token);
  });
  afterAll(async () => {
    await app?.close();
    await engine?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  /** @param bytes the maximum size of the engine's files */
  const limit = (bytes: number | 'unlimited') =>
    execFileSync(PRLIMIT, ['--pid', String(engine.child.pid), `--fsize=${bytes}:`]);

  it('is answered by 503 with Retry-After, reported by /readyz and logged once; later nothing is lost or incomplete', async () => {
    const before = await Promise.all(Array.from({ length: 8 }, () => client.post('/v1/invoices', invoiceBody())));
    expect((await client.get('/readyz')).status).toBe(200);
    // The limit takes effect while these invoices are processed.
    limit(PAGE);
    const key = { 'Idempotency-Key': 'while it is full' };
    for (let i = 0; i < 20; i++) {
      const { status, headers, body } = await client.post('/v1/invoices', invoiceBody(), key);
      expect([status, body.error.code]).toEqual([503, 'internal_error']);
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    expect(await client.get('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not ready', reason: expect.stringContaining('the store is full') },
    });
    expect((await client.get('/healthz')).status).toBe(200);
    // Stored invoices can still be read.
    for (const { status, body } of before) {
      expect(status).toBe(201);
      expect((await client.get(`/v1/invoices/${body.id}`)).status).toBe(200);
    }
    // Meanwhile jobs and sweeps keep failing.
    await sleep(3000);
    expect(logged.filter(({ level }) => level > 30)).toMatchObject([{ outage: 'full' }]);

    limit('unlimited');
    await expect.poll(async () => (await client.get('/readyz')).status).toBe(200);
    expect(logged.filter(({ outage }) => outage === 'full')).toMatchObject([{ level: 50 }, { level: 30 }]);
    const after = await client.post('/v1/invoices', invoiceBody(), key);
    expect([after.status, after.headers.get('idempotent-replayed')]).toEqual([201, null]);
    for (const { body } of [...before, after]) {
      const { status, xml_url, pdf_url } = await client.settled(body.id);
      expect(status).toBe('accepted');
      for (const url of [xml_url, pdf_url]) expect((await fetch(url)).status).toBe(200);
    }
    const { data } = (await client.get('/v1/invoices?limit=100')).body;
    expect(data).toHaveLength(before.length + 1);
    expect(logged.filter(({ level }) => level > 30)).toHaveLength(1);
  });

  it('is detected by /readyz on an idle service', async () => {
    logged = [];
    limit(PAGE);
    await expect.poll(async () => (await client.get('/readyz')).status).toBe(503);
    limit('unlimited');
    await expect.poll(async () => (await client.get('/readyz')).status).toBe(200);
    expect(logged.map(({ msg }) => msg)).toEqual([
      'the store is full: writes fail until space is freed',
      'the store accepts writes again',
    ]);
  });

  it('does not prevent an orderly end of the engine, or the message that says why it does not start', async () => {
    const alone = await startEngineProcess(join(folder, 'alone'), '--port', '0');
    execFileSync(PRLIMIT, ['--pid', String(alone.child.pid), '--fsize=0:']);
    const ended = new Promise((resolve) => alone.child.once('exit', (code) => resolve(code)));
    alone.child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const start = spawnSync(
      PRLIMIT,
      [`--fsize=${PAGE}:`, process.execPath, ENGINE_MAIN, '--data-dir', join(folder, 'new'), '--port', '0'],
      { encoding: 'utf8', timeout: 30_000 },
    );
    expect([start.status, start.stderr]).toEqual([1, expect.stringContaining('is on a full disk')]);
  });
});
