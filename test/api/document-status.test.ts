import { createClient } from 'graphql-sse';
import { expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
let invoice: { readonly id: string; readonly client_secret: string };
let note: { readonly id: string; readonly clientSecret: string };

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  invoice = (await client.post('/v1/invoices', invoiceBody())).body;
  expect((await client.settled(invoice.id)).status).toBe('accepted');
  const { body } = await client.graphql(
    `mutation { creditInvoice(invoiceId: "${invoice.id}", input: { reason: error }) {
      ... on CreditInvoicePayload { clientSecret creditNote { id } } } }`,
  );
  const { clientSecret, creditNote } = body.data.creditInvoice;
  note = { id: creditNote.id, clientSecret };
});

const FOLLOW = `subscription ($id: ID!, $secret: String, $after: ID) {
  fiscalDocumentStatus(id: $id, clientSecret: $secret, afterEventId: $after) {
    eventId documentId status dgiId rejectionReason } }`;

/** Follows a document to the end. @returns the changes, or the status of the refusal */
async function follow(credential: string, variables: { id: string; secret?: string; after?: string }) {
  const sse = createClient({
    url: `${service.url}/graphql/stream`,
    headers: { Authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  });
  const changes = [];
  for await (const { data, errors } of sse.iterate<{ fiscalDocumentStatus: Change }>({ query: FOLLOW, variables })) {
    if (errors) return errors[0]?.extensions?.status;
    changes.push(data?.fiscalDocumentStatus as Change);
  }
  return changes;
}

interface Change {
  readonly eventId: string;
  readonly documentId: string;
  readonly status: string;
  readonly dgiId: string | null;
}

it('fiscalDocumentStatus follows a credit note to its final status, and resumes after an event', async () => {
  const changes = (await follow(note.clientSecret, { id: note.id })) as Change[];
  expect(changes.at(-1)).toMatchObject({ documentId: note.id, status: 'accepted', dgiId: expect.any(String) });
  const { body } = await client.graphql(`{ creditNote(id: "${note.id}") { status dgiId } }`);
  expect(body.data.creditNote).toEqual({ status: 'accepted', dgiId: changes.at(-1)?.dgiId });
  const created = await client.graphql(
    `mutation { creditEarlierInvoice(input: { number: "F 12", issueDate: "2025-11-03", reason: other,
      customer: { ice: "001234567000080", name: "Atlas" },
      lines: [{ description: "Livre", quantity: 1, unitPrice: 10000, taxRate: 7 }] }) {
      ... on CreditEarlierInvoicePayload { creditNote { id } } ... on Error { message } } }`,
  );
  const { id } = created.body.data.creditEarlierInvoice.creditNote;
  const all = (await follow(tenant.secretKey, { id })) as Change[];
  expect(all.map(({ status }) => status).join()).toMatch(/^(signing,)?(transmitted,)?accepted$/);
  const after = all[0]?.eventId as string;
  const rest = (await follow(tenant.secretKey, { id, after })) as Change[];
  expect(rest).toEqual(all.slice(1));
});

it('fiscalDocumentStatus follows invoices too, and invoiceStatus follows no credit note', async () => {
  const changes = (await follow(tenant.publishableKey, { id: invoice.id, secret: invoice.client_secret })) as Change[];
  expect(changes).toMatchObject([{ documentId: invoice.id, status: 'accepted' }]);
  const { body } = await client.graphql(`subscription { invoiceStatus(id: "${note.id}") { status } }`);
  expect(body.errors[0].extensions.status).toBe(404);
});

it('fiscalDocumentStatus refuses a credit note to every credential but its own and its tenant’s secret key', async () => {
  const stranger = await service.tenant();
  expect(await follow(stranger.secretKey, { id: note.id })).toBe(404);
  expect(await follow(invoice.client_secret, { id: note.id })).toBe(403);
  expect(await follow(note.clientSecret, { id: invoice.id })).toBe(403);
  expect(await follow(tenant.publishableKey, { id: note.id })).toBe(403);
  expect(await follow(tenant.publishableKey, { id: note.id, secret: invoice.client_secret })).toBe(403);
  expect(await follow(tenant.secretKey, { id: 'whk_00000000000000000000000000' })).toBe(404);
});

it('the stream of pages without an account follows a credit note with its own client_secret only', async () => {
  const statuses = async (id: string, token: string) => {
    const response = await fetch(`${service.url}/embed/api/statuses`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ invoices: [{ id, token, after: null }] }),
    });
    return response.status === 200 ? (await response.text()).match(/"status":"\w+"/g)?.at(-1) : response.status;
  };
  expect(await statuses(note.id, note.clientSecret)).toBe('"status":"accepted"');
  expect(await statuses(invoice.id, invoice.client_secret)).toBe('"status":"accepted"');
  expect(await statuses(note.id, invoice.client_secret)).toBe(401);
  expect(await statuses(invoice.id, note.clientSecret)).toBe(401);
  expect(await statuses(note.id, tenant.secretKey)).toBe(401);
});
