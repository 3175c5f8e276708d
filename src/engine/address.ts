import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, ListenOptions, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The longest socket path, in bytes, that every system accepts: macOS has 104 with the terminating NUL, Linux 108. */
const MAX_SOCKET_PATH = 103;
/** Length of the socket's listen queue. When the queue is full, further connection attempts fail immediately. */
const BACKLOG = 4096;

export interface Address {
  uri: string;
  /** `host:port`, or the path of the socket. */
  host: string;
  /** Removes the temporary folder of the socket, if one was made. */
  cleanUp(): void;
}

/**
 * Starts listening on a port of 127.0.0.1 if `wanted.port` is given (0 picks a free one), otherwise on a unix socket
 * that only its owner can open (mode 0600, in a folder of mode 0700). By default the socket is in the data folder.
 * Where that path is too long or the file system supports no sockets, it is in the system's temporary folder. Where no
 * sockets are available, as on Windows, the engine listens on a port.
 * @throws Error when the address is in use or the requested path is not valid
 */
export async function listen(
  server: Server,
  dataDir: string,
  wanted: { port?: number; socketPath?: string },
): Promise<Address> {
  if (wanted.port !== undefined) return onLoopback(server, wanted.port);
  if (wanted.socketPath) return onSocket(server, { path: resolve(wanted.socketPath), cleanUp: () => {} });
  if (process.platform !== 'win32') {
    for (const place of [inDataFolder, inTemporaryFolder]) {
      let socket: Socket | null = null;
      try {
        socket = place(dataDir);
        return await onSocket(server, socket);
      } catch {
        // Network file systems and those of Windows often support no sockets, and the temporary folder may not be
        // writable.
        socket?.cleanUp();
      }
    }
  }
  return onLoopback(server, 0);
}

interface Socket {
  readonly path: string;
  readonly cleanUp: () => void;
}

async function onLoopback(server: Server, port: number): Promise<Address> {
  await startListening(server, { host: '127.0.0.1', port });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { uri: `mongodb://${host}/?directConnection=true`, host, cleanUp: () => {} };
}

async function onSocket(server: Server, { path, cleanUp }: Socket): Promise<Address> {
  // The driver recognizes a socket path by this suffix.
  if (!path.endsWith('.sock')) throw new Error(`The path of the socket must end in .sock: ${path}`);
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH)
    throw new Error(`The path of the socket is longer than ${MAX_SOCKET_PATH} bytes: ${path}`);
  // The driver decodes percent escapes in the path twice.
  if (path.includes('%')) throw new Error(`The path of the socket has a %: ${path}`);
  rmSync(path, { force: true });
  await startListening(server, { path });
  chmodSync(path, 0o600);
  return { uri: `mongodb://${encodeURIComponent(path)}/?directConnection=true`, host: path, cleanUp };
}

function inDataFolder(dataDir: string): Socket {
  const folder = resolve(dataDir, 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  return { path: join(folder, 'engine.sock'), cleanUp: () => {} };
}

function inTemporaryFolder(): Socket {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  return { path: join(folder, 'engine.sock'), cleanUp: () => rmSync(folder, { recursive: true, force: true }) };
}

function startListening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = options.path ?? `${options.host}:${options.port}`;
      reject(
        new Error(error.code === 'EADDRINUSE' ? `The address ${place} is in use by another process.` : error.message),
      );
    });
    server.listen({ ...options, backlog: BACKLOG }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}
