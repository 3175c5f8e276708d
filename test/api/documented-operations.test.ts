import { type OperationDefinitionNode, parse } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { EventReader } from '../support/event-stream.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { csvOf, row, uploaded } from '../support/imports.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

// Runs each operation that the guides show, in the order of their pages, with what its text says that it needs.

const operations = examplesRunBy('test/api/documented-operations.test.ts').map(
  ({ guide, line, text }) => [guide, line, text] as const,
);

const CUSTOMER = { ice: '001234567000089', name: 'Atlas SARL' };
const LINES = [{ description: 'Conseil', quantity: 1, unitPrice: 10_000, taxRate: 20 }];
const INPUT = { amount: 12_000, currency: 'MAD', customer: CUSTOMER, lines: LINES };

let service: TestService;
let receiver: Receiver;
let client: Client;
let secretKey: string;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startService({ ALLOW_INSECURE_WEBHOOKS: 'true' }), startReceiver()]);
  ({ secretKey } = await service.tenant());
  client = new Client(service.url, secretKey);
});
afterAll(() => Promise.all([service.close(), receiver.close()]));

async function accepted(): Promise<string> {
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(id);
  return id;
}

/** An endpoint with a delivery. */
async function delivered(): Promise<{ readonly endpoint: string; readonly event: string }> {
  const made = await client.post('/v1/webhook_endpoints', {
    url: `${receiver.url}/hook`,
    events: ['invoice.accepted'],
  });
  const before = receiver.received.length;
  await accepted();
  await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
  return { endpoint: made.body.id, event: receiver.received.at(-1)?.event.id };
}

async function creditNote(): Promise<string> {
  const query = `mutation ($id: ID!) { creditInvoice(invoiceId: $id, input: { reason: return }) {
    ... on CreditInvoicePayload { creditNote { id } } } }`;
  return (await client.graphql(query, { id: await accepted() })).body.data.creditInvoice.creditNote.id;
}

const importOf = async () => ({ id: (await uploaded(client, service.url, secretKey, csvOf([row('FA-1')]))).id });

/** The deposit that the guide to deposits creates first. */
let deposit = '';
/** The variables of an operation, or what stands for an id in its text, by its field. */
const NEEDS: Readonly<Record<string, () => Promise<Record<string, unknown>>>> = {
  createInvoice: async () => ({ input: INPUT }),
  creditInvoice: async () => ({ id: await accepted(), input: { reason: 'return' } }),
  creditEarlierInvoice: async () => ({
    input: { number: 'FA/2026/17', issueDate: '2026-03-31', reason: 'return', customer: CUSTOMER, lines: LINES },
  }),
  replaceInvoice: async () => ({ id: await accepted(), input: INPUT }),
  creditNote: async () => ({ '"crn_…"': await creditNote() }),
  createDraft: async () => ({ content: { customer: { name: 'Atlas' } } }),
  createInvoiceEmbed: async () => ({ id: await accepted() }),
  import: importOf,
  importProgress: importOf,
  startImport: importOf,
  resendWebhookEvent: async () => {
    const { event, endpoint } = await delivered();
    return { '"evt_…"': event, '"we_…"': endpoint };
  },
  resendWebhookDeliveries: async () => ({ '"we_…"': (await delivered()).endpoint }),
  rotateWebhookSecret: async () => ({ '"we_…"': (await delivered()).endpoint }),
};

/** The first result of a subscription. */
async function told(query: string, variables: object) {
  const headers = {
    Authorization: `Bearer ${secretKey}`,
    Accept: 'text/event-stream',
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify({ query, variables });
  const stream = new EventReader(await fetch(`${service.url}/graphql/stream`, { method: 'POST', headers, body }));
  const first = await stream.next();
  await stream.close();
  return JSON.parse(first?.data ?? '{}');
}

it.each(operations)('%s, line %i', async (_guide, _line, text) => {
  const [definition] = parse(text).definitions as OperationDefinitionNode[];
  const [field] = definition?.selectionSet.selections ?? [];
  const name = field?.kind === 'Field' ? field.name.value : '';
  if (text.includes('"inv_..."')) await client.settled(deposit);
  const needs = Object.entries({ ...(await NEEDS[name]?.()), '"inv_..."': deposit });
  const query = needs.reduce(
    (filled, [place, value]) => (place.startsWith('"') ? filled.replaceAll(place, JSON.stringify(value)) : filled),
    text,
  );
  const declared = new Set(definition?.variableDefinitions?.map(({ variable }) => variable.name.value));
  const variables = Object.fromEntries(needs.filter(([place]) => declared.has(place)));
  const isStream = definition?.operation === 'subscription';
  const body = isStream ? await told(query, variables) : (await client.graphql(query, variables)).body;
  expect(body.errors).toBeUndefined();
  const result = body.data[name];
  // A refusal would be an object with these members, or with none.
  expect(Object.keys(result).length).toBeGreaterThan(0);
  expect(Object.keys(result).filter((key) => ['code', 'message', 'param', 'problems'].includes(key))).toEqual([]);
  if (text.includes('isDeposit: true')) deposit = result.invoice.id;
});
