import { gql } from '@urql/core';
import { afterEach, expect, it, vi } from 'vitest';
import { followStatus } from '../../src/cli/demo/client.ts';
import { followEvents } from '../../src/cli/webhooks/service.ts';
import { createGraphqlClient } from '../../src/dashboard/graphql/client.ts';
import { HEARTBEAT_MS } from '../../src/domain/limits.ts';

/** Each client of ours, as it is used: none states a time of its own. */
const CLIENTS: Readonly<Record<string, (signal: AbortSignal) => void>> = {
  'the command listen': (signal) => {
    void followEvents({ url: 'http://service.test', secretKey: 'sk' }, signal, () => undefined).next();
  },
  'the demo': (signal) => {
    const invoice = { id: 'inv_1', client_secret: 'inv_1_secret_x' } as Parameters<typeof followStatus>[1];
    void followStatus('http://service.test', invoice, signal)
      .next()
      .catch(() => undefined);
  },
  'the pages': (signal) => {
    const { unsubscribe } = createGraphqlClient({})
      .subscription(gql`subscription { invoiceEvents { cursor } }`, {})
      .subscribe(() => undefined);
    signal.addEventListener('abort', unsubscribe);
  },
};

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each(Object.keys(CLIENTS))('%s: three missed heartbeats are a break, and two are none', async (name) => {
  vi.useFakeTimers();
  const broken: boolean[] = [];
  vi.stubGlobal('fetch', async (_url: string, { signal }: RequestInit) => {
    const nth = broken.push(false) - 1;
    signal?.addEventListener('abort', () => {
      broken[nth] = true;
    });
    // Never a byte.
    return new Response(new ReadableStream(), { headers: { 'Content-Type': 'text/event-stream' } });
  });
  // A page tries again at once when it is online.
  for (const listen of ['addEventListener', 'removeEventListener']) vi.stubGlobal(listen, () => undefined);
  const control = new AbortController();
  CLIENTS[name]?.(control.signal);
  await vi.advanceTimersByTimeAsync(2.5 * HEARTBEAT_MS);
  expect(broken).toEqual([false]);
  await vi.advanceTimersByTimeAsync(1.5 * HEARTBEAT_MS);
  expect(broken[0]).toBe(true);
  control.abort();
});
