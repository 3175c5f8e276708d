import { createServer } from 'node:net';
import { listen } from './address.ts';
import type { Caller, ServerInfo } from './commands/command.ts';
import { answerAfterLoss, dispatch } from './commands/dispatch.ts';
import { FailPoints } from './commands/fail-points.ts';
import { Connection, type ConnectionHandler } from './connection.ts';
import type { Engine, EngineOptions } from './embedded.ts';
import { HeldBytes } from './held-bytes.ts';
import { removeInstanceFile, writeInstanceFile } from './store/instance-file.ts';
import { startComparing, startMaintenance } from './store/maintenance.ts';
import { Store } from './store/store.ts';

const OPLOG_BYTES = 256 * 1024 * 1024;
const TTL_SECONDS = 60;
/** Default of `heldBytes`. */
const HELD_BYTES = 512 * 1024 * 1024;

/** Opens the folder and serves it in this thread. See `startEngine` for options and errors. */
export async function startServer(options: Omit<EngineOptions, 'onFailure'>): Promise<Engine> {
  const store = new Store(options.dataDir, {
    oplogBytes: options.oplogBytes ?? OPLOG_BYTES,
    checkAll: options.checkAll === true,
    ...(options.transactionSeconds === undefined ? {} : { transactionMs: options.transactionSeconds * 1000 }),
  });
  const failPoints = options.testCommands ? new FailPoints() : undefined;
  const connections = new Set<Connection>();
  const held = new HeldBytes(options.heldBytes ?? HELD_BYTES);
  let created = 0;
  const info: ServerInfo = {
    host: '',
    startedAt: new Date(),
    connections: () => ({ current: connections.size, created }),
  };
  const callerOf = (connection: Connection): Caller => ({ store, server: info, connection, failPoints });
  const handler: ConnectionHandler = {
    run: (request, connection) => dispatch(callerOf(connection), request),
    whenDurable: (callback) => store.commit.afterCommit(callback),
    afterLoss: (request, connection, lost, failure) => answerAfterLoss(callerOf(connection), request, lost, failure),
  };
  const server = createServer((socket) => {
    const connection = new Connection(++created, socket, handler, held);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  try {
    const address = await listen(server, options.dataDir, options);
    info.host = address.host;
    writeInstanceFile(options.dataDir, { pid: process.pid, uri: address.uri });
    const stopMaintenance = startMaintenance(store, (options.ttlSeconds ?? TTL_SECONDS) * 1000);
    const stopComparing = startComparing(store);
    return {
      uri: address.uri,
      close: async () => {
        stopMaintenance();
        stopComparing();
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        store.stop();
        await new Promise((resolve) => setImmediate(resolve));
        for (const connection of connections) connection.close();
        await closed;
        removeInstanceFile(options.dataDir);
        address.cleanUp();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
