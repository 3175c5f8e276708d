import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { startBareKoa } from './rest-bare-koa.ts';
import { INVOICE } from './rest-invoice.ts';

// Runs both sides of `rest` in one process, on one store and one driver: the service without its worker, and bare Koa.

/**
 * The message when the process is ready, and the answer to each message: the store commands that requests made since
 * the last message, and the CPU time so far.
 */
export type RestServiceMessage =
  | { ours: string; bare: string; secretKey: string; invoiceIds: string[]; until: string }
  | { commands: string[]; cpuMs: number };

const INVOICES = 100;
/**
 * Age of the invoices that are read, milliseconds. A list until a time also searches the minute behind that time
 * (`src/storage/invoice-reading.ts`). It stays empty, so the invoices that `rest` creates later change no measured
 * list.
 */
const AGE_MS = 180_000;
/** The first digits of an order key are the time. */
const TIME_DIGITS = 12;

const dataDir = await mkdtemp(join(tmpdir(), 'rest-bench-'));
const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
const settings = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...limits });
const app = await startApp({ ...settings, role: 'api' }, { monitorCommands: true });
if (app.url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
const { secretKey } = app.firstStart.demo;
const { db, client } = app.store;

const invoiceIds: string[] = [];
for (let i = 0; i < INVOICES; i++) invoiceIds.push(await createInvoice());
const stored = db.collection<InvoiceDocument>('invoices');
for (const { _id, createdAt, order } of await stored.find().toArray()) {
  const at = new Date(createdAt.getTime() - AGE_MS);
  const key = orderAt(at.getTime()).slice(0, TIME_DIGITS) + order.slice(TIME_DIGITS);
  // Sets the state that the worker would: most reads are of accepted invoices.
  const state = { status: 'accepted', dgiId: 'DGI-TEST-0123456789ABCDEF' } as const;
  await stored.updateOne({ _id }, { $set: { ...state, createdAt: at, updatedAt: at, order: key } });
}

const bare = await startBareKoa(db, app.keys.data, app.url);

let commands: string[] = [];
/** Whether the running code belongs to a request. Background work, such as the writing of the request log, does not. */
const inRequest = new AsyncLocalStorage<true>();
subscribe('http.server.request.start', () => inRequest.enterWith(true));
client.on('commandStarted', ({ commandName, command }) => {
  if (inRequest.getStore()) commands.push(`${commandName} ${command[commandName]}`);
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
const until = `${new Date(Date.now() - AGE_MS / 2).toISOString().slice(0, 19)}Z`;
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
