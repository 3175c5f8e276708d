import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a server that stops treats its clients. */
export interface Leave {
  /** How long the listener stays open at least, milliseconds: until load balancers have noticed that the service is not ready. */
  readonly delayMs: number;
  /** How long the requests in flight may take after that, milliseconds. */
  readonly graceMs: number;
  /**
   * Whether connections without a request are left open until their client sends one more (which is answered) or their keep-alive time-out
   * ends them: to close one races with the request that may be on its way. False: they are closed at once, for whoever waits at a terminal.
   */
  readonly patient: boolean;
}

/** The connections and requests of a server. */
export interface Drain {
  /** Whether `end` was called. */
  readonly draining: boolean;
  /**
   * Answers what was asked and what is still asked, each answer with `Connection: close`, then closes the listener and resolves when no
   * connection is left. What takes longer than `leave` allows is cut off.
   * @param endStreams runs after the delay: ends the answers that do not end by themselves
   */
  end(leave: Leave, endStreams: () => void): Promise<void>;
}

/** The listener closes when no request was in flight for as long: what clients had sent by then has been taken. Milliseconds. */
const QUIET_MS = 100;
/** It closes at the latest so long after the delay, however busy it is. */
const LISTEN_MS = 1000;
/** Node ends an idle connection up to so long after its keep-alive time-out. */
const KEEP_ALIVE_BUFFER_MS = 1000;
/** Longer than a destroyed connection takes to be gone. */
const GONE_MS = 1000;

/** What is known of a connection. */
interface Client {
  /** Its requests in flight. */
  requests: number;
  /** The bytes that had come when the last of them was answered: with more, another request is on its way. */
  read: number;
}

/** Watches a server that has no connections yet. */
export function createDrain(server: Server): Drain {
  const clients = new Map<Socket, Client>();
  const active = new Set<ServerResponse>();
  let draining = false;
  let lastActive = 0;
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

  /** Resolves when no request has been in flight for `QUIET_MS`, or at `until`. */
  async function quiet(until: number): Promise<void> {
    for (;;) {
      const end = active.size > 0 ? until : Math.min(until, lastActive + QUIET_MS);
      if (performance.now() >= end) return;
      await changedOrAt(end);
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

  /** Not `closeIdleConnections`, which cuts off answers that are not sent whole, and leaves connections that never sent anything. */
  function closeIdle(): void {
    for (const [socket, { requests, read }] of clients)
      if (requests === 0 && socket.bytesRead === read) socket.destroy();
  }

  return {
    get draining() {
      return draining;
    },
    async end({ delayMs, graceMs, patient }, endStreams) {
      draining = true;
      for (const response of active) if (!response.headersSent) response.shouldKeepAlive = false;
      if (delayMs > 0) await sleep(delayMs);
      const start = performance.now();
      lastActive = start;
      endStreams();
      if (patient) await quiet(start + LISTEN_MS);
      // Not the HTTP server's own `close`, which closes idle connections too.
      NetServer.prototype.close.call(server);
      const end = start + graceMs;
      if (patient) await empty(Math.min(end, start + server.keepAliveTimeout + KEEP_ALIVE_BUFFER_MS));
      await empty(end, closeIdle);
      for (const socket of clients.keys()) socket.destroy();
      await empty(performance.now() + GONE_MS);
      // Ends its timers.
      server.close(() => undefined);
    },
  };
}
