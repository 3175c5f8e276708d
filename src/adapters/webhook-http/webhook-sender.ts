import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lookup as dnsLookup, type LookupAddress, Resolver } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { DELIVERY_TIMES, KEPT_RESPONSE_BYTES, MAX_ANSWER_HEADER_BYTES } from '../../domain/limits.ts';
import type { SendFailure, SendResult } from '../../domain/webhook/delivery.ts';
import type { OutgoingRequest, WebhookSender } from '../../domain/webhook/ports.ts';
import { ADDRESS_ATTEMPT_MS } from '../address-attempts.ts';
import { isPublicAddress, urlRefusal } from './address-policy.ts';

export interface SenderOptions {
  /** Allows http:// URLs and private addresses, for development (ALLOW_INSECURE_WEBHOOKS). */
  readonly allowInsecure: boolean;
  /** Time limit for connecting, in milliseconds. Default: that of {@link DELIVERY_TIMES}. */
  readonly connectTimeoutMs?: number;
  /** Time limit for the whole attempt, in milliseconds. Default: that of {@link DELIVERY_TIMES}. */
  readonly totalTimeoutMs?: number;
  /** Resolves host names. Default: DNS queries; with `allowInsecure` the system resolver, hosts file included. */
  readonly resolve?: Resolve;
  /** Certificates to trust in addition to the system's, PEM. */
  readonly ca?: string;
}

/** Resolves a host name to all its addresses. */
export type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

export interface WebhookHttpSender extends WebhookSender {
  close(): Promise<void>;
}

/** The channel on which undici publishes the connection of each request (undici, "Diagnostics Channel Support"). */
const CONNECTION_CHOSEN = 'undici:client:sendHeaders';

class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';
}

/**
 * Sends webhooks by HTTPS POST to public addresses only. Checks the address on connecting: both the addresses that the
 * name resolves to, and the remote address of the socket. So an unusual spelling of an address, or a DNS record that
 * changes between check and connection, does not bypass the check. Redirects are not followed.
 */
export function createWebhookSender(options: SenderOptions): WebhookHttpSender {
  const { allowInsecure, connectTimeoutMs = DELIVERY_TIMES.connect, totalTimeoutMs = DELIVERY_TIMES.whole } = options;
  const resolve = options.resolve ?? (allowInsecure ? resolveLikeSystem : createPublicResolver());
  /** Connections that have carried a request. */
  const used = new WeakSet<object>();
  /** The request that is just beginning. undici publishes its connection synchronously. */
  let beginning: Answer | null = null;
  const onConnectionChosen = (chosen: unknown) => {
    const { socket } = chosen as { readonly socket: object };
    if (beginning) beginning.reusesConnection = used.has(socket);
    used.add(socket);
    beginning = null;
  };
  subscribe(CONNECTION_CHOSEN, onConnectionChosen);
  const isAllowed = (address: string) => allowInsecure || isPublicAddress(address);

  const lookup: LookupFunction = (host, { all }, done) => {
    resolve(host, (error, addresses) => {
      const refused = addresses?.find(({ address }) => !isAllowed(address));
      const failure = error ?? (refused && refusal(host, refused.address));
      if (failure) return done(failure, '', 4);
      // A successful look-up may return no address; Node would fail on the missing first one.
      const [first] = addresses ?? [];
      if (!first) return done(noAddress(host), '', 4);
      if (all) return (done as (error: null, addresses: LookupAddress[]) => void)(null, addresses);
      done(null, first.address, first.family);
    });
  };
  const connectSocket = buildConnector({
    timeout: connectTimeoutMs,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    // NODE_TLS_REJECT_UNAUTHORIZED must not disable certificate validation.
    rejectUnauthorized: true,
    ...(options.ca !== undefined && {
      secureContext: createSecureContext({ ca: [...getCACertificates('default'), options.ca] }),
    }),
  });
  const agentOptions: Agent.Options = {
    connect(target, done) {
      const literal = target.hostname.replace(/^\[|\]$/g, '');
      // Node does not call `lookup` for a literal address.
      if (isIP(literal) !== 0 && !isAllowed(literal)) return done(refusal(target.hostname, literal), null);
      connectSocket(target, (error, socket) => {
        if (error) return done(error, null);
        if (isAllowed(socket.remoteAddress ?? '')) return done(null, socket);
        socket.destroy();
        done(refusal(target.hostname, socket.remoteAddress ?? 'no address'), null);
      });
    },
    headersTimeout: totalTimeoutMs,
    bodyTimeout: totalTimeoutMs,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    allowH2: false,
  };
  const agent = new Agent(agentOptions);
  /** Uses a new connection for each request. */
  const freshAgent = new Agent({ ...agentOptions, pipelining: 0 });

  /** Sends one request. @param limitMs time limit in milliseconds */
  async function post(via: Agent, target: URL, { headers, body }: OutgoingRequest, limitMs: number) {
    const answer = new Answer();
    const failure = await new Promise<SendResult['failure']>((settle) => {
      const timer = setTimeout(() => {
        settle({ code: 'timeout', message: `no answer within ${totalTimeoutMs / 1000} s` });
        answer.abort();
      }, limitMs);
      answer.onBegin = () => {
        beginning = answer;
      };
      answer.onEnd = (error) => {
        clearTimeout(timer);
        settle(error ? failureOf(error) : null);
      };
      try {
        const path = target.pathname + target.search;
        via.dispatch({ origin: target.origin, path, method: 'POST', headers, body }, answer);
      } catch (error) {
        answer.onEnd(error as Error);
      }
    });
    // The status alone decides the outcome; a failure while reading the body does not matter.
    return { answer, failure: answer.status === null ? failure : null };
  }

  return {
    async send(request) {
      const started = performance.now();
      const elapsed = () => performance.now() - started;
      const target = URL.parse(request.url);
      const refused = target ? (allowInsecure ? null : urlRefusal(target)) : 'it is not a URL';
      if (refused !== null || !target) {
        const failure = { code: 'refused_address', message: `${request.url} is not allowed: ${refused}` } as const;
        return { status: null, headers: [], body: '', truncated: false, latencyMs: 0, failure };
      }
      let { answer, failure } = await post(agent, target, request, totalTimeoutMs);
      // The receiver was just closing the idle connection that the request used. Retry on a new one.
      if (failure?.code === 'connection_broken' && answer.reusesConnection) {
        ({ answer, failure } = await post(freshAgent, target, request, totalTimeoutMs - elapsed()));
      }
      return {
        status: answer.status,
        headers: answer.headers,
        body: Buffer.concat(answer.chunks).toString('utf8'),
        truncated: answer.truncated,
        latencyMs: Math.round(elapsed() * 10) / 10,
        failure,
      };
    },
    async close() {
      await Promise.all([agent.destroy(), freshAgent.destroy()]);
      unsubscribe(CONNECTION_CHOSEN, onConnectionChosen);
    },
  };
}

const resolveLikeSystem: Resolve = (host, done) => dnsLookup(host, { all: true }, done);

/**
 * Queries DNS directly. The system resolver occupies one of Node's few pool threads, and a hanging name server would
 * block all of them.
 */
function createPublicResolver(): Resolve {
  const resolver = new Resolver({ timeout: 1500, tries: 2 });
  return (host, done) => {
    const found: LookupAddress[] = [];
    let waiting = 2;
    const take =
      (family: 4 | 6) =>
      (error: Error | null, addresses: string[] = []) => {
        found.push(...addresses.map((address) => ({ address, family })));
        waiting--;
        if (waiting === 0) done(found.length > 0 ? null : (error ?? noAddress(host)), found);
      };
    resolver.resolve4(host, take(4));
    resolver.resolve6(host, take(6));
  };
}

function noAddress(host: string): Error {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

/** Collects a response: {@link KEPT_RESPONSE_BYTES} of its headers and as many of its body. */
class Answer implements Dispatcher.DispatchHandler {
  status: number | null = null;
  readonly headers: [string, string][] = [];
  readonly chunks: Buffer[] = [];
  truncated = false;
  /** Whether the request was sent on a connection that had carried another request before. */
  reusesConnection = false;
  onBegin: () => void = () => undefined;
  onEnd: (error: Error | null) => void = () => undefined;
  #bytes = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #aborted = false;

  /** Aborts the request and its connection. */
  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new Error('the rest of the response is not needed'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.onBegin();
    // The request was aborted while it waited for a connection.
    if (this.#aborted) this.abort();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx responses precede the final response.
    if (status < 200) return;
    this.status = status;
    let room = KEPT_RESPONSE_BYTES;
    for (const [name, values] of Object.entries(headers)) {
      for (const value of [values ?? []].flat()) {
        room -= name.length + value.length;
        if (room < 0) return;
        this.headers.push([name, value]);
      }
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = KEPT_RESPONSE_BYTES - this.#bytes;
    this.chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(chunk.length, room);
    if (chunk.length <= room) return;
    this.truncated = true;
    this.abort();
  }

  onResponseEnd(): void {
    this.onEnd(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.onEnd(error);
  }
}

function refusal(host: string, address: string): Error {
  return new RefusedAddress(`${host} is not allowed: ${address} is not a public address`);
}

const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME', 'ETIMEOUT']);
const CONNECTING = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EACCES',
  'EPERM',
  'EINVAL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function failureOf(error: Error & { code?: string }): NonNullable<SendResult['failure']> {
  // When several addresses were tried, the first error is representative.
  const cause = error instanceof AggregateError ? ((error.errors[0] as Error & { code?: string }) ?? error) : error;
  return { code: failureCode(cause), message: cause.message || cause.code || 'the connection failed' };
}

function failureCode({ code = '', message }: Error & { code?: string }): SendFailure {
  if (code === 'REFUSED_ADDRESS') return 'refused_address';
  if (UNRESOLVED.has(code)) return 'unknown_host';
  if (CONNECTING.has(code)) return 'connection_failed';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout';
  if (/^(ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code) || /certificate/i.test(message)) {
    return 'tls_failed';
  }
  return 'connection_broken';
}
