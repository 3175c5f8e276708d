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
 * Documents and webhooks are counted aside (docs/decisions/0008), and the change streams' waiting reads serve all invoices together. On a server that
 * several processes share, each request has one more, whatever it asks: the limiter's.
 */
function counts({ commandName, command }: CommandStartedEvent): boolean {
  const collection = String(command[commandName]);
  return commandName !== 'getMore' && !/^(documents\.|webhook_|rate_windows$)/.test(collection) && !isOutbox(command);
}

/** What brings events to webhooks takes them off the outbox afterwards, and looks for what is left there by the clock. */
function isOutbox(command: CommandStartedEvent['command']): boolean {
  return command.updates?.[0].u.$unset?.outbox !== undefined || command.filter?.['outbox.dueAt'] !== undefined;
}

function isAcceptance({ command }: CommandStartedEvent): boolean {
  return command.update === 'invoices' && command.updates[0].u.$set?.status === 'accepted';
}

/** The commands that the service sends from the POST to the update that accepts the invoice. */
async function commandsOfAnInvoice(): Promise<string[]> {
  const commands: string[] = [];
  const accepted = Promise.withResolvers<void>();
  const listener = (event: CommandStartedEvent) => {
    if (counts(event)) commands.push(`${event.commandName} ${event.command[event.commandName]}`);
    if (isAcceptance(event)) accepted.resolve();
  };
  service.app.store.client.on('commandStarted', listener);
  await client.post('/v1/invoices', invoiceBody());
  await accepted.promise;
  service.app.store.client.off('commandStarted', listener);
  return commands;
}

/** How much of earlier invoices is still to be done. */
async function leftovers(): Promise<number> {
  const { db } = service.app.store;
  return (
    (await db.collection('invoices').countDocuments({ work: { $exists: true } })) +
    (await db.collection('jobs').countDocuments())
  );
}

it('an invoice costs at most 12 round trips to the store from POST to accepted', async () => {
  // The first one also looks for the last number of its series.
  await commandsOfAnInvoice();
  let fewest: string[] | null = null;
  const end = Date.now() + 45_000;
  do {
    // What follows acceptance (rendering) is over by then. Polls and sweeps run by the clock: on a busy machine few runs have none.
    await expect.poll(leftovers, { timeout: 40_000 }).toBe(0);
    const commands = await commandsOfAnInvoice();
    if (fewest === null || commands.length < fewest.length) fewest = commands;
  } while (fewest.length > 12 && Date.now() < end);
  expect(fewest.length, fewest.join(', ')).toBeLessThanOrEqual(12);
  // The count would be worth nothing if it missed what must be there.
  expect(fewest).toEqual(expect.arrayContaining(['insert invoices', 'insert jobs', 'findAndModify mock_submissions']));
}, 120_000);
