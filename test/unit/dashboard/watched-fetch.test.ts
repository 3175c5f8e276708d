import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchedFetch } from '../../../src/dashboard/graphql/watched-fetch.ts';

const SILENCE_MS = 50_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server whose answer has the bytes that `send` gives it. */
function server() {
  let body!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      body = controller;
    },
  });
  const asked: (AbortSignal | null | undefined)[] = [];
  const fetch = watchedFetch(SILENCE_MS, async (_, init) => {
    asked.push(init?.signal);
    return new Response(stream);
  });
  return {
    fetch,
    asked,
    send: (text: string) => body.enqueue(new TextEncoder().encode(text)),
    end: () => body.close(),
  };
}

/** Reads in the background. @returns what has been read, and how it ended */
function follow(response: Response) {
  const seen = { text: '', ended: null as string | null };
  void (async () => {
    try {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) seen.text += chunk;
      seen.ended = 'complete';
    } catch (error) {
      seen.ended = (error as Error).message;
    }
  })();
  return seen;
}

it('fails an answer that is silent for too long, and none with heartbeats', async () => {
  const { fetch, asked, send } = server();
  const seen = follow(await fetch('/'));
  for (let beat = 0; beat < 10; beat++) {
    await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
    send(':\n\n');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(seen).toEqual({ text: ':\n\n'.repeat(10), ended: null });
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  expect(seen.ended).toBe('the connection is silent');
  expect(asked[0]?.aborted).toBe(true);
});

it('does not take a reader that is busy for a silent server', async () => {
  const { fetch, send } = server();
  const reader = (await fetch('/')).body!.getReader();
  send('a');
  expect((await reader.read()).value).toEqual(new TextEncoder().encode('a'));
  await vi.advanceTimersByTimeAsync(10 * SILENCE_MS);
  send('b');
  expect((await reader.read()).value).toEqual(new TextEncoder().encode('b'));
});

it('fails a request without an answer', async () => {
  const fetch = watchedFetch(SILENCE_MS, (_, init) => {
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  });
  const outcome = fetch('/').catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  expect(await outcome).toBe('the connection is silent');
});

it('ends with the caller’s signal, and leaves no timer behind', async () => {
  const { fetch } = server();
  const control = new AbortController();
  const seen = follow(await fetch('/', { signal: control.signal }));
  control.abort(new Error('enough'));
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.ended).toBe('enough');
  expect(vi.getTimerCount()).toBe(0);
});

it('passes an answer on to its end, and leaves no timer behind', async () => {
  const { fetch, send, end } = server();
  const seen = follow(await fetch('/'));
  send('all');
  end();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen).toEqual({ text: 'all', ended: 'complete' });
  expect(vi.getTimerCount()).toBe(0);
});
