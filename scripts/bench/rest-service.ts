import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { startBareKoa } from './rest-bare-koa.ts';
import { INVOICE } from './rest-invoice.ts';

// Runs both sides of `rest` in one process, on one store and one driver: the service without its worker, and bare Koa.

/**
 * The message when the process is ready, and the answer to each message: the store commands since the last message, and
 * the CPU time so far.
 */
export type RestServiceMessage =
  | { ours: string; bare: string; secretKey: string; invoiceIds: string[]; until: string }
  | { commands: string[]; cpuMs: number };

const INVOICES = 100;

const dataDir = await mkdtemp(join(tmpdir(), 'rest-bench-'));
const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
const settings = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...limits });
const app = await startApp({ ...settings, role: 'api' }, { monitorCommands: true });
if (app.url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
const { secretKey } = app.firstStart.demo;
const { db, client } = app.store;

const invoiceIds: string[] = [];
for (let i = 0; i < INVOICES; i++) invoiceIds.push(await createInvoice());
// Sets the state that the worker would: most reads are of accepted invoices.
await db.collection('invoices').updateMany({}, { $set: { status: 'accepted', dgiId: 'DGI-TEST-0123456789ABCDEF' } });

const bare = await startBareKoa(db, app.keys.data, app.url);

let commands: string[] = [];
client.on('commandStarted', ({ commandName, command }) => {
  if (commandName !== 'getMore') commands.push(`${commandName} ${command[commandName]}`);
});
const tell = (message: RestServiceMessage) => process.send?.(message);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  tell({ commands, cpuMs: (user + system) / 1000 });
  commands = [];
});
process.once('disconnect', async () => {
  await bare.close();
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
});
// Invoices that `rest` creates later must not appear on the measured pages.
await sleep(1100);
const until = `${new Date().toISOString().slice(0, 19)}Z`;
tell({ ours: app.url, bare: bare.url, secretKey, invoiceIds, until });

async function createInvoice(): Promise<string> {
  const response = await fetch(`${app.url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(INVOICE),
  });
  const { id, error } = (await response.json()) as { id: string; error?: { message: string } };
  if (error) throw new Error(error.message);
  return id;
}
