import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceError } from '../../../src/domain/errors.ts';
import { callerOf, type Principal } from '../../../src/domain/principal.ts';
import { createEventStreams, type EventStreams, MAX_STREAMS } from '../../../src/transport/event-stream.ts';
import { messageOf } from '../../../src/transport/open-stream.ts';
import { releasable } from '../../../src/transport/release-request.ts';

const KEY = { kind: 'secret', keyId: 'key_1', tenant: { id: 'ten_1' } } as Principal;

type Values = Required<AsyncIterator<string>>;

let server: Server;
let streams: EventStreams;
let principal: Principal;
const revoked = new Map<string, Set<() => void>>();
/** The answer that was opened first. */
let opened: PromiseWithResolvers<ServerResponse>;
/** What the next streams tell. */
let sourceOf: () => Values;
const failures: unknown[] = [];

async function start(heartbeatMs: number): Promise<void> {
  revoked.clear();
  principal = KEY;
  sourceOf = silence;
  opened = Promise.withResolvers();
  streams = createEventStreams({
    follow(principal, onRevoked) {
      const set = revoked.get(callerOf(principal)) ?? new Set();
      revoked.set(callerOf(principal), set.add(onRevoked));
      return () => set.delete(onRevoked);
    },
    report: (error) => failures.push(error),
    heartbeatMs,
  });
  const app = new Koa();
  app.use(releasable());
  app.use((ctx) => {
    try {
      streams.open(ctx, principal, {
        values: sourceOf(),
        print: (text) => messageOf(`data: ${text}\n\n`),
        last: 'data: last\n\n',
      });
      opened.resolve(ctx.res);
    } catch (error) {
      ctx.status = (error as ServiceError).status;
    }
  });
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

// No heartbeats, but in tests of their own.
beforeEach(() => start(600_000));
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect.poll(() => streams.count()).toBe(0);
  expect([...revoked.values()].every((set) => set.size === 0)).toBe(true);
});

/** Says nothing until it is ended. */
function silence(): Values {
  const end = Promise.withResolvers<IteratorResult<string>>();
  return {
    next: () => end.promise,
    async return() {
      end.resolve({ done: true, value: undefined });
      return { done: true, value: undefined };
    },
    throw: async (error) => {
      throw error;
    },
  };
}

const port = () => (server.address() as AddressInfo).port;

/** A client that reads nothing until it is told to. */
async function silentClient(): Promise<Socket> {
  const socket = connect(port(), '127.0.0.1');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await opened.promise;
  return socket;
}

async function reading(): Promise<IncomingMessage> {
  const [response] = (await once(request({ port: port(), agent: false }).end(), 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  return response;
}

describe('an event stream', () => {
  it('has heartbeats while nothing happens, and goes on with them after a client was slow', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const beat = () => vi.advanceTimersByTime(600_000);
    const quiet = silence();
    let sent = 0;
    let asked = Date.now();
    let isFull = false;
    sourceOf = () => ({
      ...quiet,
      async next() {
        if (isFull) return quiet.next();
        asked = Date.now();
        sent++;
        return { done: false, value: 'x'.repeat(65_536) };
      },
    });
    const socket = await silentClient();
    const answer = await opened.promise;
    // Until the connection has taken no more for a moment.
    while (!answer.writableNeedDrain || Date.now() - asked < 150) await sleep(20);
    isFull = true;
    beat();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    while (answer.writableNeedDrain || (text.match(/data: /g)?.length ?? 0) < sent) await sleep(20);
    const beats = () => text.split('x\n\n').at(-1)?.split(':\n\n').length ?? 0;
    for (let i = 0; i < 3; i++) beat();
    while (beats() < 4) await sleep(20);
    expect(beats()).toBe(4);
    expect(text.match(/data: /g)?.length).toBe(sent);
    socket.destroy();
  });

  it('asks for no more than a client reads, and breaks one off that reads nothing', async () => {
    server.close();
    await start(40);
    let sent = 0;
    let ended = false;
    sourceOf = () => ({
      ...silence(),
      next: async () => ({ done: false, value: String(++sent).padEnd(65_536) }),
      async return() {
        ended = true;
        return { done: true, value: undefined };
      },
    });
    const socket = await silentClient();
    socket.on('error', () => undefined);
    await expect.poll(() => streams.count()).toBe(0);
    expect(ended).toBe(true);
    // What the system's buffers hold, and not one after that.
    expect(sent).toBeLessThan(1000);
    socket.destroy();
  });

  it('counts a long message until its client has read it: beyond the limit of all, the oldest is reset', async () => {
    const bytes = 40 * 1024 * 1024;
    sourceOf = () => {
      let sent = false;
      const quiet = silence();
      return {
        ...quiet,
        next() {
          if (sent) return quiet.next();
          sent = true;
          return Promise.resolve({ done: false, value: 'x'.repeat(bytes) });
        },
      };
    };
    const first = await silentClient();
    first.on('error', () => undefined);
    await expect.poll(() => streams.unread.bytes).toBeGreaterThan(bytes / 2);
    const second = await silentClient();
    await expect.poll(() => streams.unread.bytes).toBeGreaterThan(bytes / 2);
    await expect.poll(() => streams.count()).toBe(1);
    second.resume();
    await expect.poll(() => streams.unread.bytes).toBe(0);
    // The end of it is still in the system's buffers.
    await expect.poll(() => [streams.count(), second.bytesRead > bytes]).toEqual([1, true]);
    first.destroy();
    second.destroy();
  });

  it('ends with its source, and in order also when that fails', async () => {
    async function* values(failing: boolean) {
      yield 'one';
      if (failing) throw new Error('it fails');
    }
    for (const [failing, expected] of [
      [false, ':\n\ndata: one\n\ndata: last\n\n'],
      [true, ':\n\ndata: one\n\n'],
    ] as const) {
      sourceOf = () => values(failing);
      const response = await reading();
      let text = '';
      for await (const chunk of response) text += chunk;
      expect([text, response.complete]).toEqual([expected, true]);
    }
    expect(failures.splice(0)).toMatchObject([{ message: 'it fails' }]);
  });

  /** `next` gives one value, and then does what the test says. */
  function failing(next: () => unknown): Values {
    let calls = 0;
    return {
      ...silence(),
      next: () => (++calls === 1 ? Promise.resolve({ done: false, value: 'one' }) : next()) as Promise<never>,
    };
  }

  it.each([
    ['rejects', () => Promise.reject(new Error('it fails')), { message: 'it fails' }],
    [
      'throws at once',
      () => {
        throw new Error('it fails');
      },
      { message: 'it fails' },
    ],
    ['has no result', () => Promise.resolve(undefined), expect.any(TypeError)],
    // A symbol cannot be part of a text.
    [
      'has a value that cannot be printed',
      () => Promise.resolve({ done: false, value: Symbol() }),
      expect.any(TypeError),
    ],
  ])('ends in order, and reports it, when its source %s', async (_what, next, failure) => {
    sourceOf = () => failing(next);
    const response = await reading();
    let text = '';
    for await (const chunk of response) text += chunk;
    expect([text, response.complete]).toEqual([':\n\ndata: one\n\n', true]);
    expect(failures.splice(0)).toMatchObject([failure]);
  });

  it('ends in order, for those that are open and those that come later, when the service stops, and says when to come back', async () => {
    const response = await reading();
    streams.close();
    let text = '';
    for await (const chunk of response) text += chunk;
    expect([text, response.complete]).toEqual([expect.stringMatching(/^:\n\nretry: [1-9]\d*\n\n$/), true]);
    const late = await reading();
    text = '';
    for await (const chunk of late) text += chunk;
    expect([text, late.complete]).toEqual([expect.stringMatching(/^:\n\nretry: [1-9]\d*\n\n$/), true]);
  });

  it('keeps nothing of its request while it is open, and still ends in order', async () => {
    const response = await reading();
    const answer = await opened.promise;
    await expect.poll(() => answer.req.rawHeaders).toEqual([]);
    expect([answer.req.headers, answer.getHeaderNames(), answer.headersSent]).toEqual([{}, [], true]);
    streams.close();
    for await (const _ of response);
    expect(response.complete).toBe(true);
  });

  it('ends when its key is revoked', async () => {
    const response = await reading();
    for (const end of revoked.get('key_1') ?? []) end();
    for await (const _ of response);
    expect(response.complete).toBe(true);
  });

  it('that ended is reset when its client does not read what there is', async () => {
    let sent = 0;
    sourceOf = () => ({
      ...silence(),
      next: async () => ({ done: false, value: String(++sent).padEnd(65_536) }),
    });
    const socket = await silentClient();
    const answer = await opened.promise;
    // Until the connection takes no more.
    for (let before = -1; before !== sent || !answer.writableNeedDrain; await sleep(200)) before = sent;
    const gone = once(answer, 'close');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const end of revoked.get('key_1') ?? []) end();
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await gone;
    // In order it would end only when its client has read all.
    const error = once(socket, 'error');
    socket.resume();
    expect(await error).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('is one of a limited number', async () => {
    principal = { kind: 'client', invoiceId: 'inv_1' };
    const open = await Promise.all(Array.from({ length: MAX_STREAMS.client }, reading));
    expect((await reading()).statusCode).toBe(429);
    open[0]?.destroy();
    await expect.poll(() => streams.count()).toBe(MAX_STREAMS.client - 1);
    const again = await reading();
    expect(again.statusCode).toBe(200);
  });
});
