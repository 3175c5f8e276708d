import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import { mostConnections, reservedFiles } from '../../../src/domain/connections.ts';
import { createRateLimiter } from '../../../src/storage/rate-limiter.ts';
import { type ConnectionLimits, limitConnections, UNLIMITED } from '../../../src/transport/connection-limits.ts';
import { createEventStreams } from '../../../src/transport/event-stream.ts';
import { type HttpServer, listen } from '../../../src/transport/http-server.ts';

let server: HttpServer | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close({ delayMs: 0, graceMs: 0, patient: false });
  server = null;
});

/** A connection that sends `bytes`, and all that comes back on it. */
function client(bytes = ''): { readonly socket: Socket; readonly text: () => string; readonly ended: Promise<void> } {
  const socket = connect(Number(new URL(server?.url ?? '').port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => resolve()).on('close', () => resolve());
  });
  if (bytes !== '') socket.write(bytes);
  return { socket, text: () => text, ended };
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function serve(limits: Partial<ConnectionLimits>): Promise<{ handled: () => number }> {
  let handled = 0;
  server = await listen(0, '127.0.0.1', {}, { ...UNLIMITED, ...limits });
  server.serve(
    (_request, response) => {
      handled++;
      response.end('done');
    },
    {
      log: pino({ level: 'silent' }),
      limiter: createRateLimiter({ secret: 1, tenant: 1, publishable: 1, address: 100, common: 100 }, null),
      streams: createEventStreams({ follow: () => () => undefined, report: () => undefined }),
    },
  );
  return { handled: () => handled };
}

it.each([
  ['sends nothing', ''],
  ['sends a request', GET],
])('one connection too many, that %s, gets 503; the others go on, and leave their places', async (_name, bytes) => {
  const { handled } = await serve({ total: 3 });
  const others = [client(GET), client(GET), client()];
  await expect.poll(() => others.filter(({ text }) => text().endsWith('done')).length).toBe(2);
  const refused = client(bytes);
  await refused.ended;
  const [head = '', body = ''] = refused.text().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 503 /);
  for (const header of ['Retry-After: 2', 'Connection: close', 'X-RateLimit-Limit: 100', 'Request-Id: req_'])
    expect(head).toContain(`\r\n${header}`);
  expect(JSON.parse(body)).toEqual({
    error: { code: 'internal_error', message: expect.stringContaining('connections'), param: null, status: 503 },
  });
  expect(handled()).toBe(2);
  others[0]?.socket.write(GET);
  await expect.poll(handled).toBe(3);
  others[2]?.socket.destroy();
  await expect
    .poll(async () => {
      const next = client(GET);
      await expect.poll(() => next.text()).not.toBe('');
      next.socket.destroy();
      return next.text().slice(9, 12);
    })
    .toBe('200');
});

it('refused clients that neither read nor close are gone soon, however many they are', async () => {
  await serve({ total: 1 });
  const first = client(GET);
  await expect.poll(first.text).toContain('done');
  const { port } = new URL(server?.url ?? '');
  let gone = 0;
  const refused = Array.from({ length: 300 }, () =>
    connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
      .on('error', () => undefined)
      .on('close', () => gone++),
  );
  sockets.push(...refused);
  const tryAll = () => {
    for (const socket of refused) if (!socket.destroyed) socket.write('x');
    return gone;
  };
  await expect.poll(tryAll).toBe(300);
});

it('refuses, too, when anything else has used up the files for clients', async () => {
  let short = false;
  await serve({ total: 8, isShort: () => short });
  const first = client(GET);
  await expect.poll(first.text).toContain('done');
  short = true;
  const refused = client(GET);
  await refused.ended;
  expect(refused.text()).toContain(' 503 ');
  first.socket.write(GET);
  await expect.poll(() => first.text().split('done').length).toBe(3);
});

/** A server whose connections come from any address. */
function anyAddresses(limits: Partial<ConnectionLimits>) {
  const emitter = new EventEmitter();
  const warn = vi.fn();
  const admission = limitConnections(emitter as Server, { ...UNLIMITED, ...limits });
  admission.answer(() => 'refused', { warn });
  return {
    warn,
    connect(remoteAddress: string) {
      const socket = Object.assign(new PassThrough(), { remoteAddress, destroySoon: () => socket.destroy() });
      emitter.emit('connection', socket);
      return { isRefused: admission.isRefused(socket as unknown as Socket), close: () => socket.destroy() };
    },
  };
}

it('an address has a part of the connections; those of this machine have all', async () => {
  const { connect: from, warn } = anyAddresses({ total: 100, perAddress: 2 });
  const attacker = ['2001:db8::1', '2001:db8::2', '2001:db8::3'].map((address) => from(address));
  expect(attacker.map(({ isRefused }) => isRefused)).toEqual([false, false, true]);
  expect([from('192.0.2.1').isRefused, from('::ffff:192.0.2.1').isRefused]).toEqual([false, false]);
  expect(from('192.0.2.1').isRefused).toBe(true);
  for (const local of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    for (let i = 0; i < 5; i++) expect(from(local).isRefused).toBe(false);
  attacker[0]?.close();
  await new Promise(setImmediate);
  expect(from('2001:db8::4').isRefused).toBe(false);
  // Once a minute.
  expect(warn).toHaveBeenCalledTimes(1);
});

it('has no limit for an address where proxies hold the connections of all clients', () => {
  expect(mostConnections(65_536, { total: null, perAddress: null }, true).perAddress).toBeNull();
  const { connect: from } = anyAddresses({ total: 100, perAddress: null });
  for (let i = 0; i < 100; i++) expect(from('10.0.0.1').isRefused).toBe(false);
  expect(from('10.0.0.1').isRefused).toBe(true);
});

it('derives the limits from the open files that the system allows', () => {
  const unset = { total: null, perAddress: null };
  const of = (files: number | null) => mostConnections(files, unset, false);
  // `npm run bench streams` has 19,500 streams in a process of 20,000 files.
  expect(of(20_000).total).toBeGreaterThan(19_600);
  expect(of(1_048_576)).toEqual({ total: 32_768, perAddress: 8192 });
  expect(of(null)).toEqual({ total: 32_768, perAddress: 8192 });
  expect(of(1024)).toEqual({ total: 768, perAddress: 192 });
  expect(of(3000).total).toBe(2744);
  expect(of(100).total).toBe(50);
  expect(mostConnections(65_536, { total: 50_000, perAddress: 10 }, false)).toEqual({ total: 50_000, perAddress: 10 });
  for (const files of [64, 1024, 65_536, 1_048_576])
    expect(of(files).total).toBeLessThanOrEqual(files - reservedFiles(files));
});
