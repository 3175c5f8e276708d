import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow as followInPage } from '../../clients/live/src/follow.ts';
import { apiError } from '../../clients/typescript/src/errors.ts';
import { follow } from '../../clients/typescript/src/follow.ts';
import type { StatusMessage } from '../../clients/typescript/src/models.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const statusAs = (status: StatusMessage['status']): StatusMessage => ({
  id: 'inv_1',
  object: 'invoice',
  status,
  dgi_id: null,
  rejection_reason: null,
  updated_at: '2026-01-01T00:00:00Z',
});

const messagesOf = (status: StatusMessage['status']): Response => {
  const message = `id: 1\ndata: ${JSON.stringify(statusAs(status))}\n\n`;
  return new Response(message, { headers: { 'Content-Type': 'text/event-stream' } });
};

it('reads where streams do not pass, and tries a stream again from time to time', async () => {
  const readings: number[] = [];
  const connections: number[] = [];
  const begun = Date.now();
  const open = async (): Promise<Response> => {
    connections.push(Date.now() - begun);
    if (connections.length <= 4) return new Response('<p>a proxy</p>', { headers: { 'Content-Type': 'text/html' } });
    return messagesOf('accepted');
  };
  const read = async () => {
    readings.push(Date.now() - begun);
    return statusAs('pending');
  };
  const found: string[] = [];
  const ended = (async () => {
    for await (const { status } of follow({ open }, 'inv_1', read, {})) found.push(status);
  })();
  await vi.advanceTimersByTimeAsync(60_000);
  await ended;
  expect(found).toEqual(['pending', 'accepted']);
  // The first reading brought a status, then three streams were in vain; the fifth comes after twelve readings.
  expect(connections).toHaveLength(5);
  expect(readings.length).toBeGreaterThan(10);
  expect(connections.at(-1)).toBeGreaterThan(20_000);
});

it('waits for Retry-After, and no longer than a minute', async () => {
  const connections: number[] = [];
  const begun = Date.now();
  const open = async (): Promise<Response> => {
    connections.push(Date.now() - begun);
    const retryAfterMs = [5000, 90_000][connections.length - 1];
    if (retryAfterMs === undefined) return messagesOf('accepted');
    throw apiError({ code: null, message: 'later', param: null, status: 503, requestId: null, retryAfterMs });
  };
  const ended = Array.fromAsync(follow({ open }, 'inv_1', async () => statusAs('pending'), {}));
  await vi.advanceTimersByTimeAsync(70_000);
  expect((await ended).map(({ status }) => status)).toEqual(['accepted']);
  expect(connections).toEqual([0, 5000, 65_000]);
});

it('an invoice of a page is shown once for each status, also where a reading was ahead of the stream', async () => {
  vi.useRealTimers();
  let status: StatusMessage['status'] = 'transmitted';
  const server = createServer(async ({ url = '' }, answer) => {
    const isStream = url.endsWith('/stream');
    answer.setHeader('Content-Type', isStream ? 'text/event-stream' : 'application/json');
    if (!isStream) return answer.end(JSON.stringify({ data: { node: statusAs(status) } }));
    for (const each of ['signing', 'transmitted', 'accepted'] as const) {
      if (each === 'accepted') status = each;
      answer.write(`data: ${JSON.stringify(statusAs(each))}\n\n`);
      await sleep(100);
    }
    answer.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shown: string[] = [];
  for await (const invoice of followInPage('inv_1_secret_1', { service })) shown.push(invoice.status);
  expect(shown).toEqual(['transmitted', 'accepted']);
  server.closeAllConnections();
  server.close();
});

it('a page reads again after an outage in two seconds, or when Retry-After says', async () => {
  const readings: number[] = [];
  const begun = Date.now();
  const outage = { message: 'later', extensions: { code: 'internal_error', status: 503 } };
  const answers = [
    () => Response.json({ errors: [outage] }),
    () => Response.json({}, { status: 429, headers: { 'Retry-After': '30' } }),
    () => Response.json({ data: { node: statusAs('accepted') } }),
  ];
  vi.stubGlobal('fetch', async () => answers[readings.push(Date.now() - begun) - 1]?.());
  const ended = Array.fromAsync(followInPage('inv_1_secret_1', { service: 'http://service.test' }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await ended).map(({ status }) => status)).toEqual(['accepted']);
  expect(readings).toEqual([0, 2000, 32_000]);
  vi.unstubAllGlobals();
});
