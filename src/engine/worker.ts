import { parentPort, workerData } from 'node:worker_threads';
import type { EngineOptions } from './embedded.ts';
import { startServer } from './server.ts';
import { UnusableData } from './unusable-data.ts';

/**
 * Worker side of `startEngine`: posts `{ready: uri}` or `{failed: reason, isUnusable}`, and closes the engine on the
 * message 'close'.
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
  const failed = error instanceof Error ? error.message : String(error);
  // Errors lose their class when they are posted to another thread.
  port.postMessage({ failed, isUnusable: error instanceof UnusableData });
  port.close();
}
