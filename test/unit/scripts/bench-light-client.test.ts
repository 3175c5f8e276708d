import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLightClient, postOf, readAnswer } from '../../../scripts/bench/light-client.ts';

const WHOLE = {
  'of a length': 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX: y\r\n\r\n{"é":1}',
  'in chunks': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"\xc3\r\n5\r\n\xa9":1}\r\n0\r\n\r\n',
};

describe('readAnswer', () => {
  it.each([
    ['of a length', Buffer.from(WHOLE['of a length'])],
    ['in chunks', Buffer.from(WHOLE['in chunks'], 'latin1')],
  ])('reads an answer %s once it is complete', (_name, bytes) => {
    for (let size = 0; size < bytes.length; size++) expect(readAnswer(bytes.subarray(0, size))).toBeNull();
    const answer = readAnswer(bytes);
    expect(answer?.status).toBe(200);
    expect(answer?.body.toString()).toBe('{"é":1}');
    expect(() => readAnswer(Buffer.concat([bytes, Buffer.from('H')]))).toThrow('unexpected bytes');
  });

  it('refuses an answer without a length', () => {
    expect(() => readAnswer(Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}'))).toThrow('unknown length');
    expect(() => readAnswer(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'))).toThrow(
      'chunk',
    );
  });
});

describe('openLightClient', () => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      if (body === 'break') return void res.destroy();
      res.statusCode = 201;
      const text = [req.method, req.url, req.headers.host, req.headers.authorization, body].join(' ');
      // Chunked, unless the body is written together with the end.
      if (body === 'chunks') res.write(text);
      res.end(body === 'chunks' ? '!' : text);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('sends requests on each of its connections, one after the other', async () => {
    const connections = new Set<unknown>();
    server.on('connection', (socket) => connections.add(socket));
    const client = await openLightClient(url, 2);
    const asked = (body: string) => postOf(url, '/path', { authorization: 'Bearer k' }, body);
    const expected = (body: string) => `POST /path ${new URL(url).host} Bearer k ${body}`;
    for (const body of ['é', 'chunks', '{}']) {
      const answers = await Promise.all([client.ask(0, asked(body)), client.ask(1, asked(body))]);
      for (const answer of answers) {
        expect(answer.status).toBe(201);
        expect(answer.body.toString()).toBe(expected(body) + (body === 'chunks' ? '!' : ''));
      }
    }
    expect(connections.size).toBe(2);
    const broken = client.ask(0, asked('break'));
    expect(() => client.ask(0, asked('{}'))).toThrow('in progress');
    await expect(broken).rejects.toThrow();
    client.close();
  });

  it('refuses bytes that arrive before a request', async () => {
    let closed = false;
    let sendMore = () => {};
    const twice = createTcpServer((socket) => {
      socket
        .once('data', () => socket.write(WHOLE['of a length']))
        .once('close', () => {
          closed = true;
        });
      sendMore = () => void socket.write(WHOLE['in chunks'], 'latin1');
    }).listen(0, '127.0.0.1');
    await once(twice, 'listening');
    const client = await openLightClient(`http://127.0.0.1:${(twice.address() as AddressInfo).port}`, 1);
    expect((await client.ask(0, postOf(url, '/', {}, '{}'))).body.toString()).toBe('{"é":1}');
    sendMore();
    await expect.poll(() => closed).toBe(true);
    expect(() => client.ask(0, postOf(url, '/', {}, '{}'))).toThrow('closed');
    client.close();
    twice.close();
  });
});
