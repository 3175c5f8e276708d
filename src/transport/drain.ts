import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** How a server treats its clients during a shutdown. */
export interface ShutdownOptions {
  /** Milliseconds for which the listener stays open, so that load balancers notice that it is not ready. */
  readonly delayMs: number;
  /** How long the requests in flight may take after that, milliseconds. */
  readonly graceMs: number;
  /**
   * Whether an idle connection stays open until its client sends another request, which is answered, or for
   * {@link IDLE_MS}. Closing it at once could lose a request that is on its way. False closes idle connections at
   * once, for somebody who waits at a terminal.
   */
  readonly patient: boolean;
}

/** The connections and requests of a server. */
export interface Drain {
  /**
   * Answers the requests in flight and those that still arrive, each with `Connection: close`, then closes the
   * listener. Resolves when no connection is left. Connections that exceed the times of `options` are cut off.
   * @param endStreams called after the delay to end the answers that have no end of their own
   */
  end(options: ShutdownOptions, endStreams: () => void): Promise<void>;
}

/** The listener closes after so many milliseconds without a new connection and without a request in flight. */
const QUIET_MS = 100;
/**
 * Maximum time between the delay and the closing of the listener, milliseconds. Connections that wait to be accepted
 * then are accepted first.
 */
const LISTEN_MS = 1000;
/** How long idle connections stay open, milliseconds: proxies that were told by `/readyz` stop using them meanwhile. */
const IDLE_MS = 6000;
/** More than enough time for a destroyed connection to emit `close`, milliseconds. */
const GONE_MS = 1000;

/** The state of a connection. */
interface Client {
  /** Number of requests in flight. */
  requests: number;
  /** The bytes received when the last request was answered. With more since, another request is arriving. */
  read: number;
}

/** Tracks the connections of a server. To be called before it has any. */
export function createDrain(server: Server): Drain {
  const clients = new Map<Socket, Client>();
  const active = new Set<ServerResponse>();
  let draining = false;
  let lastActive = 0;
  let accepted = 0;
  let changed = Promise.withResolvers<void>();

  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const begin = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const client = clients.get(socket);
    if (client) client.requests++;
    active.add(response);
    if (draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      active.delete(response);
      lastActive = performance.now();
      if (client) {
        client.requests--;
        client.read = socket.bytesRead;
      }
      tell();
    });
  };
  server.on('connection', (socket: Socket) => {
    clients.set(socket, { requests: 0, read: 0 });
    lastActive = performance.now();
    accepted++;
    socket.once('close', () => {
      clients.delete(socket);
      tell();
    });
  });
  server.prependListener('request', begin);
  server.prependListener('checkExpectation', begin);

  /** Resolves at the next change, or at `time`. */
  async function changedOrAt(time: number): Promise<void> {
    const timer = setTimeout(tell, time - performance.now());
    await changed.promise;
    clearTimeout(timer);
  }

  /**
   * Resolves when no request has been in flight and no connection has come for `QUIET_MS`, or at `until`; in both cases
   * when no connection waits to be accepted, or at `limit`. Closing the listener would reset a waiting connection.
   */
  async function quiet(until: number, limit: number): Promise<void> {
    for (;;) {
      const end = active.size > 0 ? until : Math.min(until, lastActive + QUIET_MS);
      if (performance.now() < end) {
        await changedOrAt(end);
        continue;
      }
      // Timers run before the event loop looks for connections, and it accepts one connection a turn.
      const before = accepted;
      await nextTurn();
      if (accepted === before || performance.now() >= limit) return;
    }
  }

  /** Resolves when no connection is left, or at `until`. */
  async function empty(until: number, atEachChange = () => {}): Promise<void> {
    atEachChange();
    while (clients.size > 0 && performance.now() < until) {
      await changedOrAt(until);
      atEachChange();
    }
  }

  /** Node's `closeIdleConnections` would cut off incomplete answers, and keep connections that never sent a request. */
  function closeIdle(): void {
    for (const [socket, { requests, read }] of clients)
      if (requests === 0 && socket.bytesRead === read) socket.destroy();
  }

  return {
    async end({ delayMs, graceMs, patient }, endStreams) {
      draining = true;
      for (const response of active) if (!response.headersSent) response.shouldKeepAlive = false;
      if (delayMs > 0) await sleep(delayMs);
      const start = performance.now();
      lastActive = start;
      endStreams();
      if (patient) await quiet(start + LISTEN_MS, start + graceMs);
      // Not `close` of the HTTP server, which also closes idle connections.
      NetServer.prototype.close.call(server);
      const end = start + graceMs;
      if (patient) await empty(Math.min(end, start + IDLE_MS));
      await empty(end, closeIdle);
      for (const socket of clients.keys()) socket.destroy();
      await empty(performance.now() + GONE_MS);
      // Stops the timers of the HTTP server.
      server.close(() => undefined);
    },
  };
}
