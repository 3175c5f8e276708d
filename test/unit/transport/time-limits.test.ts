import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServiceError } from '../../../src/domain/errors.ts';
import { BODY_MS, readText } from '../../../src/transport/body.ts';
import { createEventStreams } from '../../../src/transport/event-stream.ts';
import { type HttpServer, listen } from '../../../src/transport/http-server.ts';

/** Real ones are a minute and more. */
const SHORT = { headers: 300, request: 600, check: 50, idle: 1000, silence: 1000, linger: 300 };
/** For clients that send their requests at once: a loaded machine may hear of them later than it is told here. */
const AFTER_THE_REQUEST = { ...SHORT, headers: 60_000, request: 60_000 };
/** Far more than these, far less than Node's own limits. */
const SOON = { timeout: 20_000 };

let server: HttpServer;
const sockets: Socket[] = [];

async function serve(handle: RequestListener, limits = SHORT): Promise<void> {
  server = await listen(0, '127.0.0.1', limits);
  const limit = { allowed: true, limit: 1, remaining: 1, reset: 1, retryAfter: 0 };
  server.serve(handle, {
    log: pino({ level: 'silent' }),
    limiter: { consume: async () => limit } as never,
    streams: createEventStreams({ follow: () => () => undefined, report: () => undefined }),
  });
}

/** A client that never closes. */
function open(): { socket: Socket; text: () => string; closed: () => boolean } {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  let closed = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  // What the server closed answers the next byte with a reset.
  socket.on('error', () => {
    closed = true;
  });
  socket.on('close', () => {
    closed = true;
  });
  return { socket, text: () => text, closed: () => closed };
}

afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close({ delayMs: 0, graceMs: 0, patient: false });
});

/** Sends a byte now and then until the connection is gone. */
async function drip({ socket, closed }: ReturnType<typeof open>): Promise<void> {
  while (!closed()) {
    socket.write(' ');
    await sleep(50);
  }
}

describe('a client that takes its time', () => {
  it.each([
    ['sends nothing', ''],
    ['does not end its headers', 'GET / HTTP/1.1\r\nX: '],
    ['does not end its body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n'],
  ])('that %s: 408, and the connection is gone though it drips on', async (_, bytes) => {
    await serve(() => undefined);
    const client = open();
    client.socket.write(bytes);
    await expect.poll(client.text, SOON).toMatch(/^HTTP\/1\.1 408 /);
    expect(client.text()).toContain('"code":"invalid_request"');
    await drip(client);
  });

  it('before its next request is told how long its connection stays open, and it is closed then', async () => {
    await serve((_request, response) => response.end('hello'), AFTER_THE_REQUEST);
    const client = open();
    const ended = new Promise((resolve) => client.socket.once('end', resolve).once('close', resolve));
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(client.text, SOON).toMatch(/hello$/);
    expect(client.text()).toMatch(/\r\nKeep-Alive: timeout=1\r\n/);
    await ended;
  });

  it('and never reads its answer is reset', async () => {
    const taken = Promise.withResolvers<Socket>();
    await serve((request, response) => {
      taken.resolve(request.socket);
      response.end(Buffer.alloc(32 * 1024 * 1024));
    }, AFTER_THE_REQUEST);
    const { socket } = open();
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(await taken.promise, 'close');
    const [error] = await Promise.all([once(socket, 'error'), socket.resume()]);
    expect(error).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('with a body that is read: 408 after its time, and the rest of it is no further request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reading = Promise.withResolvers<void>();
    const app = new Koa();
    app.use(async (ctx) => {
      ctx.req.once('newListener', () => reading.resolve());
      ctx.body = await readText(ctx).catch((error: ServiceError) => {
        ctx.status = error.status;
        return error.message;
      });
    });
    const plain = app.listen(0, '127.0.0.1');
    try {
      await once(plain, 'listening');
      const socket = connect((plain.address() as AddressInfo).port, '127.0.0.1');
      sockets.push(socket);
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
      await reading.promise;
      vi.advanceTimersByTime(BODY_MS);
      vi.useRealTimers();
      await once(socket, 'end');
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(text).toMatch(/\r\nConnection: close\r\n/);
      expect(text).toMatch(/did not arrive within 60 s\.$/);
    } finally {
      plain.closeAllConnections();
      plain.close();
    }
  });
});
