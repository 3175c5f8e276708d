import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { startStockWorker } from './stock-worker.ts';

// Runs one side of `latency` in its own process: `ours` is the unmodified service; `stock` is its API alone, with stock
// Agenda as the worker.

/**
 * The message when the process is ready, and the answer to each message: the number of commands sent to the store so
 * far.
 */
export type LatencyServiceMessage = { url: string; secretKey: string } | { commands: number };

const dataDir = await mkdtemp(join(tmpdir(), 'latency-'));
const settings = readConfig({
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'warn',
  RATE_LIMIT_SECRET: '1000000',
  RATE_LIMIT_PUBLISHABLE: '1000000',
  RATE_LIMIT_ADDRESS: '1000000',
});
const stock = process.argv[2] === 'stock';
const app = await startApp(stock ? { ...settings, role: 'api' } : settings, { monitorCommands: true });
if (app.url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
const endWorker = stock ? await startStockWorker(app, dataDir, app.url) : async () => undefined;
await app.warm;

let commands = 0;
app.store.client.on('commandStarted', ({ commandName }) => {
  // Waiting for changes is not counted.
  if (commandName !== 'getMore') commands++;
});
const tell = (message: LatencyServiceMessage) => process.send?.(message);
process.on('message', () => tell({ commands }));
process.once('disconnect', async () => {
  await endWorker();
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
});
tell({ url: app.url, secretKey: app.firstStart.demo.secretKey });
