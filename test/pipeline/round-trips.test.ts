import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_RENDERER, startService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({}, STAND_IN_RENDERER, true);
  client = new Client(service.url, (await service.tenant()).secretKey);
});
afterAll(() => service.close());

/**
 * Whether a command counts (docs/decisions/0008). Commands for documents and webhooks do not; neither do reads of the
 * change streams, which serve all invoices together, nor the rate limiter, which adds one command to each request if
 * several processes share a store.
 */
function counts({ commandName, command }: CommandStartedEvent): boolean {
  const collection = String(command[commandName]);
  if (commandName === 'getMore' || /^(documents\.|webhook_|rate_windows$)/.test(collection)) return false;
  return !isOutbox(command) && !isTurnOfWebhooks(command);
}

/** Whether the command takes a turn at the log of events or at the ledger of deliveries. */
function isTurnOfWebhooks(command: CommandStartedEvent['command']): boolean {
  return command.update === 'list_heads' && command.updates?.[0].q._id.startsWith('webhook_');
}

/**
 * Whether the publisher of webhook events sent the command, or the sweep of the sums: they take invoices out of the outbox
 * in the transaction that sums them, and look for those that wait.
 */
function isOutbox({ autocommit, filter }: CommandStartedEvent['command']): boolean {
  return autocommit === false || filter?.['outbox.dueAt'] !== undefined || filter?.unsummed !== undefined;
}

/** The ids of the invoices that the command accepts. */
function acceptedBy({ command }: CommandStartedEvent): string[] {
  if (command.update !== 'invoices') return [];
  const updates: { q: { _id: string }; u: { $set?: { status?: string } } }[] = command.updates;
  return updates.filter(({ u }) => u.$set?.status === 'accepted').map(({ q }) => q._id);
}

/** The commands that the service sends from the POST to the update that accepts the invoice. */
async function commandsOfAnInvoice(): Promise<string[]> {
  const commands: string[] = [];
  const accepted = Promise.withResolvers<void>();
  const listener = (event: CommandStartedEvent) => {
    if (counts(event)) commands.push(`${event.commandName} ${event.command[event.commandName]}`);
    if (acceptedBy(event).length > 0) accepted.resolve();
  };
  service.app.store.client.on('commandStarted', listener);
  await client.post('/v1/invoices', invoiceBody());
  await accepted.promise;
  service.app.store.client.off('commandStarted', listener);
  return commands;
}

/**
 * Number of invoices with work, and of jobs. What waits for a moment in which the machine has nothing else to do is given
 * up: on a busy one there is none.
 */
async function leftovers(): Promise<number> {
  const { db } = service.app.store;
  await db.collection('invoices').updateMany({ 'work.idle': true }, { $unset: { work: '' } });
  return (
    (await db.collection('invoices').countDocuments({ work: { $exists: true } })) +
    (await db.collection('jobs').countDocuments())
  );
}

it('an invoice costs at most 12 round trips to the store from POST to accepted', async () => {
  // The first invoice also reads the highest number of its series.
  await commandsOfAnInvoice();
  let fewest: string[] | null = null;
  const end = Date.now() + 100_000;
  do {
    // Waits for the work after acceptance (rendering). Polls and sweeps run at intervals, and on a busy machine most
    // runs contain some, so the run with the fewest commands counts.
    await expect.poll(leftovers).toBe(0);
    const commands = await commandsOfAnInvoice();
    if (fewest === null || commands.length < fewest.length) fewest = commands;
  } while (fewest.length > 12 && Date.now() < end);
  expect(fewest.length, fewest.join(', ')).toBeLessThanOrEqual(12);
  // Proves that the monitoring sees the commands that every run must contain.
  expect(fewest).toEqual(expect.arrayContaining(['insert invoices', 'find invoices', 'insert mock_submissions']));
}, 180_000);

it('64 invoices that are created together cost at most 12 commands each until all are accepted', async () => {
  let fewest: string[] | null = null;
  const end = Date.now() + 100_000;
  do {
    await expect.poll(leftovers).toBe(0);
    const commands = await commandsOfMany(64);
    if (fewest === null || commands.length < fewest.length) fewest = commands;
    // The longer a busy machine takes, the more polls and sweeps come in between.
  } while (fewest.length > 12 * 64 && Date.now() < end);
  const byName = Object.entries(Object.groupBy(fewest, (name) => name)).map(
    ([name, each]) => `${each?.length} ${name}`,
  );
  expect(fewest.length / 64, byName.join(', ')).toBeLessThanOrEqual(12);
}, 180_000);

/** All commands of the service but the waits for changes, which serve all invoices, until so many are accepted. */
async function commandsOfMany(count: number): Promise<string[]> {
  const commands: string[] = [];
  const accepted = new Set<string>();
  const all = Promise.withResolvers<void>();
  const listener = (event: CommandStartedEvent) => {
    if (event.commandName === 'getMore') return;
    commands.push(`${event.commandName} ${event.command[event.commandName]}`);
    for (const id of acceptedBy(event)) accepted.add(id);
    if (accepted.size === count) all.resolve();
  };
  service.app.store.client.on('commandStarted', listener);
  const created = await Promise.all(Array.from({ length: count }, () => client.post('/v1/invoices', invoiceBody())));
  await all.promise;
  service.app.store.client.off('commandStarted', listener);
  expect(new Set(created.map(({ body }) => body.id))).toEqual(accepted);
  return commands;
}
