import { randomUUID, type X509Certificate } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { MAX_ANSWER_HEADER_BYTES } from '../../../domain/limits.ts';
import { ADDRESS_ATTEMPT_MS } from '../../address-attempts.ts';
import type { CredentialStore } from './credentials.ts';
import { createSharedResolver, type Resolve } from './shared-resolver.ts';

/** A request to the authority or to its token endpoint. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** A longer response is not read, bytes. */
  readonly maxAnswerBytes: number;
  /** Replaces the connection's own time limit for a response, milliseconds. */
  readonly answerTimeoutMs?: number;
}

/** A complete response. */
export interface Answer {
  readonly kind: 'answer';
  readonly requestId: string;
  readonly status: number;
  /** By lower-case name. If a header is repeated, its first value. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Time from sending the request to the end of the response, milliseconds. */
  readonly latencyMs: number;
}

/** The outcome of a request. The request is sent at most once. */
export type Exchange =
  | Answer
  /** Nothing of the request was sent. */
  | { readonly kind: 'not_sent'; readonly requestId: string; readonly message: string }
  /** The request was sent, at least in part, but no complete response arrived. */
  | { readonly kind: 'lost'; readonly requestId: string; readonly message: string };

export interface Connection {
  /** Sends a request. Never throws, never repeats the request, and follows no redirect. */
  exchange(request: OutgoingRequest): Promise<Exchange>;
  /** Returns the certificate that each server presented at its last accepted connection. */
  serverCertificates(): readonly X509Certificate[];
  /** Ends every connection. Requests in flight are lost. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Time limit for connecting, including name resolution and TLS, milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Time limit from sending to the end of the response, milliseconds. Default 30,000. */
  readonly answerTimeoutMs?: number;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/**
 * Creates a connection by HTTPS with keep-alive, and with mutual TLS if there is a client certificate. When the files
 * of `credentials` change, later requests use new connections; requests in flight finish on the old ones.
 */
export function createConnection(credentials: CredentialStore, options: ConnectionOptions = {}): Connection {
  const { connectTimeoutMs = 5000, answerTimeoutMs = 30_000 } = options;
  const lookup = createSharedResolver(options.resolve);
  let current: AgentInUse | null = null;
  let closed = false;
  /** The servers' last certificates by host name: at most two, the authority's and its token endpoint's. */
  const shown = new Map<string, X509Certificate>();
  /** The agents with earlier certificates, kept until their requests have ended. */
  const retired = new Set<AgentInUse>();

  /** Returns the agent for a request and counts the request, so that the agent stays until {@link leave}. */
  async function enter(): Promise<AgentInUse> {
    const { context } = (await credentials.current()).tls;
    if (current?.context !== context) {
      const earlier = current;
      const onServer = (host: string, certificate: X509Certificate) => shown.set(host, certificate);
      const agent = createAgent(context, { timeout: connectTimeoutMs, lookup }, onServer);
      current = { context, agent, running: 0 };
      if (earlier) {
        retired.add(earlier);
        release(earlier);
      }
    }
    current.running++;
    return current;
  }

  function leave(used: AgentInUse): void {
    used.running--;
    release(used);
  }

  function release(used: AgentInUse): void {
    // Destroyed, not closed: a closed agent could no longer be destroyed while a request hangs.
    if (used.running === 0 && retired.delete(used)) void used.agent.destroy();
  }

  return {
    async exchange(request) {
      const requestId = randomUUID();
      const via = await enter();
      if (closed) {
        await via.agent.destroy();
        return { kind: 'not_sent', requestId, message: 'The service is stopping.' };
      }
      const limits = { connectTimeoutMs, answerTimeoutMs: request.answerTimeoutMs ?? answerTimeoutMs };
      const exchange = await new Promise<Exchange>((settle) => {
        const handler = new ExchangeHandler(request, requestId, limits, settle);
        const { origin, pathname, search } = request.url;
        const { method, body } = request;
        const headers = { 'user-agent': 'Fatoura/1', ...request.headers, 'x-request-id': requestId };
        try {
          via.agent.dispatch({ origin, path: pathname + search, method, headers, ...(body && { body }) }, handler);
        } catch (error) {
          handler.onResponseError(null, error as Error);
        }
      });
      leave(via);
      // A certificate may have been rotated on either side, so the files are checked again.
      if (exchange.kind === 'not_sent') await credentials.recheck();
      return exchange;
    },
    serverCertificates: () => [...shown.values()],
    async close() {
      closed = true;
      await Promise.all([current, ...retired].map((each) => each?.agent.destroy()));
    },
  };
}

/** The HTTP agent that uses one state of the credentials. */
interface AgentInUse {
  readonly context: SecureContext;
  readonly agent: Agent;
  /** Number of requests in flight. */
  running: number;
}

/** Creates an agent. @param onServer called with the certificate of each server that was accepted */
function createAgent(
  secureContext: SecureContext,
  options: { readonly timeout: number; readonly lookup: LookupFunction },
  onServer: (host: string, certificate: X509Certificate) => void,
): Agent {
  const connect = buildConnector({
    ...options,
    secureContext,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    // NODE_TLS_REJECT_UNAUTHORIZED must not disable certificate validation.
    rejectUnauthorized: true,
  });
  return new Agent({
    connect: (target, done) =>
      connect(target, (...result) => {
        const [, socket] = result;
        const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
        if (certificate) onServer(target.hostname, certificate);
        done(...result);
      }),
    pipelining: 1,
    // `ExchangeHandler` limits the time instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    allowH2: false,
  });
}

/** Collects the response to one request, and knows whether any of the request can have been sent. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #request: OutgoingRequest;
  readonly #requestId: string;
  readonly #limits: Required<Omit<ConnectionOptions, 'resolve'>>;
  readonly #settle: (exchange: Exchange) => void;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  /** When the request began to be sent. Set by undici's call immediately before it writes to the socket. */
  #sentAt: number | null = null;
  #status = 0;
  #headers = new Map<string, string>();
  #chunks: Buffer[] = [];
  #bytes = 0;
  #settled = false;

  constructor(
    request: OutgoingRequest,
    requestId: string,
    limits: Required<Omit<ConnectionOptions, 'resolve'>>,
    settle: (exchange: Exchange) => void,
  ) {
    this.#request = request;
    this.#requestId = requestId;
    this.#limits = limits;
    this.#settle = settle;
    // The connector has its own limit; this one also covers the wait for it.
    const waitMs = 2 * limits.connectTimeoutMs;
    this.#timer = setTimeout(() => this.#fail(`No connection within ${waitMs / 1000} s.`), waitMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Either the exchange was settled before the request was sent, or undici is about to send it again. It must not be
    // sent now.
    if (this.#settled || this.#sentAt !== null) {
      controller.abort(new Error('the request must not be sent'));
      this.#fail('The connection was closed before the answer.');
      return;
    }
    this.#controller = controller;
    this.#sentAt = performance.now();
    clearTimeout(this.#timer);
    const { answerTimeoutMs } = this.#limits;
    this.#timer = setTimeout(
      () => this.#fail(`No complete answer within ${answerTimeoutMs / 1000} s.`),
      answerTimeoutMs,
    );
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx responses precede the final response.
    if (status < 200) return;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      const first = Array.isArray(value) ? value[0] : value;
      if (first !== undefined) this.#headers.set(name.toLowerCase(), first);
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#request.maxAnswerBytes) {
      this.#fail(`The answer (status ${this.#status}) is longer than ${this.#request.maxAnswerBytes} bytes.`);
      return;
    }
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish({
      kind: 'answer',
      requestId: this.#requestId,
      status: this.#status,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
      latencyMs: this.#sentAt === null ? 0 : performance.now() - this.#sentAt,
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(reasonOf(error));
  }

  #fail(message: string): void {
    const kind = this.#sentAt === null ? 'not_sent' : 'lost';
    this.#finish({ kind, requestId: this.#requestId, message });
    this.#controller?.abort(new Error(message));
  }

  #finish(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#settle(exchange);
  }
}

/** Explanations of OpenSSL's and Node's codes for operators. Node's own texts recommend options of Node. */
const CERTIFICATE_FAULTS: readonly (readonly [RegExp, string])[] = [
  [
    /^(UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|CERT_(SIGNATURE_FAILURE|UNTRUSTED)|(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT))$/,
    "was not issued under DGI_CA, or without DGI_CA under the system's roots",
  ],
  [/^CERT_HAS_EXPIRED$/, 'has expired'],
  [/^CERT_NOT_YET_VALID$/, 'is not valid yet: is the clock of this machine right?'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'is for another host name'],
];

/** Describes a failed connection in a sentence, with the code of the error. */
function reasonOf(error: Error & { code?: string }): string {
  // When several addresses were tried, the first error is representative.
  const cause = error instanceof AggregateError ? ((error.errors[0] as Error & { code?: string }) ?? error) : error;
  const { code, message } = cause as Error & { code?: string };
  const known = code === undefined ? undefined : CERTIFICATE_FAULTS.find(([codes]) => codes.test(code))?.[1];
  if (known !== undefined) return `The connection failed: the server's certificate ${known} (${code}).`;
  return `The connection failed: ${message || code || 'no reason given'}${code && !message.includes(code) ? ` (${code})` : ''}.`;
}
