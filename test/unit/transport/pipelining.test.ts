import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import Koa from 'koa';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { createEventStreams } from '../../../src/transport/event-stream.ts';
import { type HttpServer, listen } from '../../../src/transport/http-server.ts';
import { compressReads } from '../../../src/transport/middleware/compress.ts';
import { limitUnread } from '../../../src/transport/middleware/unread-answers.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

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
  app.use(limitUnread());
  app.use((ctx) => {
    ctx.body = 'small';
  });
  await serve(app.callback());
  const { text } = await send(GET.repeat(2));
  await expect.poll(() => text().split('small').length - 1).toBe(2);
  expect(text().match(/^Vary: Accept-Encoding\r$/gm)).toHaveLength(2);
});
