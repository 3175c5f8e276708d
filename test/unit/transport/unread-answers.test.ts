import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import Koa from 'koa';
import { afterEach, expect, it } from 'vitest';
import { sharerOf } from '../../../src/domain/principal.ts';
import type { Tenant } from '../../../src/domain/tenant/tenant.ts';
import { limitUnread } from '../../../src/transport/middleware/unread-answers.ts';
import { createUnreadAnswers } from '../../../src/transport/unread-answers.ts';

/** More than the buffers of a connection take. */
const ANSWER_BYTES = 16 * 1024 * 1024;

let server: Server | undefined;
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

it('a publishable key, which stands in pages, costs its tenant no answer of a secret key', () => {
  const unread = createUnreadAnswers(100);
  const dropped: string[] = [];
  const tenant = { id: 'ten_1' } as Tenant;
  const add = (kind: 'secret' | 'publishable', bytes: number) => {
    const sharer = sharerOf({ kind, keyId: kind, tenant, environment: 'test' });
    unread.add(sharer, { bytes, drop: () => dropped.push(kind) });
  };
  add('secret', 40);
  add('publishable', 60);
  add('publishable', 20);
  expect(dropped).toEqual(['publishable']);
});

it.each(['koa', 'node', 'a buffer'])(
  'clients that do not read are reset, also when %s writes; others get their answers',
  async (by) => {
    const app = new Koa();
    app.use(limitUnread(createUnreadAnswers(3.5 * ANSWER_BYTES)));
    app.use((ctx) => {
      ctx.state.identity = { principal: { kind: 'secret', tenant: { id: ctx.path } } };
      const text = 'x'.repeat(ANSWER_BYTES);
      if (by === 'koa') ctx.body = text;
      else if (by === 'a buffer') ctx.body = Buffer.from(text);
      else {
        ctx.respond = false;
        ctx.res.end(text);
      }
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const request = async (path: string): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await expect.poll(() => socket.readableLength).toBeGreaterThan(0);
      return socket;
    };
    const [victim, first, second] = [await request('/b'), await request('/a'), await request('/a')];
    for (let n = 0; n < 2; n++) {
      const answer = await fetch(`http://127.0.0.1:${port}/c`);
      expect((await answer.arrayBuffer()).byteLength).toBe(ANSWER_BYTES);
    }
    const [ofVictim, ofFirst, ofSecond] = [victim, first, second].map(bytesOf);
    await expect.poll(() => first.destroyed).toBe(true);
    expect(ofFirst?.()).toBeLessThan(ANSWER_BYTES);
    for (const bytes of [ofVictim, ofSecond]) await expect.poll(() => bytes?.()).toBeGreaterThan(ANSWER_BYTES);
  },
);

it('streams count with what they take, not with their length', async () => {
  const MEBIBYTE = 1024 * 1024;
  const unread = createUnreadAnswers(MEBIBYTE);
  const app = new Koa();
  app.silent = true;
  app.use(limitUnread(unread));
  app.use((ctx) => {
    ctx.body = Readable.from(Array.from({ length: 64 }, () => Buffer.alloc(MEBIBYTE / 4, 'x')));
    ctx.length = ANSWER_BYTES;
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let n = 0; n < 4; n++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await expect.poll(() => socket.readableLength).toBeGreaterThan(0);
  }
  expect(unread.bytes).toBe(MEBIBYTE);
  for (const socket of sockets) socket.resume();
  await expect.poll(() => unread.bytes).toBe(0);
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]);
  expect(sockets.map(({ bytesRead }) => bytesRead > ANSWER_BYTES)).toEqual([false, false, true, true]);
});

/** Reads what arrives. @returns a function that tells how many bytes it is */
function bytesOf(socket: Socket): () => number {
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  return () => bytes;
}

it('small answers that wait behind others of their connection count, too', async () => {
  const app = new Koa();
  app.use(limitUnread(createUnreadAnswers(4 * 1024 * 1024)));
  app.use((ctx) => {
    ctx.body = 'x'.repeat(ctx.path === '/first' ? ANSWER_BYTES / 8 : 50_000);
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  const closed = once(socket, 'close');
  const broken = once((await accepted)[0] as Socket, 'close');
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.write(get('/first') + get('/more').repeat(100));
  await broken;
  // Only a connection that is read notices its end.
  socket.resume();
  await closed;
  expect(socket.bytesRead).toBeLessThan(ANSWER_BYTES / 8 + 100 * 50_000);
});

it.each(['GET', 'HEAD', 'GET refused'])(
  'requests count until their answers can be sent, however small those are: %s',
  async (kind) => {
    const app = new Koa();
    app.silent = true;
    app.use(limitUnread(createUnreadAnswers(4 * 1024 * 1024)));
    const held = Promise.withResolvers<void>();
    let handled = 0;
    let dropped = 0;
    app.use(async (ctx) => {
      if (ctx.path === '/first') return held.promise;
      handled++;
      if (kind.endsWith('refused')) ctx.throw(400);
      ctx.body = 'small';
    });
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const more = `${kind.split(' ')[0]} /more HTTP/1.1\r\nHost: x\r\nx: ${'x'.repeat(8000)}\r\n\r\n`;
    for (let n = 0; n < 50; n++) {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {}).on('close', () => dropped++);
      socket.write(`GET /first HTTP/1.1\r\nHost: x\r\n\r\n${more.repeat(8)}`);
    }
    await expect.poll(() => handled).toBe(400);
    // At 8,000 bytes each and more.
    await expect.poll(() => dropped).toBeGreaterThan(0);
    held.resolve();
  },
);
