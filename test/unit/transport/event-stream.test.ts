import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceError } from '../../../src/domain/errors.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import {
  createEventStreams,
  type EventStream,
  type EventStreams,
  MAX_STREAMS,
} from '../../../src/transport/event-stream.ts';

const KEY = { kind: 'secret', keyId: 'key_1' } as Principal;

let server: Server;
let streams: EventStreams;
let principal: Principal;
const revoked = new Map<string, Set<() => void>>();
let opened: PromiseWithResolvers<EventStream>;

async function start(heartbeatMs: number): Promise<void> {
  revoked.clear();
  principal = KEY;
  opened = Promise.withResolvers();
  streams = createEventStreams((keyId, onRevoked) => {
    const set = revoked.get(keyId) ?? new Set();
    revoked.set(keyId, set.add(onRevoked));
    return () => set.delete(onRevoked);
  }, heartbeatMs);
  const app = new Koa();
  app.use((ctx) => {
    try {
      opened.resolve(streams.open(ctx, principal));
    } catch (error) {
      ctx.status = (error as ServiceError).status;
    }
  });
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

beforeEach(() => start(40));
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect.poll(() => streams.count()).toBe(0);
  expect([...revoked.values()].every((set) => set.size === 0)).toBe(true);
});

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
    server.close();
    await start(500);
    const socket = await silentClient();
    const stream = await opened.promise;
    let sent = 0;
    // Until the connection takes no more.
    for (let ready = false; !ready; sent++) {
      stream.write(`data: ${'x'.repeat(65_536)}\n\n`);
      ready = await Promise.race([stream.ready().then(() => false), sleep(5, true)]);
    }
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    await stream.ready();
    const beats = () => text.split('x\n\n').at(-1)?.split(':\n\n').length ?? 0;
    await expect.poll(beats).toBeGreaterThan(2);
    expect(text.match(/data: /g)?.length).toBe(sent);
    socket.destroy();
  });

  it('breaks off a client that does not read, and holds no more than one message for it', async () => {
    const socket = await silentClient();
    const gone = once(socket, 'close');
    socket.on('error', () => undefined);
    const stream = await opened.promise;
    let written = 0;
    while (!stream.closed) {
      stream.write(`data: ${'x'.repeat(65_536)}\n\n`);
      written++;
      await stream.ready();
      if (written > 10_000) throw new Error('it takes everything');
    }
    // As the client learns once it looks.
    socket.resume();
    await gone;
    expect(streams.count()).toBe(0);
  });

  it('ends in order, for those that are open and those that come later, when the service stops', async () => {
    const response = await reading();
    streams.close();
    let text = '';
    for await (const chunk of response) text += chunk;
    expect([text, response.complete]).toEqual([':\n\n', true]);
    const late = await reading();
    for await (const chunk of late) text += chunk;
    expect([text, late.complete]).toEqual([':\n\n:\n\n', true]);
  });

  it('ends when its key is revoked', async () => {
    const response = await reading();
    for (const end of revoked.get('key_1') ?? []) end();
    for await (const _ of response);
    expect(response.complete).toBe(true);
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
