import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { makeTestIdentity } from '../../../src/adapters/signing-key/test-certificate.ts';
import { createWebhookSender, type WebhookHttpSender } from '../../../src/adapters/webhook-http/webhook-sender.ts';
import { holdSilentPort } from '../../support/silent-port.ts';
import { holdSlowPort } from '../../support/slow-port.ts';

// Limits that only a hanging request exceeds. The tests of the limits use fake timers.
let sender: WebhookHttpSender;
const servers: { close(): unknown }[] = [];

beforeAll(() => {
  sender = createWebhookSender({ allowInsecure: true, connectTimeoutMs: 40_000, totalTimeoutMs: 50_000 });
});
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => sender.close());

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push({
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return (server.address() as { port: number }).port;
}

async function answered(receiver: RequestListener) {
  const port = await listen(createServer(receiver));
  return sender.send({ url: `http://127.0.0.1:${port}/hook?a=1`, headers: { 'X-Test': 'yes' }, body: '{"a":"é"}' });
}

it('posts body and headers unchanged, and returns the response', async () => {
  let seen = {};
  const result = await answered((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      seen = { method: request.method, url: request.url, test: request.headers['x-test'], body };
      response.writeHead(201, { 'X-Answer': 'yes' }).end('thanks');
    });
  });
  expect(seen).toEqual({ method: 'POST', url: '/hook?a=1', test: 'yes', body: '{"a":"é"}' });
  expect(result).toMatchObject({ status: 201, body: 'thanks', truncated: false, failure: null });
  expect(result.headers).toContainEqual(['x-answer', 'yes']);
  expect(result.latencyMs).toBeGreaterThan(0);
});

it.each([301, 302, 303, 307, 308])('a redirect (%i) is a response and is not followed', async (status) => {
  let followed = false;
  const result = await answered((request, response) => {
    if (request.url === '/elsewhere') followed = true;
    response.writeHead(status, { Location: '/elsewhere' }).end();
  });
  expect(result).toMatchObject({ status, failure: null });
  expect(followed).toBe(false);
});

it.each([400, 410, 429, 500, 503])('%i is a response', async (status) => {
  const result = await answered((_request, response) => response.writeHead(status, { 'Retry-After': '7' }).end('no'));
  expect(result).toMatchObject({ status, body: 'no', failure: null });
  expect(result.headers).toContainEqual(['retry-after', '7']);
});

/**
 * Sends with the default limits and a stopped clock until the receiver has done `enough` steps, so that a dripping
 * receiver has surely been read. Then checks that the attempt lasts exactly until its limit, 15 s.
 */
async function untilLimit(port: number, steps: () => number, enough: number) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const timed = createWebhookSender({ allowInsecure: true });
  try {
    let over = false;
    const sending = timed.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }).finally(() => {
      over = true;
    });
    while (steps() < enough) await turn();
    vi.advanceTimersByTime(14_999);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(over).toBe(false);
    vi.advanceTimersByTime(1);
    const result = await sending;
    expect(result.latencyMs).toBe(15_000);
    return result;
  } finally {
    await timed.close();
  }
}

it('an attempt without a response ends at the limit', async () => {
  let requests = 0;
  const port = await listen(createServer(() => requests++));
  const result = await untilLimit(port, () => requests, 1);
  expect(result).toMatchObject({ status: null, failure: { code: 'timeout' } });
});

it('the status of a response with a dripping body is known, and the attempt ends at the limit', async () => {
  let drips = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('.', () => drips++), 10);
    response.on('close', () => clearInterval(drip));
  });
  const result = await untilLimit(await listen(server), () => drips, 5);
  expect(result).toMatchObject({ status: 200, failure: null });
  expect(result.body).toMatch(/^\.+$/);
});

it('dripping headers are not a response', async () => {
  let drips = 0;
  const port = await listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const drip = setInterval(() => socket.write('.', () => drips++), 10);
      socket.on('close', () => clearInterval(drip));
    }),
  );
  const result = await untilLimit(port, () => drips, 5);
  expect(result).toMatchObject({ status: null, failure: { code: 'timeout' } });
});

it('reads 16 KiB of a gigabyte and aborts the rest', async () => {
  let written = 0;
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const result = await answered((_request, response) => {
    const more = () => {
      while (written < 2 ** 30 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) return response.once('drain', more);
      }
      return response.end();
    };
    more();
  });
  expect(result).toMatchObject({ status: 200, truncated: true, failure: null });
  expect(result.body).toBe('x'.repeat(16 * 1024));
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

it('a receiver that breaks the connection or does not speak HTTP is a failure', async () => {
  const broken = await answered((request) => request.socket.resetAndDestroy());
  expect(broken).toMatchObject({ status: null, failure: { code: 'connection_broken' } });
  const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-x\r\n')));
  const alien = await sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  expect(alien).toMatchObject({ status: null, failure: { code: 'connection_broken' } });
});

it('an idle connection that the receiver was just closing is not a failure: the request is sent on a new one', async () => {
  const used = new Set<Socket>();
  let requests = 0;
  let broken = 0;
  const server = createServer((request, response) => {
    requests++;
    // The first request on a reused connection finds it closed before any response.
    if (used.has(request.socket) && broken++ === 0) return void request.socket.destroy();
    used.add(request.socket);
    response.end('ok');
  });
  const port = await listen(server);
  const send = () => sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  let sent = 0;
  // Idle connections are reused; undici decides when a connection counts as idle.
  for (; broken === 0; sent++) expect(await send()).toMatchObject({ status: 200, failure: null });
  expect(requests).toBe(sent + 1);
});

it('the new attempt after such a connection does not depend on what other endpoints do', async () => {
  let close: () => void = () => undefined;
  const dies = await listen(
    createTcpServer((socket) => {
      let requests = 0;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        if (requests++ === 0) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        // A request on the open connection waits until another endpoint has got a new connection.
        close = () => socket.destroy();
        waiting.resolve();
      });
    }),
  );
  const waiting = Promise.withResolvers<void>();
  const other = await listen(createServer((_request, response) => response.end('ok')));
  const send = (port: number) => sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  expect(await send(dies)).toMatchObject({ status: 200 });
  await turn();
  const second = send(dies);
  await waiting.promise;
  expect(await send(other)).toMatchObject({ status: 200 });
  close();
  expect(await second).toMatchObject({ status: 200, failure: null });
});

it('a connection that takes longer than 250 ms is waited for where the host has an address of the other family', async () => {
  const slow = await holdSlowPort();
  const patient = createWebhookSender({
    allowInsecure: true,
    // Nothing listens on the second one.
    resolve: (_host, done) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]),
  });
  const sending = patient.send({ url: `http://receiver.example:${slow.port}/`, headers: {}, body: '{}' });
  setTimeout(() => slow.release(), 500);
  const result = await sending;
  await Promise.all([patient.close(), slow.close()]);
  expect(result).toMatchObject({ status: 200, failure: null });
});

/** Writes endlessly; `drips` counts the writes. */
let drips = 0;
const endless =
  (text: string, first = '') =>
  (socket: Socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(text, () => drips++), 5);
    socket.on('close', () => clearInterval(timer));
  };
const once = (text: string) => (socket: Socket) => void socket.end(Buffer.from(text, 'latin1'));

it.each<[string, (socket: Socket) => void, number | null, string | undefined]>([
  ['a status below 100', once('HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n'), null, 'connection_broken'],
  [
    'a switch of protocol',
    once('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    null,
    'connection_broken',
  ],
  [
    'two lengths',
    once('HTTP/1.1 200 X\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    null,
    'connection_broken',
  ],
  ['an endless header', endless('x'.repeat(5000), 'HTTP/1.1 200 X\r\nA: '), null, 'connection_broken'],
  ['a chunk that is none', once('HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'), 200, undefined],
  [
    'bytes that are not UTF-8',
    once('HTTP/1.1 200 X\r\nX-A: \xff\r\nContent-Length: 3\r\n\r\n\xff\0\xfe'),
    200,
    undefined,
  ],
  [
    'header names that are properties of Object',
    once('HTTP/1.1 200 X\r\n__proto__: a\r\n__proto__: b\r\nconstructor: c\r\nContent-Length: 0\r\n\r\n'),
    200,
    undefined,
  ],
])(
  'a hostile response counts as a response or a failure, without other effects: %s',
  async (_what, answer, status, code) => {
    const port = await listen(
      createTcpServer((socket) => void socket.on('error', () => undefined).once('data', () => answer(socket))),
    );
    const result = await sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
    expect(result.status).toBe(status);
    expect(result.failure === null).toBe(status !== null);
    if (code !== undefined) expect(result.failure?.code).toBe(code);
    expect(result.headers.flat().every((each) => typeof each === 'string')).toBe(true);
  },
);

it.each([
  ['endless early hints', 'HTTP/1.1 103 X\r\nLink: a\r\n\r\n'],
  ['an endless status line', 'HTTP/1.1 200 x'],
])('%s are not a response, and the attempt ends at the limit', async (_what, text) => {
  drips = 0;
  const port = await listen(
    createTcpServer((socket) => void socket.on('error', () => undefined).once('data', () => endless(text)(socket))),
  );
  const result = await untilLimit(port, () => drips, 20);
  expect(result).toMatchObject({ status: null, headers: [], failure: { code: 'timeout' } });
});

it('headers of 20 KB are an answer, of which 16 KiB are kept', async () => {
  const result = await answered((_request, response) =>
    response
      .writeHead(200, { 'X-A': 'a'.repeat(9000), 'X-B': 'b'.repeat(9000), 'X-C': 'c'.repeat(2000) })
      .end('thanks'),
  );
  expect(result).toMatchObject({ status: 200, body: 'thanks', failure: null });
  expect(result.headers).toContainEqual(['x-a', 'a'.repeat(9000)]);
  expect(result.headers.flat().join('').length).toBeLessThanOrEqual(16 * 1024);
});

it('headers of more than 64 KiB are refused', async () => {
  const result = await answered((_request, response) =>
    response.writeHead(200, { 'X-Long': 'x'.repeat(70_000) }).end(),
  );
  expect(result).toMatchObject({ status: null, failure: { code: 'connection_broken' } });
});

it('a refused connection and an unknown name are failures', async () => {
  const silent = await holdSilentPort();
  const refused = await sender.send({ url: `http://127.0.0.1:${silent.port}/`, headers: {}, body: '{}' });
  silent.release();
  expect(refused).toMatchObject({ status: null, failure: { code: 'connection_failed' } });
  const failing = createWebhookSender({
    allowInsecure: true,
    resolve: (host, done) => done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }), []),
  });
  const unknown = await failing.send({ url: 'https://nowhere.example/', headers: {}, body: '{}' });
  await failing.close();
  expect(unknown).toMatchObject({ status: null, failure: { code: 'unknown_host' } });
});

it('a resolver answer without addresses is an unknown host', async () => {
  const empty = createWebhookSender({ allowInsecure: false, resolve: (_host, done) => done(null, []) });
  const result = await empty.send({ url: 'https://nowhere.example/', headers: {}, body: '{}' });
  await empty.close();
  expect(result).toMatchObject({ failure: { code: 'unknown_host', message: 'nowhere.example has no address' } });
});

it('an untrusted certificate ends the attempt before anything is sent', async () => {
  const { privateKey, certificateChain } = await makeTestIdentity(new Date(Date.now() - 1000));
  let requests = 0;
  const server = createHttpsServer({
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    cert: certificateChain.map(String).join('\n'),
  });
  server.on('request', () => requests++);
  const port = await listen(server);
  const result = await sender.send({ url: `https://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  expect(result).toMatchObject({ status: null, failure: { code: 'tls_failed' } });
  expect(requests).toBe(0);
});

it('a request that cannot be sent is a failure too', async () => {
  const result = await sender.send({ url: 'http://127.0.0.1:1/', headers: { 'X-Bad': 'a\nb' }, body: '{}' });
  expect(result).toMatchObject({ status: null, failure: { code: 'connection_broken' } });
});
