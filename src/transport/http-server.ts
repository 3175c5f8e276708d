import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { serviceError } from '../domain/errors.ts';
import { abandon } from './abandon.ts';
import { BODY_MS } from './body.ts';
import { limitedAddress } from './client-address.ts';
import { createDrain, type Leave } from './drain.ts';
import type { EventStreams } from './event-stream.ts';
import { limitHeaders } from './middleware/identify.ts';
import { errorBody } from './rest/errors.ts';

/** An HTTP server that listens, before there is anything to answer with. */
export interface HttpServer {
  /** Where it is reached, without a trailing slash. */
  readonly url: string;
  /** Answers with `handle` from now on; requests that came earlier have waited for it. */
  serve(handle: RequestListener, parts: { log: Logger; limiter: RateLimiter; streams: EventStreams }): void;
  /** Whether it was told to close: it answers still, but the service should not be given new work. */
  readonly closing: boolean;
  /** Answers what is in flight, ends the open streams, and takes nothing new: see {@link Leave}. A second call waits for the first. */
  close(leave: Leave): Promise<void>;
}

/** How long clients may take, milliseconds. */
export interface TimeLimits {
  /** For a request's headers, and for all of it where nobody who reads it is sooner (see `BODY_MS`). */
  readonly headers: number;
  readonly request: number;
  /** How often these two are looked at. */
  readonly check: number;
  /** Between two signs of life while an answer is made or sent; event streams have heartbeats. */
  readonly silence: number;
  /** To read the refusal of what was not HTTP, and close. */
  readonly linger: number;
}

const TIME_LIMITS: TimeLimits = {
  headers: 30_000,
  request: BODY_MS + 10_000,
  check: 5000,
  silence: 120_000,
  linger: 5000,
};

/** @throws when the address can't be had; the message names the setting and what to do */
export async function listen(port: number, host: string, limits = TIME_LIMITS): Promise<HttpServer> {
  const server = createServer({
    // A header that is sent twice must not mean one thing to a proxy and another here: joined, it is no credential and no media type.
    joinDuplicateHeaders: true,
    // Without a Host Node would answer without a word.
    requireHostHeader: false,
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    connectionsCheckingInterval: limits.check,
  });
  server.setTimeout(limits.silence, abandon);
  const drain = createDrain(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, port, host)));
    server.listen(port, host, resolve);
  });
  const handler = Promise.withResolvers<RequestListener>();
  const early: RequestListener = (request, response) =>
    void handler.promise.then((handle) => handle(request, response));
  server.on('request', early);
  let open: EventStreams | null = null;
  let closed: Promise<void> | null = null;
  return {
    url: addressOf(server, host),
    serve(handle, { log, limiter, streams }) {
      open = streams;
      server.off('request', early);
      server.on('request', handle);
      // Node would answer an expectation that it does not know with an empty 417.
      server.on('checkExpectation', handle);
      answerUnreadable(server, log, limiter, limits.linger);
      handler.resolve(handle);
    },
    get closing() {
      return drain.draining;
    },
    close(leave) {
      closed ??= drain.end(leave, () => open?.close());
      return closed;
    },
  };
}

function refusal(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const said: Readonly<Record<string, string>> = {
    EADDRINUSE: `PORT ${port} is taken on ${host}. End the process that listens there, or set PORT to a free port.`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine. Set HOST to one, such as 127.0.0.1, or to 0.0.0.0 for all.`,
    ENOTFOUND: `HOST ${host} is not known here. Set HOST to an address of this machine, such as 127.0.0.1, or to 0.0.0.0 for all.`,
    EACCES: `PORT ${port} is not for this user to listen on. Set PORT to one from 1024 on.`,
  };
  const message = said[error.code ?? ''] ?? `PORT ${port} of HOST ${host} can't be listened on: ${error.message}.`;
  return new Error(message, { cause: error });
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const reached = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

const UNREADABLE: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

/** Answers what Node's HTTP parser refuses in the contract's error shape, counted against the address and with an id as any other. */
function answerUnreadable(server: Server, log: Logger, limiter: RateLimiter, lingerMs: number): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answering.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket);
    // Amid another answer on the same connection there is nothing that could be told.
    const amid = response?.headersSent && !response.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || amid) return void socket.destroy();
    const { status, message } = UNREADABLE[error.code ?? ''] ?? { status: 400, message: 'This is not valid HTTP/1.1.' };
    const requestId = `req_${randomUUID()}`;
    log.debug({ requestId, status, code: error.code }, 'a request could not be read');
    // Whoever goes on sending, or never closes, is not waited for.
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
    const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
    void limiter.consume('address', limitedAddress(address)).then(
      (limit) => socket.end(answer(status, message, requestId, limitHeaders(limit))),
      () => socket.destroy(),
    );
  });
}

function answer(
  status: number,
  message: string,
  requestId: string,
  limit: readonly (readonly [string, string])[],
): string {
  const body = JSON.stringify(errorBody(serviceError('invalid_request', message, null, status)));
  const headers = [
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Cache-Control', 'no-store'],
    ['Access-Control-Allow-Origin', '*'],
    ['Request-Id', requestId],
    ...limit,
    ['Connection', 'close'],
  ];
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
