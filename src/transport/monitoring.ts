import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { localAddress } from '../domain/local-address.ts';
import { isOperator, type OperatorHash } from './operator-pages.ts';
import { type Ready, readinessOf, type Warnings } from './readiness.ts';

/** Time limits for a request, milliseconds. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 70_000 };
/** Maximum number of concurrent connections. Monitoring systems need a few. */
const MAX_CONNECTIONS = 64;

export interface MonitoringParts {
  readonly exposition: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** As for `operatorPages`. */
  readonly operatorHash: OperatorHash;
  readonly ready: Ready;
  readonly warnings: Warnings;
}

/** A listening server for monitoring systems only. */
export interface Monitoring {
  readonly url: string;
  close(): void;
}

/**
 * Answers `/metrics`, `/healthz` and `/readyz` as the service does, in a process that does not run the service's HTTP
 * server.
 * @throws when the address cannot be listened on; the message names the setting
 */
export async function serveMonitoring(port: number, host: string, parts: MonitoringParts): Promise<Monitoring> {
  const server = createServer(LIMITS, (request, response) => {
    answer(request, response, parts).catch(() => {
      response.writeHead(503, { 'Content-Type': 'text/plain' }).end('The store is unreachable.\n');
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(
        new Error(`The process cannot listen on HOST ${host}, METRICS_PORT ${port}: ${cause.message}.`, { cause }),
      ),
    );
    server.listen(port, host, resolve);
  });
  return {
    url: localAddress(host, (server.address() as AddressInfo).port),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: MonitoringParts): Promise<void> {
  request.resume();
  const [path, query] = (request.url ?? '').split('?');
  const json = (status: number, body: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  if (request.method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
  if (path === '/healthz') return void json(200, { status: 'alive' });
  if (path === '/readyz') {
    const { status, body } = await readinessOf(parts, new URLSearchParams(query));
    return void json(status, body);
  }
  if (path !== '/metrics') return void response.writeHead(404).end();
  if (!isOperator(request.headers.authorization ?? '', (await parts.operatorHash()) ?? '')) {
    const challenge = 'Basic realm="fatoura operators", charset="UTF-8"';
    return void response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
  }
  const { contentType, text } = await parts.exposition();
  response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
}
