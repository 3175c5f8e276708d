import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Answer, bodyOf, errorAnswer, laterAnswer } from './answer.ts';
import type { SimulatedAuthority } from './authority.ts';
import type { Clock } from './clock.ts';
import type { Counters } from './counters.ts';
import { faulty } from './fault-effects.ts';
import type { Faults } from './faults.ts';
import type { Identity } from './identity.ts';
import type { Ledger } from './ledger.ts';
import type { Configuration } from './options.ts';
import { type Call, route } from './routes.ts';
import { skim } from './skim.ts';
import type { Treatment } from './submit.ts';
import type { Tokens } from './tokens.ts';

interface ServerParts {
  readonly config: Configuration;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly counters: Counters;
  readonly ledger: Ledger;
  readonly authority: SimulatedAuthority;
}

/** Size limit of the token endpoint's form. */
const MAX_FORM_BYTES = 64 * 1024;

/** Creates the HTTPS server of the protocol. Clients must show the certificate that was made for them. */
export function createAuthorityServer(parts: ServerParts): Server {
  const { identity, counters } = parts;
  const { key, cert, ca } = tlsOf(identity);
  const server = createServer(
    {
      key,
      cert,
      ca,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      keepAliveTimeout: 65_000,
      requestTimeout: 0,
    },
    (request, response) => void serve(parts, request, response),
  );
  server.on('secureConnection', (socket: TLSSocket) => {
    // The server's own certificates are of the same authority.
    if (socket.getPeerCertificate().fingerprint256 === identity.clientFingerprint) return;
    counters.tlsFailure();
    socket.destroy();
  });
  server.on('tlsClientError', () => counters.tlsFailure());
  return server;
}

/** Returns the server's key and certificates, PEM. */
export function tlsOf({ server, ca }: Identity): { key: string; cert: string; ca: string } {
  return {
    key: String(server.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: String(server.certificate),
    ca: String(ca),
  };
}

async function serve(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { clock, counters } = parts;
  const call = route(request.method ?? '', request.url ?? '');
  request.on('error', () => undefined);
  try {
    if ('status' in call) {
      request.resume();
      return await send(clock, response, errorAnswer(call.status, call.code));
    }
    counters.call(call.name);
    if (call.name === 'submit') {
      counters.putStarted();
      response.once('close', counters.putEnded);
    }
    const answer = await answerOf(parts, call, request);
    counters.answer(call.name, answer.instead === undefined ? answer.status : 'cut');
    await send(clock, response, answer);
  } catch (error) {
    if (request.socket.destroyed) return;
    console.error(error);
    await send(clock, response, errorAnswer(500, 'internal_error'));
  }
}

async function answerOf(parts: ServerParts, call: Call, request: IncomingMessage): Promise<Answer> {
  const { authority, faults, ledger, identity, clock, config } = parts;
  const { name, subject } = call;
  const known = name === 'receipt' ? ledger.byDgiId.get(subject ?? '') : entryOf(ledger, call);
  const id = known?.received.id ?? subject ?? undefined;
  const early = faults.choose(name, {
    id,
    ...(name !== 'submit' && { number: known?.received.invoice?.number ?? null }),
  });
  if (early?.kind === 'timeout-before-body') {
    const run = async () => errorAnswer(500, 'internal_error');
    return faulty(early, { authority, ledger, identity, clock, subject, run });
  }
  const body = await readBody(request, name === 'token' ? MAX_FORM_BYTES : config.maxDocumentBytes);
  if (isOut(authority, name)) return laterAnswer(503, authority.maintenance.retryAfter);
  const run = (treatment?: Treatment) =>
    body === null
      ? Promise.resolve(errorAnswer(413, 'document_too_large'))
      : carryOut(parts, call, request, body, treatment);
  const chosen =
    early ??
    (name === 'submit' && body !== null ? faults.choose(name, { id, number: skim(body)?.number ?? null }) : null);
  return chosen === null ? run() : faulty(chosen, { authority, ledger, identity, clock, subject, run });
}

function entryOf(ledger: Ledger, { name, subject }: Call) {
  return (name === 'lookup_by_digest' ? ledger.byDigest : ledger.byId).get(subject ?? '');
}

function isOut({ maintenance }: SimulatedAuthority, name: Call['name']): boolean {
  return maintenance.scope === 'all' ? name !== 'status' : maintenance.scope === 'submissions' && name === 'submit';
}

async function carryOut(
  { authority, tokens }: ServerParts,
  { name, subject, query }: Call,
  { headers }: IncomingMessage,
  body: Buffer,
  treatment?: Treatment,
): Promise<Answer> {
  if (name === 'token') return tokenAnswer(tokens, headers['content-type'] ?? '', body);
  const refusal = tokens.check(headers.authorization);
  if (refusal !== null)
    return { ...errorAnswer(401, refusal), headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
  const of = subject ?? '';
  switch (name) {
    case 'capabilities':
      return authority.capabilities();
    case 'status':
      return authority.status();
    case 'changes':
      return authority.changes(query);
    case 'lookup':
      return authority.lookUps.byId(of);
    case 'lookup_by_digest':
      return authority.lookUps.byDigest(of);
    case 'cleared':
      return authority.cleared(of);
    case 'receipt':
      return authority.receipt(of);
    case 'submit': {
      const isXml = /^application\/xml\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers['content-type'] ?? '');
      if (!isXml || (headers['content-encoding'] ?? 'identity') !== 'identity')
        return errorAnswer(415, 'unsupported_media_type');
      const digest = headers['content-digest'];
      return authority.submit(of, body, Array.isArray(digest) ? digest.join(',') : digest, treatment);
    }
  }
}

function tokenAnswer(tokens: Tokens, type: string, body: Buffer): Answer {
  const headers = { 'cache-control': 'no-store' };
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    return { status: 400, headers, body: { json: { error: 'invalid_request' } } };
  const answer = tokens.issue(new URLSearchParams(body.toString()));
  if ('error' in answer) {
    const { status, error, description } = answer;
    return { status, headers, body: { json: { error, error_description: description } } };
  }
  const json = { access_token: answer.token, token_type: 'Bearer', expires_in: answer.expiresIn };
  return { status: 200, headers, body: { json } };
}

/** Reads a body to its end. @returns null when it is longer than `limit`; then it is not kept */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= limit) chunks.push(chunk);
  }
  return length > limit ? null : Buffer.concat(chunks);
}

/** Sends an answer, or ends the connection where there is none. Resolves at once when the client has gone. */
async function send(clock: Clock, response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers = {}, body, isOwn = true, delay = 0, instead } = answer;
  if (delay > 0) await waitOrGone(response, delay);
  const socket = response.socket as (TLSSocket & { readonly _parent?: Socket }) | null;
  if (socket === null || socket.destroyed) return;
  if (instead === 'reset') {
    // A TLS socket cannot be reset; the TCP socket under it can.
    if (socket._parent) socket._parent.resetAndDestroy();
    else socket.destroy();
    return;
  }
  if (instead !== undefined) {
    socket.destroy();
    return;
  }
  const { type, bytes } = bodyOf(body);
  response.sendDate = false;
  response.writeHead(status, {
    date: new Date(isOwn ? clock.now() : Date.now()).toUTCString(),
    ...(isOwn && { 'authority-protocol': '1' }),
    ...(type !== null && { 'content-type': type }),
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
}

/** Waits, unless the client closes the connection meanwhile. */
function waitOrGone(response: ServerResponse, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    response.once('close', done);
    function done() {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    }
  });
}
