import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Monitoring, serveMonitoring } from '../../../src/transport/monitoring.ts';

let monitoring: Monitoring;
let trouble: string | null = null;
let warnings: string[] = [];
let isAway = false;

beforeAll(async () => {
  monitoring = await serveMonitoring(0, '127.0.0.1', {
    exposition: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'fatoura_x 1\n' }),
    async operatorHash() {
      if (isAway) throw new Error('the store is away');
      return createHash('sha256').update('pass:word').digest('hex');
    },
    ready: async (withStore) => (withStore ? trouble : null),
    warnings: async () => warnings,
  });
});
afterAll(() => monitoring.close());

async function answerTo(path: string, password?: string, method = 'GET') {
  const credential = Buffer.from(`operator:${password}`).toString('base64');
  const headers = password === undefined ? {} : { Authorization: `Basic ${credential}` };
  const answer = await fetch(monitoring.url + path, { method, headers });
  return [answer.status, await answer.text()];
}

it('shows the metrics to the operator alone', async () => {
  expect(await answerTo('/metrics', 'pass:word')).toEqual([200, 'fatoura_x 1\n']);
  expect(await answerTo('/metrics')).toEqual([401, '']);
  expect(await answerTo('/metrics', 'pass')).toEqual([401, '']);
  isAway = true;
  expect((await answerTo('/metrics', 'pass:word'))[0]).toBe(503);
  isAway = false;
});

it('says whether it is alive and ready, without a credential, and nothing else', async () => {
  expect(await answerTo('/healthz')).toEqual([200, '{"status":"alive"}']);
  expect(await answerTo('/readyz?x')).toEqual([200, '{"status":"ready"}']);
  warnings = ['no worker runs'];
  expect(await answerTo('/readyz')).toEqual([200, '{"status":"ready","warnings":["no worker runs"]}']);
  trouble = 'the store is away';
  expect(await answerTo('/readyz')).toEqual([503, '{"status":"not ready","reason":"the store is away"}']);
  expect(await answerTo('/readyz?exclude=store')).toEqual([200, '{"status":"ready"}']);
  expect((await answerTo('/v1/invoices', 'pass:word'))[0]).toBe(404);
  expect((await answerTo('/metrics', 'pass:word', 'POST'))[0]).toBe(405);
});

it('names the setting when the port is taken', async () => {
  const { port } = new URL(monitoring.url);
  await expect(serveMonitoring(Number(port), '127.0.0.1', {} as never)).rejects.toThrow(`METRICS_PORT ${port}`);
});
