import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { abandon } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** Maximum number of unfinished requests of one connection. Clients that pipeline requests send up to ten. */
const MAX_PIPELINED = 16;

interface Connection {
  /** The answers that are not complete, in the order of their requests. */
  readonly unfinished: Set<ServerResponse>;
  /** The last answer that ends only with its stream, such as an event stream. */
  endless: ServerResponse | null;
}

/** The connections that have had a request. */
const connections = new WeakMap<Socket, Connection>();

/**
 * Limits the unfinished requests of a connection. Resets a connection whose client sends ever more requests without
 * reading the answers, or sends one behind a stream that has not ended. Each waiting request takes some kilobytes,
 * however small its answer is. The limit counts the requests of a connection on all listeners together.
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
 * Declares that an answer is endless: its connection takes no further request before it ends. A client that has already
 * sent one is reset.
 */
export function allowNothingBehind(response: ServerResponse, socket: Socket): void {
  const connection = connections.get(socket);
  if (!connection) return;
  connection.endless = response;
  if ([...connection.unfinished].at(-1) !== response) abandon(socket);
}

/**
 * Closes a connection whose client requests a tunnel (CONNECT). Node abandons such a connection without closing its
 * unfinished answers, so code that waits for their end would wait for ever.
 */
export function refuseTunnels(server: Server): void {
  server.on('connect', ({ socket }) => {
    for (const response of connections.get(socket)?.unfinished ?? []) response.destroy();
    socket.destroy();
  });
}
