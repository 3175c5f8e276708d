import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow } from '../../clients/typescript/src/follow.ts';
import type { StatusMessage } from '../../clients/typescript/src/models.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const statusAs = (status: StatusMessage['status']): StatusMessage => ({
  ...{
    id: 'inv_1',
    object: 'invoice',
    status,
    dgi_id: null,
    rejection_reason: null,
    updated_at: '2026-01-01T00:00:00Z',
  },
});

it('reads where streams do not pass, and tries a stream again from time to time', async () => {
  const readings: number[] = [];
  const connections: number[] = [];
  const begun = Date.now();
  const open = async (): Promise<Response> => {
    connections.push(Date.now() - begun);
    if (connections.length <= 4) return new Response('<p>a proxy</p>', { headers: { 'Content-Type': 'text/html' } });
    const message = `id: 1\ndata: ${JSON.stringify(statusAs('accepted'))}\n\n`;
    return new Response(message, { headers: { 'Content-Type': 'text/event-stream' } });
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
