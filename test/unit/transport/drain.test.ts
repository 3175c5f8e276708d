import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createDrain, type Drain } from '../../../src/transport/drain.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const PATIENT = { delayMs: 0, graceMs: 10_000, patient: true };
const AT_TERMINAL = { ...PATIENT, patient: false };

let server: Server;
let drain: Drain;
const sockets: Socket[] = [];

async function serve(handle: RequestListener): Promise<void> {
  server = createServer(handle);
  drain = createDrain(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

/** A connection with what came on it so far. */
async function open(): Promise<{ socket: Socket; text: () => string; ended: Promise<unknown> }> {
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = once(socket, 'close');
  ended.catch(() => undefined);
  await accepted;
  return { socket, text: () => text, ended };
}

/** Milliseconds that it takes. */
async function timeOf(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

describe('a server that drains', () => {
  it('answers what comes on a kept connection after it was told to end, and says that it closes', async () => {
    await serve((_, response) => response.end('hello'));
    const { socket, text, ended } = await open();
    socket.write(REQUEST);
    await expect.poll(text).toContain('hello');
    expect(text()).toContain('Connection: keep-alive');
    const over = drain.end(PATIENT, () => undefined);
    await sleep(500);
    socket.write(REQUEST);
    await ended;
    expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(text()).toContain('Connection: close');
    await over;
  });

  it('takes new connections while it waits for the delay, and none after it', async () => {
    await serve((_, response) => response.end('hello'));
    const { port } = server.address() as AddressInfo;
    const over = timeOf(drain.end({ ...PATIENT, delayMs: 3000 }, () => undefined));
    await sleep(300);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect([await answer.text(), answer.headers.get('connection')]).toEqual(['hello', 'close']);
    expect(await over).toBeGreaterThan(2900);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('answers the connections that waited to be accepted while the event loop was blocked', async () => {
    await serve((_, response) => response.end('hello'));
    const { port } = server.address() as AddressInfo;
    const over = drain.end(PATIENT, () => undefined);
    const clients = Array.from({ length: 8 }, async () => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      sockets.push(socket);
      socket.write(REQUEST);
      return (await socket.toArray()).join('');
    });
    // The sockets connect at the end of this turn.
    process.nextTick(() => {
      const end = performance.now() + 300;
      while (performance.now() < end);
    });
    for (const text of await Promise.all(clients)) expect(text).toContain('Connection: close');
    await over;
  });

  it('ends at once when nothing is in flight and nobody needs patience', async () => {
    await serve((_, response) => response.end('hello'));
    const used = await open();
    used.socket.write(REQUEST);
    await expect.poll(used.text).toContain('hello');
    await open();
    // Idle connections live 5 s, and those that never sent anything longer.
    expect(await timeOf(drain.end(AT_TERMINAL, () => undefined))).toBeLessThan(4500);
  });

  it('waits for answers, and cuts off what takes longer than the grace period', async () => {
    await serve((_, response) => setTimeout(() => response.end('late'), 700));
    const late = await open();
    late.socket.write(REQUEST);
    await once(server, 'request');
    await drain.end(AT_TERMINAL, () => undefined);
    expect(late.text()).toContain('late');

    await serve(() => undefined);
    const never = await open();
    never.socket.write(REQUEST);
    await once(server, 'request');
    expect(await timeOf(drain.end({ ...AT_TERMINAL, graceMs: 500 }, () => undefined))).toBeLessThan(5000);
    await never.ended;
    expect(never.text()).toBe('');
  });

  it('does not cut off an answer that its client reads slowly', async () => {
    const size = 16 * 1024 * 1024;
    await serve((_, response) => response.end(Buffer.alloc(size)));
    const { socket, text, ended } = await open();
    socket.pause();
    socket.write(REQUEST);
    await once(server, 'request');
    const over = drain.end(AT_TERMINAL, () => undefined);
    await sleep(500);
    socket.resume();
    await Promise.all([ended, over]);
    expect(text().length).toBeGreaterThan(size);
  });
});
