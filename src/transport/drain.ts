import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createBell } from '../domain/kit/bell.ts';

/** How a server treats its clients during a shutdown. */
export interface ShutdownOptions {
  /** Milliseconds for which the listener stays open, so that load balancers notice that it is not ready. */
  readonly delayMs: number;
  /** Time limit for the requests in flight after that delay, milliseconds. */
  readonly graceMs: number;
  /**
   * Whether an idle connection stays open until its client sends another request, which is answered, or for {@link
   * IDLE_MS}. Closing it immediately could lose a request that is on its way. If false, idle connections are closed
   * immediately, for a user who waits at a terminal.
   */
  readonly patient: boolean;
}

/** Ends the connections and requests of a server in an orderly way. */
export interface Drain {
  /**
   * Answers the requests in flight and those that still arrive, each with `Connection: close`, then closes the
   * listener. Resolves when no connection is left. Connections that exceed the times of `options` are cut off.
   * @param endStreams called after the delay to end the answers that have no end of their own
   */
  end(options: ShutdownOptions, endStreams: () => void): Promise<void>;
}

/** The listener closes after this time without a new connection and without a request in flight, milliseconds. */
const QUIET_MS = 100;
/**
 * Maximum time between the delay and the closing of the listener, milliseconds. Connections waiting to be accepted at
 * that time are accepted before it closes.
 */
const LISTEN_MS = 1000;
/** How long idle connections stay open, milliseconds. Meanwhile proxies that query `/readyz` stop using them. */
const IDLE_MS = 6000;
/** More than enough time for a destroyed connection to emit `close`, milliseconds. */
const GONE_MS = 1000;

/** What is known about an open connection. */
interface Client {
  /** Number of requests in flight. */
  requests: number;
  /**
   * Number of bytes received when the last request was answered. If more have arrived since, another request is coming.
   */
  read: number;
}

/** Tracks the connections of a server. Must be called before there are any. */
export function createDrain(server: Server): Drain {
  const clients = new Map<Socket, Client>();
  const active = new Set<ServerResponse>();
  let draining = false;
  let lastActive = 0;
  let accepted = 0;
  const changed = createBell();

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
      changed.ring();
    });
  };
  server.on('connection', (socket: Socket) => {
    clients.set(socket, { requests: 0, read: 0 });
    lastActive = performance.now();
    accepted++;
    socket.once('close', () => {
      clients.delete(socket);
      changed.ring();
    });
  });
  server.prependListener('request', begin);
  server.prependListener('checkExpectation', begin);

  /** Resolves at the next change, or at `time`. */
  async function changedOrAt(time: number): Promise<void> {
    await changed.heard(Math.max(0, time - performance.now()));
  }

  /**
   * Resolves when no request is in flight and no connection has come for `QUIET_MS`, or at `until`. In both cases it
   * waits until no connection is queued for acceptance, or until `limit`, because closing the listener would reset such
   * a connection.
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

  /**
   * Closes idle connections. Node's `closeIdleConnections` would cut off incomplete answers, and keep connections that
   * never sent a request.
   */
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
      // The `close` of the HTTP server is not used, because it also closes idle connections.
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
