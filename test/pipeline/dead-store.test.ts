import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { firstOf } from '../support/samples.ts';
import { startService } from '../support/service.ts';

/** Shutdown of a service after the process of its store was killed. */
let folder: string;
let engine: EngineProcess;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngineProcess(folder, '--port', '0');
});

afterEach(async () => {
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

test.each(
  firstOf([
    ['at once', 0],
    ['after a while', 3000],
  ]),
)('the service shuts down in time after its store was killed, %s', async (_, wait) => {
  const service = await startService({ MONGODB_URL: engine.uri, MASTER_KEY: '0123456789abcdef'.repeat(4) });
  const { secretKey } = await service.tenant();
  const stream = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secretKey}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: 'subscription { invoiceEvents { id } }' }),
  });
  expect(stream.status).toBe(200);
  await engine.kill();
  await new Promise((resolve) => setTimeout(resolve, wait));
  const begin = performance.now();
  await service.app.close();
  // Usually 1 to 2 s. Orchestrators kill a process that has not ended after 30 s.
  expect(performance.now() - begin).toBeLessThan(30_000);
  await stream.body?.cancel().catch(() => {});
  await rm(service.dataDir, { recursive: true, force: true });
});
