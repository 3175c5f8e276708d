import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer with its body as it was sent. */
export interface LightAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Connections that stay open, each with one request under way at a time. */
export interface LightClient {
  /** The answer to a whole request, from {@link postOf}, on one of the connections. @throws when it breaks off, or its framing is not known */
  ask(connection: number, request: Uint8Array): Promise<LightAnswer>;
  close(): void;
}

/**
 * HTTP/1.1 for benches whose service shares the machine with its clients: it takes a fraction of the CPU time that a client for every purpose
 * takes, so that the figures are the service's.
 */
export async function openLightClient(url: string, connections: number): Promise<LightClient> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname).setNoDelay());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const asks = sockets.map(asking);
  return {
    ask: (connection, request) => {
      const ask = asks[connection];
      if (!ask) throw new Error(`there is no connection ${connection}`);
      return ask(request);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The bytes of a POST of JSON to a service at `url`. */
export function postOf(url: string, path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = Object.entries({
    host: new URL(url).host,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

function asking(socket: Socket): (request: Uint8Array) => Promise<LightAnswer> {
  let waiting: PromiseWithResolvers<LightAnswer> | null = null;
  let received: Buffer = Buffer.alloc(0);
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = null;
  };
  socket.on('data', (chunk) => {
    // Taken for the answer to the next request, it would be a wrong one.
    if (!waiting) return void socket.destroy();
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      const answer = readAnswer(received);
      if (!answer) return;
      received = Buffer.alloc(0);
      waiting?.resolve(answer);
      waiting = null;
    } catch (error) {
      fail(error as Error);
    }
  });
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')));
  return (request) => {
    if (waiting) throw new Error('this connection has a request under way');
    if (socket.destroyed) throw new Error('the connection was closed');
    waiting = Promise.withResolvers();
    socket.write(request);
    return waiting.promise;
  };
}

/**
 * The answer that these bytes are (RFC 9112); null as long as it is not whole.
 * @throws when it has neither a length nor chunks, or anything follows it: nothing more was asked for
 */
export function readAnswer(bytes: Buffer): LightAnswer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(head.slice(9, 12));
  const start = headEnd + 4;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined && !/\r\ntransfer-encoding: *chunked/i.test(head))
    throw new Error(`an answer of unknown length: ${head}`);
  const { body, end } =
    length === undefined
      ? joinedChunks(bytes, start)
      : { body: bytes.subarray(start, start + Number(length)), end: start + Number(length) };
  if (body === null || bytes.length < end) return null;
  if (bytes.length > end) throw new Error('more came than was asked for');
  return { status, body };
}

/** A chunked body without trailers, and where it ends; null as long as it is not whole. */
function joinedChunks(bytes: Buffer, start: number): { body: Buffer | null; end: number } {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return { body: null, end: 0 };
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error('a chunk of unknown length');
    at = lineEnd + 2 + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
  }
}
