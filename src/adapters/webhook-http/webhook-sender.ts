import { lookup as dnsLookup, type LookupAddress, Resolver } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { SendFailure, SendResult } from '../../domain/webhook/delivery.ts';
import type { OutgoingRequest, WebhookSender } from '../../domain/webhook/ports.ts';
import { isPublicAddress, urlRefusal } from './address-policy.ts';

/** How much of an answer is kept, bytes. */
const KEPT_BYTES = 16 * 1024;

export interface SenderOptions {
  /** Lets http:// and private addresses be called (ALLOW_INSECURE_WEBHOOKS): for development. */
  readonly allowInsecure: boolean;
  /** Limits of a connection and of the whole attempt, milliseconds: 5 s and 15 s (design, section 5, "delivery"). */
  readonly connectTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
  /** Resolves names; DNS unless given, and the machine's own way (hosts file and all) with `allowInsecure`. */
  readonly resolve?: Resolve;
  /** Certificates to trust beside the system's, PEM. */
  readonly ca?: string;
}

/** All addresses of a name. */
export type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

export interface WebhookHttpSender extends WebhookSender {
  close(): Promise<void>;
}

class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';
}

/**
 * Posts over HTTPS to public addresses only. The address is checked as the connection is made, on what the name resolves to at that
 * moment and on what the socket is connected to, so that neither a spelling nor a changing name gets past. Redirects are not followed.
 */
export function createWebhookSender(options: SenderOptions): WebhookHttpSender {
  const { allowInsecure, connectTimeoutMs = 5000, totalTimeoutMs = 15_000 } = options;
  const resolve = options.resolve ?? (allowInsecure ? resolveLikeSystem : createPublicResolver());
  /** How many were made so far. */
  let connections = 0;
  const mayCall = (address: string) => allowInsecure || isPublicAddress(address);

  const lookup: LookupFunction = (host, { all }, done) => {
    resolve(host, (error, addresses) => {
      const refused = addresses?.find(({ address }) => !mayCall(address));
      const failure = error ?? (refused && refusal(host, refused.address));
      if (failure) return done(failure, '', 4);
      // An answer without any is one too: Node would look into the first of them.
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
    // Whatever the environment says.
    rejectUnauthorized: true,
    ...(options.ca !== undefined && {
      secureContext: createSecureContext({ ca: [...getCACertificates('default'), options.ca] }),
    }),
  });
  const agentOptions: Agent.Options = {
    connect(target, done) {
      const literal = target.hostname.replace(/^\[|\]$/g, '');
      // A literal address is never looked up.
      if (isIP(literal) !== 0 && !mayCall(literal)) return done(refusal(target.hostname, literal), null);
      connectSocket(target, (error, socket) => {
        if (error) return done(error, null);
        if (mayCall(socket.remoteAddress ?? '')) {
          connections++;
          return done(null, socket);
        }
        socket.destroy();
        done(refusal(target.hostname, socket.remoteAddress ?? 'no address'), null);
      });
    },
    headersTimeout: totalTimeoutMs,
    bodyTimeout: totalTimeoutMs,
    maxHeaderSize: KEPT_BYTES,
    allowH2: false,
  };
  const agent = new Agent(agentOptions);
  /** Keeps no connection for a second request. */
  const freshAgent = new Agent({ ...agentOptions, pipelining: 0 });

  /** One request. @param limitMs how long it may take */
  async function post(via: Agent, target: URL, { headers, body }: OutgoingRequest, limitMs: number) {
    const answer = new Answer();
    const failure = await new Promise<SendResult['failure']>((settle) => {
      const timer = setTimeout(() => {
        settle({ code: 'timeout', message: `no answer came within ${totalTimeoutMs / 1000} s` });
        answer.end();
      }, limitMs);
      answer.whenOver = (error) => {
        clearTimeout(timer);
        settle(error ? failureOf(error) : null);
      };
      try {
        const path = target.pathname + target.search;
        via.dispatch({ origin: target.origin, path, method: 'POST', headers, body }, answer);
      } catch (error) {
        answer.whenOver(error as Error);
      }
    });
    // The status alone decides: how the body ended afterwards does not matter.
    return { answer, failure: answer.status === null ? failure : null };
  }

  return {
    async send(request) {
      const started = performance.now();
      const elapsed = () => performance.now() - started;
      const target = URL.parse(request.url);
      const refused = target ? (allowInsecure ? null : urlRefusal(target)) : 'it is no URL';
      if (refused !== null || !target) {
        const failure = { code: 'refused_address', message: `${request.url} may not be called: ${refused}` } as const;
        return { status: null, headers: [], body: '', truncated: false, latencyMs: 0, failure };
      }
      const before = connections;
      let { answer, failure } = await post(agent, target, request, totalTimeoutMs);
      // No connection was made meanwhile: an idle one was taken that the receiver was just closing, which says nothing of the receiver.
      if (failure?.code === 'connection_broken' && connections === before) {
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
    close: async () => void (await Promise.all([agent.destroy(), freshAgent.destroy()])),
  };
}

const resolveLikeSystem: Resolve = (host, done) => dnsLookup(host, { all: true }, done);

/** Asks DNS itself: the system's way holds a thread of the few there are, and a name server that hangs would hold up everything. */
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

/** Takes an answer in, and no more of it than is kept. */
class Answer implements Dispatcher.DispatchHandler {
  status: number | null = null;
  headers: [string, string][] = [];
  readonly chunks: Buffer[] = [];
  truncated = false;
  whenOver: (error: Error | null) => void = () => undefined;
  #bytes = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;

  /** Gives the connection up. */
  end(): void {
    this.#ended = true;
    this.#controller?.abort(new Error('no more of this answer is wanted'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was given up while it waited for its connection.
    if (this.#ended) this.end();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx come before the answer proper.
    if (status < 200) return;
    this.status = status;
    this.headers = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = KEPT_BYTES - this.#bytes;
    this.chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(chunk.length, room);
    if (chunk.length <= room) return;
    this.truncated = true;
    this.end();
  }

  onResponseEnd(): void {
    this.whenOver(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.whenOver(error);
  }
}

function refusal(host: string, address: string): Error {
  return new RefusedAddress(`${host} may not be called: ${address} is not a public address`);
}

const UNRESOLVED = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME', 'ETIMEOUT']);
const CONNECTING = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT', 'EACCES', 'EPERM', 'EINVAL'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

function failureOf(error: Error & { code?: string }): NonNullable<SendResult['failure']> {
  // Of several addresses that were tried, any tells why.
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
