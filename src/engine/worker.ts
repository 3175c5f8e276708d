import { parentPort, workerData } from 'node:worker_threads';
import type { EngineOptions } from './embedded.ts';
import { startServer } from './server.ts';

/**
 * Worker side of `startEngine`: posts `{ready: uri}` or `{failed: reason}`, and closes the engine on the message
 * 'close'.
 */
const port = parentPort;
if (!port) throw new Error('worker.ts runs as a worker thread only');
try {
  const server = await startServer(workerData as EngineOptions);
  port.once('message', async () => {
    await server.close();
    port.close();
  });
  port.postMessage({ ready: server.uri });
} catch (error) {
  port.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  port.close();
}
