import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { CertificateAuthority } from './certificate-authority.ts';

/** A request that the authority received completely. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Common name of the client's certificate; null without one. */
  readonly client: string | null;
}

/** An answer: a JSON body with a status, or any action of `act` on the connection. */
export type Reply =
  | {
      readonly status?: number;
      readonly json?: unknown;
      readonly text?: string | Buffer;
      /** `authority-protocol: null` leaves out the header that every answer has by default. */
      readonly headers?: Readonly<Record<string, string | null>>;
    }
  | { readonly act: (response: ServerResponse, socket: Socket) => void };

export interface ScriptedAuthority {
  readonly url: string;
  readonly port: number;
  /** Every request except those for the capabilities and for tokens. */
  readonly received: ReceivedRequest[];
  /** Requests for tokens and for capabilities. */
  readonly tokenRequests: ReceivedRequest[];
  capabilityRequests: number;
  /** Answers requests to submissions and the like. Default: 404 `unknown_submission`. */
  script: (request: ReceivedRequest) => Reply | Promise<Reply>;
  capabilities: Reply;
  token: (request: ReceivedRequest) => Reply | Promise<Reply>;
  /** Milliseconds by which the clock of its `Date` headers is ahead. */
  clockAhead: number;
  /** Number of connections accepted so far. */
  connections(): number;
  /** Shows another certificate from the next connection on. */
  use(secure: SecureContextOptions): void;
  /** Cuts all connections. */
  cut(): void;
  /** Resets all connections (RST). */
  reset(): void;
  close(): Promise<void>;
}

export const CAPABILITIES = {
  protocol: '1',
  decision: 'polling',
  lookup: ['id', 'digest'],
  cleared_document: false,
  max_document_bytes: 5_242_880,
  limits: {
    submissions_per_minute: 600,
    lookups_per_minute: 600,
    lookups_per_submission_per_hour: 60,
    concurrent: 16,
  },
};

/**
 * Starts an HTTPS server that speaks the authority's protocol and answers as a test wants.
 * @param options.clients the authority that issues client certificates, if the server requests one
 */
export async function startScriptedAuthority(
  ca: CertificateAuthority,
  options: { readonly clients?: CertificateAuthority } = {},
): Promise<ScriptedAuthority> {
  const sockets = new Set<Socket>();
  const clients = options.clients && { ca: options.clients.certificate, requestCert: true, rejectUnauthorized: true };
  let accepted = 0;
  const server: Server = createServer({ ...(await ca.issue('localhost')), ...clients }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void answer(request, Buffer.concat(chunks), response));
  });
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);

  async function answer(message: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = message;
    const socket = message.socket as TLSSocket;
    const subject = socket.getPeerCertificate?.()?.subject as { CN?: string } | undefined;
    const request: ReceivedRequest = { method, path, headers, body, client: subject?.CN ?? null };
    send(await replyTo(request), response, socket);
  }

  function replyTo(request: ReceivedRequest): Reply | Promise<Reply> {
    if (request.path.startsWith('/token')) {
      authority.tokenRequests.push(request);
      return authority.token(request);
    }
    if (request.path === '/v1/capabilities') {
      authority.capabilityRequests++;
      return authority.capabilities;
    }
    authority.received.push(request);
    return authority.script(request);
  }

  function send(reply: Reply, response: ServerResponse, socket: Socket): void {
    if ('act' in reply) {
      reply.act(response, socket);
      return;
    }
    const { status = 200, json, text, headers = {} } = reply;
    const date = new Date(Date.now() + authority.clockAhead).toUTCString();
    const all = { date, 'authority-protocol': '1', 'content-type': 'application/json', ...headers };
    response.sendDate = false;
    for (const [name, value] of Object.entries(all)) if (value !== null) response.setHeader(name, value);
    response.writeHead(status).end(text ?? JSON.stringify(json));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const authority: ScriptedAuthority = {
    url: `https://localhost:${port}`,
    port,
    received: [],
    tokenRequests: [],
    capabilityRequests: 0,
    clockAhead: 0,
    script: () => errorReply(404, 'unknown_submission'),
    capabilities: { json: CAPABILITIES },
    token: () => ({ json: { access_token: 'token', token_type: 'Bearer', expires_in: 300 } }),
    connections: () => accepted,
    use: (secure) => server.setSecureContext({ ...secure, ...(clients && { ca: clients.ca }) }),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return authority;
}

/** An error of the protocol. @param more further members of `error` */
export function errorReply(
  status: number,
  code: string,
  { retryAfter, ...more }: { retryAfter?: number; [member: string]: unknown } = {},
): Reply {
  const message = `Message de ${code}.`;
  return {
    status,
    json: { error: { code, message, ...more } },
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  };
}

/** A submission as the protocol shows it. */
export function shownSubmission(id: string, document: Uint8Array | { readonly digest: string }, more: object = {}) {
  return {
    id,
    digest: 'digest' in document ? document.digest : sha256(document),
    status: 'accepted',
    received_at: '2026-11-22T10:00:00Z',
    decided_at: '2026-11-22T10:00:01Z',
    dgi_id: 'DGI-1',
    problems: [],
    warnings: [],
    retry_after: null,
    ...more,
  };
}

export function sha256(document: Uint8Array): string {
  return createHash('sha256').update(document).digest('hex');
}
