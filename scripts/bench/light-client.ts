import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer with its body as received. */
export interface LightAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Keep-alive connections with at most one request in progress on each. */
export interface LightClient {
  /**
   * Sends a complete request (from {@link postOf}) on one of the connections and returns the answer.
   * @throws when the connection breaks or the framing of the answer is not supported
   */
  ask(connection: number, request: Uint8Array): Promise<LightAnswer>;
  close(): void;
}

/**
 * Opens a minimal HTTP/1.1 client for benchmarks whose service shares the machine with its clients. It uses a fraction
 * of the CPU time of a general client, so the figures reflect the service.
 */
export async function openLightClient(url: string, connections: number): Promise<LightClient> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname).setNoDelay());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const asks = sockets.map(asking);
  return {
    ask: (connection, request) => {
      const ask = asks[connection];
      if (!ask) throw new Error(`no connection ${connection}`);
      return ask(request);
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns the bytes of a POST request with a JSON body to the service at `url`. */
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
    // Otherwise it would be taken for the answer to the next request.
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
    if (waiting) throw new Error('this connection has a request in progress');
    if (socket.destroyed) throw new Error('the connection was closed');
    waiting = Promise.withResolvers();
    socket.write(request);
    return waiting.promise;
  };
}

/**
 * Parses an answer (RFC 9112); null while it is incomplete.
 * @throws when it has neither a length nor chunks, or when more bytes follow it
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
  if (bytes.length > end) throw new Error('unexpected bytes after the answer');
  return { status, body };
}

/** Joins a chunked body without trailers and returns its end; the body is null while it is incomplete. */
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
