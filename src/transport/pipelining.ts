import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { abandon } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** Maximum number of unfinished requests of one connection. Clients that pipeline requests send up to ten. */
const MAX_PIPELINED = 16;

interface Connection {
  /** The answers that are not complete, in the order of their requests. */
  readonly unfinished: Set<ServerResponse>;
  /** The last answer that has no end of its own. */
  endless: ServerResponse | null;
}

/** The connections that have had a request. */
const connections = new WeakMap<Socket, Connection>();

/**
 * Resets a connection whose client sends ever more requests without reading the answers, or sends one that could only
 * be answered when a stream has ended. Each request that waits for the answer to another takes some kilobytes, however
 * small its own answer is. One limit counts for all listeners.
 * @param isIgnored whether the requests of a connection are read and ignored
 */
export function limitPipelined(handle: RequestListener, isIgnored: (socket: Socket) => boolean): RequestListener {
  return (request, response) => {
    const { socket } = request;
    if (isIgnored(socket)) return void request.resume();
    const connection = connections.get(socket) ?? { unfinished: new Set(), endless: null };
    connections.set(socket, connection);
    const { unfinished, endless } = connection;
    if (unfinished.size === MAX_PIPELINED || (endless && unfinished.has(endless))) return abandon(socket);
    unfinished.add(response);
    whenGone(response, () => unfinished.delete(response));
    handle(request, response);
  };
}

/**
 * Tells that an answer has no end of its own: until it ends, its connection takes no further request. A client that has
 * sent one already is reset.
 */
export function allowNothingBehind(response: ServerResponse, socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  connection.endless = response;
  if ([...connection.unfinished].at(-1) !== response) abandon(socket);
}

/**
 * Closes a connection whose client asks for a tunnel. Node gives up such a connection, with the answers that wait on it:
 * they would never be closed, and whatever waits for that would be kept for ever.
 */
export function refuseTunnels(server: Server): void {
  server.on('connect', ({ socket }) => {
    for (const response of connections.get(socket)?.unfinished ?? []) response.destroy();
    socket.destroy();
  });
}
