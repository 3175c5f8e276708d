import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { type ServiceError, serviceError } from '../domain/errors.ts';
import { localAddress } from '../domain/local-address.ts';
import { SetupError } from '../domain/setup-error.ts';
import { abandon } from './abandon.ts';
import { BODY_MS } from './body.ts';
import { limitedAddress } from './client-address.ts';
import { type ConnectionLimits, limitConnections, UNLIMITED } from './connection-limits.ts';
import { createDrain, type ShutdownOptions } from './drain.ts';
import type { EventStreams } from './event-stream.ts';
import { MAX_HEADERS } from './headers.ts';
import { limitHeaders } from './middleware/identify.ts';
import { limitPipelined, refuseTunnels } from './pipelining.ts';
import { ASK_AGAIN_SECONDS, errorBody } from './rest/errors.ts';

/** An HTTP server that listens before its handler exists. */
export interface HttpServer {
  /** The URL at which it listens, without a trailing slash. */
  readonly url: string;
  /** Sets the handler of requests. Requests that arrived earlier wait for it. */
  serve(handle: RequestListener, parts: { log: Logger; limiter: RateLimiter; streams: EventStreams }): void;
  /**
   * Answers requests in flight, ends open streams and stops listening; see {@link ShutdownOptions}. A second call waits
   * for the first.
   */
  close(options: ShutdownOptions): Promise<void>;
}

/** Time limits for clients, milliseconds. */
interface TimeLimits {
  /** Time for the headers of a request. */
  readonly headers: number;
  /** Time for a whole request, where `BODY_MS` does not apply. */
  readonly request: number;
  /** Interval at which Node checks the two limits above. */
  readonly check: number;
  /** Time that a connection may stay without a request. */
  readonly idle: number;
  /** Time without data on the socket while an answer is prepared or sent. Event streams stay below it by heartbeats. */
  readonly silence: number;
  /** Time until a connection is closed after the answer to a request that is not valid HTTP. */
  readonly linger: number;
}

const TIME_LIMITS: TimeLimits = {
  headers: 30_000,
  request: BODY_MS + 10_000,
  check: 5000,
  idle: 75_000,
  silence: 120_000,
  linger: 5000,
};

/** @throws when the address cannot be listened on; the message names the setting and says what to do */
export async function listen(
  port: number,
  host: string,
  given: Partial<TimeLimits> = {},
  connections: ConnectionLimits = UNLIMITED,
): Promise<HttpServer> {
  const limits = { ...TIME_LIMITS, ...given };
  const server = createServer({
    // A proxy and this server could read different values of a repeated header. Once joined, the values are no valid
    // credential or media type.
    joinDuplicateHeaders: true,
    // Node's own answer to a missing Host has no body.
    requireHostHeader: false,
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    connectionsCheckingInterval: limits.check,
    keepAliveTimeout: limits.idle,
  });
  server.setTimeout(limits.silence, abandon);
  // One more than a request may have, so that too many headers can be detected.
  server.maxHeadersCount = MAX_HEADERS + 1;
  const drain = createDrain(server);
  const admission = limitConnections(server, connections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, port, host)));
    server.listen(port, host, resolve);
  });
  refuseTunnels(server);
  // Further requests on a refused connection are ignored, because the refusal was their answer.
  const limited = (handle: RequestListener) => limitPipelined(handle, admission.isRefused);
  const handler = Promise.withResolvers<RequestListener>();
  const early = limited((request, response) => void handler.promise.then((handle) => handle(request, response)));
  server.on('request', early);
  let open: EventStreams | null = null;
  let closed: Promise<void> | null = null;
  return {
    url: addressOf(server, host),
    serve(handle, { log, limiter, streams }) {
      open = streams;
      server.off('request', early);
      const listener = limited(handle);
      server.on('request', listener);
      // Node's own answer to an unknown expectation is an empty 417.
      server.on('checkExpectation', listener);
      answerUnreadable(server, log, limiter, limits.linger);
      admission.answer(() => tooManyConnections(limiter), log);
      handler.resolve(handle);
    },
    close(options) {
      closed ??= drain.end(options, () => open?.close());
      return closed;
    },
  };
}

function refusal(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const said: Readonly<Record<string, string>> = {
    EADDRINUSE: `PORT ${port} is already in use on ${host}. End the process that listens there, or set PORT to a free port.`,
    EADDRNOTAVAIL: `HOST ${host} is not an address of this machine. Set HOST to one, such as 127.0.0.1, or to 0.0.0.0 for all.`,
    ENOTFOUND: `HOST ${host} cannot be resolved. Set HOST to an address of this machine, such as 127.0.0.1, or to 0.0.0.0 for all.`,
    EACCES: `This user may not listen on PORT ${port}. Set PORT to 1024 or higher.`,
  };
  const message =
    said[error.code ?? ''] ?? `The service cannot listen on HOST ${host}, PORT ${port}: ${error.message}.`;
  // Only EACCES needs a change of the setup. A port in use may be free at the next start, and an address may exist by
  // then.
  return error.code === 'EACCES' ? new SetupError(message, { cause: error }) : new Error(message, { cause: error });
}

function addressOf(server: Server, host: string): string {
  return localAddress(host, (server.address() as AddressInfo).port);
}

/**
 * Whether the request's head exceeded its limit in the target. If the last bytes contain no line end and no space
 * except the one after the method, they belong to the target, because header names and values are on lines of their
 * own.
 */
function isTargetTooLong({ code, rawPacket, bytesParsed }: UnreadableRequest): boolean {
  if (code !== 'HPE_HEADER_OVERFLOW' || rawPacket === undefined) return false;
  return /^([A-Z]+ )?\S*$/.test(rawPacket.toString('latin1', 0, bytesParsed));
}

/** The error that Node emits for a request that its parser refuses. */
interface UnreadableRequest extends NodeJS.ErrnoException {
  /** The bytes that arrived last. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

const TARGET_TOO_LONG = { status: 414, message: 'The target of the request is longer than 16 KiB.' };

const UNREADABLE: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The headers are larger than 16 KiB.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The extensions of a chunk are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

/**
 * Answers requests that Node's HTTP parser refuses. The answer has the contract's error body (docs/api/contract.md,
 * "Errors"), a request id, and the rate limit of the address.
 */
function answerUnreadable(server: Server, log: Logger, limiter: RateLimiter, lingerMs: number): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => answering.set(socket, response));
  server.on('clientError', (error: UnreadableRequest, socket) => {
    const response = answering.get(socket);
    // While another answer is being sent on the connection, no error can be answered.
    const busy = response?.headersSent && !response.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || busy) return void socket.destroy();
    const { status, message } = isTargetTooLong(error)
      ? TARGET_TOO_LONG
      : (UNREADABLE[error.code ?? ''] ?? { status: 400, message: 'This is not valid HTTP/1.1.' });
    const requestId = `req_${randomUUID()}`;
    log.debug({ requestId, status, code: error.code }, 'a request could not be read');
    // Limits the time for a client that keeps sending or never closes.
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
    const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
    const refusal = serviceError('invalid_request', message, null, status);
    void limiter.consume('address', limitedAddress(address)).then(
      (limit) => socket.end(answer(refusal, requestId, limitHeaders(limit))),
      () => socket.destroy(),
    );
  });
}

/**
 * Returns the answer to a connection beyond the limit. It is not counted for the rate limit, because each count would
 * cost a write to the store.
 */
function tooManyConnections(limiter: RateLimiter): string {
  const error = serviceError('internal_error', 'Too many connections are open. Try again.', null, 503);
  const headers = [['Retry-After', ASK_AGAIN_SECONDS], ...limitHeaders(limiter.uncounted('address'))] as const;
  return answer(error, `req_${randomUUID()}`, headers);
}

function answer(error: ServiceError, requestId: string, more: readonly (readonly [string, string])[]): string {
  const { status } = error;
  const body = JSON.stringify(errorBody(error));
  const headers = [
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Cache-Control', 'no-store'],
    ['Access-Control-Allow-Origin', '*'],
    ['Request-Id', requestId],
    ...more,
    ['Connection', 'close'],
  ];
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
