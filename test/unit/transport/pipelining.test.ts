import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/domain/principal.ts';
import { createEventStreams } from '../../../src/transport/event-stream.ts';
import { type HttpServer, listen } from '../../../src/transport/http-server.ts';
import { compressReads } from '../../../src/transport/middleware/compress.ts';
import { limitUnread } from '../../../src/transport/middleware/unread-answers.ts';
import { messageOf } from '../../../src/transport/open-stream.ts';
import { createUnreadAnswers } from '../../../src/transport/unread-answers.ts';

const requestOf = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const GET = requestOf('/');

let server: HttpServer;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close({ delayMs: 0, graceMs: 0, patient: false });
});

async function serve(handle: RequestListener): Promise<void> {
  server = await listen(0, '127.0.0.1');
  server.serve(handle, {
    log: pino({ level: 'silent' }),
    limiter: {} as never,
    streams: createEventStreams({ follow: () => () => undefined, report: () => undefined }),
  });
}

async function send(bytes: string): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, text: () => text };
}

it('a connection with more requests than a client pipelines is closed, and they are not handled', async () => {
  let handled = 0;
  await serve(() => {
    handled++;
  });
  const { socket } = await send(GET.repeat(5000));
  await expect.poll(() => socket.destroyed).toBe(true);
  expect(handled).toBeLessThan(100);
  const other = await send(GET);
  await expect.poll(() => handled).toBeGreaterThan(0);
  expect(other.socket.destroyed).toBe(false);
});

it('requests that a client pipelines are all answered, also after many others', async () => {
  const open: ServerResponse[] = [];
  await serve((_, response) => {
    open.push(response);
    if (open.length === 10) for (const each of open.splice(0)) each.end('done');
  });
  const { text } = await send(GET.repeat(10));
  for (let round = 1; round <= 5; round++) {
    await expect.poll(() => text().split('done').length - 1).toBe(10 * round);
    sockets[0]?.write(GET.repeat(10));
  }
});

it('an answer that waits for another one has the same headers', async () => {
  const app = new Koa();
  app.use(compressReads());
  app.use(limitUnread(createUnreadAnswers()));
  app.use((ctx) => {
    ctx.body = 'small';
  });
  await serve(app.callback());
  const { text } = await send(GET.repeat(2));
  await expect.poll(() => text().split('small').length - 1).toBe(2);
  expect(text().match(/^Vary: Accept-Encoding\r$/gm)).toHaveLength(2);
});

describe('behind an event stream', () => {
  const streams = createEventStreams({ follow: () => () => undefined, report: () => undefined });
  let handled: string[];
  let ended: number;
  /** Ends the open stream. */
  let end: () => void;

  beforeEach(async () => {
    [handled, ended] = [[], 0];
    const app = new Koa();
    app.use(async (ctx) => {
      handled.push(ctx.path);
      if (ctx.path !== '/stream') {
        ctx.body = `answer to ${ctx.path}`;
        return;
      }
      // As long as it takes to look at the credential.
      await sleep(20);
      const done = Promise.withResolvers<IteratorResult<string>>();
      end = () => done.resolve({ done: true, value: undefined });
      const values = {
        next: () => done.promise,
        async return() {
          ended++;
          return { done: true as const, value: undefined };
        },
      };
      const principal = { kind: 'secret', keyId: 'key_1' } as Principal;
      streams.open(ctx, principal, { values, print: (text) => messageOf(`data: ${text}\n\n`), last: 'data: last\n\n' });
    });
    await serve(app.callback());
  });

  it.each(['/a', '/stream'])('no request for %s is handled, and the connection is closed', async (path) => {
    const { socket, text } = await send(requestOf('/stream'));
    await expect.poll(text).toContain(':\n\n');
    socket.write(requestOf(path).repeat(15));
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(handled).toEqual(['/stream']);
    await expect.poll(() => ended).toBe(1);
  });

  it('none may wait that was sent with it', async () => {
    const { socket } = await send(requestOf('/stream') + requestOf('/a').repeat(15));
    await expect.poll(() => socket.destroyed).toBe(true);
    await expect.poll(() => ended).toBe(1);
  });

  it('the next one is answered when it has ended', async () => {
    const { socket, text } = await send(requestOf('/stream'));
    await expect.poll(text).toContain(':\n\n');
    end();
    await expect.poll(text).toMatch(/data: last\n\n\r\n0\r\n\r\n$/);
    socket.write(requestOf('/a') + requestOf('/b'));
    await expect.poll(text).toMatch(/answer to \/a.*answer to \/b$/s);
    socket.write(requestOf('/stream'));
    await expect.poll(text).toMatch(/:\n\n\r\n$/);
    socket.write(requestOf('/c'));
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(handled).toEqual(['/stream', '/a', '/b', '/stream']);
  });

  it('nothing is, when it waits for other answers itself', async () => {
    const { socket, text } = await send(requestOf('/a') + requestOf('/stream'));
    await expect.poll(text).toMatch(/answer to \/a.*:\n\n\r\n$/s);
    socket.destroy();
    await expect.poll(() => ended).toBe(1);
  });
});

it('a request for a tunnel closes the connection and all answers that wait on it', async () => {
  const [opened, closed]: string[][] = [[], []];
  await serve(({ url = '' }, response) => {
    opened?.push(url);
    response.once('close', () => closed?.push(url));
    if (url !== '/first') response.end('done');
  });
  const { socket } = await send(requestOf('/first') + requestOf('/second') + requestOf('/third'));
  await expect.poll(() => opened).toEqual(['/first', '/second', '/third']);
  socket.write(requestOf('x:443', 'CONNECT'));
  await expect.poll(() => socket.destroyed).toBe(true);
  await expect.poll(() => closed?.toSorted()).toEqual(['/first', '/second', '/third']);
});
