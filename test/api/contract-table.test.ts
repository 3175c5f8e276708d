import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoiceBody, invoiceFor, messagesOf } from '../support/client.ts';
import {
  addCommand,
  addEvent,
  addFields,
  addLineField,
  addRate,
  addSetting,
  requireFields,
} from '../support/contract-changes.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { testLong } from '../support/samples.ts';
import { type ScratchCopy, type ScratchService, scratchCopy } from '../support/scratch-copy.ts';

// A copy of the source is changed: fields of an invoice and a VAT rate in one file each, event types in their table and
// the places that emit them, a command in its file and the table of commands, a setting in one file. The service built
// from the copy then has the changes everywhere.

const SECRET_URL = /\/files\/[^"]+/;

let copy: ScratchCopy;
/** The GraphQL schema of the copy. */
let printedSchema: string;
let service: ScratchService;
let receiver: Receiver;
let endpoint: { readonly id: string; readonly secret: string };
/** The files that each change took. */
const took: Record<string, string[]> = {};

beforeAll(async () => {
  copy = await scratchCopy();
  await addFields(copy);
  took.fields = copy.touched();
  await addLineField(copy);
  took.lineField = copy.touched();
  await addRate(copy);
  took.rate = copy.touched();
  await addEvent(copy, 'signed', 'stages/sign.ts', "{ xml, work: next('transmit') }");
  took.event = copy.touched();
  await addEvent(copy, 'printed', 'stages/render.ts', '{ pdf: await parts.documents.put');
  copy.touched();
  await addSetting(copy);
  took.setting = copy.touched();
  await addCommand(copy);
  took.command = copy.touched();
  [service, receiver] = await Promise.all([copy.start(), startReceiver()]);
  printedSchema = printSchema(buildClientSchema(await data(getIntrospectionQuery())));
  const types = (await schema()).EventType.enum;
  endpoint = (await service.client.post('/v1/webhook_endpoints', { url: receiver.url, events: types })).body;
});
afterAll(async () => {
  await copy.remove();
  await receiver?.close();
});

/** The components of the OpenAPI document of the copy. */
async function schema() {
  return (await service.client.get('/v1/openapi.json')).body.components.schemas;
}

async function data(query: string, variables: Record<string, unknown> = {}) {
  const { body } = await service.client.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

/** The data of the event `invoice.accepted` of an invoice. */
const acceptedOf = (invoiceId: string) => eventsOf(invoiceId).find(({ type }) => type === 'invoice.accepted');

const eventsOf = (invoiceId: string) =>
  receiver.received.filter(({ event }) => event.data.id === invoiceId).map(({ event }) => event);

/** The invoice's status in the answer, and the statuses that its stream sends. */
async function streamed(invoice: { id: string; client_secret: string }, after?: string): Promise<(number | string)[]> {
  const response = await fetch(`${service.url}/v1/invoices/${invoice.id}/stream`, {
    headers: { Authorization: `Bearer ${invoice.client_secret}`, ...(after && { 'Last-Event-ID': after }) },
  });
  const messages = await Array.fromAsync(messagesOf(response));
  return [response.status, ...messages.map((message) => message.data.status)];
}

it('fields, a rate and a setting take one file, an event type and a command two', () => {
  expect(took).toEqual({
    fields: ['src/domain/invoice/fields.ts'],
    lineField: ['src/domain/invoice/line-fields.ts'],
    rate: ['src/domain/invoice/tax-rate.ts'],
    event: ['src/domain/event.ts', 'src/domain/invoice/stages/sign.ts'],
    setting: ['src/config.ts'],
    command: ['src/cli/hello.ts', 'src/cli/commands.ts'],
  });
});

describe('fields that are added to their table', () => {
  const graphqlInput = (purchaseOrder: unknown) => ({
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas' },
    lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
    purchaseOrder,
  });

  it('validateInvoice accepts the field, and refuses an invalid value with its GraphQL name', async () => {
    const query = `mutation ($input: InvoiceDraft!) {
    validateInvoice(input: $input) { valid problems { param message } }
  }`;
    const validated = async (purchaseOrder: string) => {
      const { body } = await service.client.graphql(query, { input: graphqlInput(purchaseOrder) });
      return body.data.validateInvoice;
    };
    expect(await validated('PO-7')).toEqual({ valid: true, problems: [] });
    expect(await validated('x'.repeat(51))).toEqual({
      valid: false,
      problems: [{ param: 'purchaseOrder', message: 'purchaseOrder is too long: at most 50 characters.' }],
    });
    const { body } = await service.client.graphql(query, { input: graphqlInput(7) });
    expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', param: 'purchaseOrder' });
  });

  it('REST accepts it, refuses an invalid value with its REST name, and returns it in its position', async () => {
    const wrong = await service.client.post('/v1/invoices', invoiceBody({ purchase_order: 'x'.repeat(51) }));
    expect([wrong.status, wrong.body.error]).toMatchObject([
      400,
      { param: 'purchase_order', message: 'purchase_order is too long: at most 50 characters.' },
    ]);
    const key = { 'Idempotency-Key': 'a purchase order' };
    const { status, body } = await service.client.post('/v1/invoices', invoiceBody({ purchase_order: 'PO-7' }), key);
    expect([status, body.purchase_order]).toEqual([201, 'PO-7']);
    expect(Object.keys(body).slice(-4)).toEqual(['created_at', 'updated_at', 'purchase_order', 'delivery']);
    const other = await service.client.post('/v1/invoices', invoiceBody({ purchase_order: 'PO-8' }), key);
    expect(other.body.error.code).toBe('idempotency_conflict');
    const without = await service.client.post('/v1/invoices', invoiceBody());
    expect([without.status, without.body.purchase_order]).toEqual([201, null]);
  });

  it('an invoice stores it: REST, GraphQL and its event contain it, and its documents are written', async () => {
    const created = await service.client.post('/v1/invoices', invoiceBody({ purchase_order: 'PO-9' }));
    const settled = await service.client.settled(created.body.id);
    expect(settled).toMatchObject({ status: 'accepted', purchase_order: 'PO-9' });
    const { body: list } = await service.client.get('/v1/invoices');
    expect(list.data.find(({ id }: { id: string }) => id === settled.id)).toEqual(settled);
    const read = await service.client.graphql(`{ invoice(id: "${settled.id}") { purchaseOrder } }`);
    expect(read.body.data.invoice).toEqual({ purchaseOrder: 'PO-9' });
    await expect.poll(() => acceptedOf(settled.id)?.data.purchase_order).toBe('PO-9');
    const { lines: _, ...snapshot } = settled;
    expect(acceptedOf(settled.id)?.data).toEqual(snapshot);
    expect(await (await fetch(settled.xml_url)).text()).toMatch(/<Invoice\b/);
    const pdf = async () => (await (await fetch(settled.pdf_url)).text()).slice(0, 5);
    await expect.poll(pdf).toBe('%PDF-');
  });

  it('createInvoice of GraphQL accepts it', async () => {
    const { body } = await service.client.graphql(
      `mutation ($input: CreateInvoiceInput!) {
      createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { purchaseOrder } } }
    }`,
      { input: graphqlInput('PO-10') },
    );
    expect(body.data.createInvoice).toEqual({ invoice: { purchaseOrder: 'PO-10' } });
  });

  it('a record that is absent is null, and what is wrong in one is named', async () => {
    const absent = await service.client.post('/v1/invoices', invoiceBody());
    expect([absent.status, absent.body.delivery]).toEqual([201, null]);
    const present = await service.client.post('/v1/invoices', invoiceBody({ delivery: { city_name: 'Fès' } }));
    expect([present.status, present.body.delivery]).toEqual([201, { city_name: 'Fès' }]);
    const wrong = await service.client.post('/v1/invoices', invoiceBody({ delivery: {} }));
    expect(wrong.body.error).toMatchObject({ param: 'delivery.city_name' });
    const settled = await service.client.settled(absent.body.id);
    expect([settled.status, settled.delivery]).toEqual(['accepted', null]);
    await expect.poll(() => acceptedOf(absent.body.id)?.data.delivery).toBeNull();
  });

  it('a field of a line is taken and answered under its name in each interface', async () => {
    const line = { description: 'Conseil', quantity: 1, unit_price: 10000 };
    const created = await service.client.post('/v1/invoices', invoiceBody({ lines: [{ ...line, pack_count: 3 }] }));
    expect([created.status, created.body.lines[0].pack_count]).toEqual([201, 3]);
    const wrong = await service.client.post('/v1/invoices', invoiceBody({ lines: [{ ...line, pack_count: 0 }] }));
    expect(wrong.body.error).toMatchObject({ param: 'lines.0.pack_count' });
    const read = await service.client.graphql(`{ invoice(id: "${created.body.id}") { lines { packs } } }`);
    expect(read.body.data.invoice.lines).toEqual([{ packs: 3 }]);
  });

  it('OpenAPI shows it in requests, responses and deliveries, with valid examples', async () => {
    const { schemas } = (await service.client.get('/v1/openapi.json')).body.components;
    const description = "The number of the buyer's order, at most 50 characters.";
    const type = ['string', 'null'];
    for (const name of ['CreateInvoice', 'Invoice', 'CreatedInvoice', 'InvoiceSnapshot']) {
      expect([name, schemas[name].properties.purchase_order]).toMatchObject([name, { description, type }]);
      expect([name, schemas[name].required.includes('purchase_order')]).toEqual([name, name !== 'CreateInvoice']);
    }
    expect(schemas.CreateInvoice.properties.purchase_order.maxLength).toBe(50);
    for (const name of ['CreateInvoice', 'Invoice', 'CreatedInvoice'])
      expect(schemas[name].examples[0].purchase_order).toBe('PO-1');
  });
});

describe('a VAT rate that is added to its table', () => {
  const line = { description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 16 };
  const input = { amount: 11600, currency: 'MAD', customer: { ice: '001234567000089', name: 'Atlas' }, lines: [line] };
  const body = (taxRate: number) =>
    invoiceBody({
      amount: 11600,
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000, tax_rate: taxRate }],
    });

  it('is accepted by validation, REST, GraphQL, both checkers, and appears in the documents', async () => {
    const { validateInvoice } = await data(
      'mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { problems { message } totals { total } } }',
      { input },
    );
    expect(validateInvoice).toEqual({ problems: [], totals: { total: 11600 } });

    const created = await service.client.post('/v1/invoices', body(16));
    expect([created.status, created.body.lines[0].tax_rate]).toEqual([201, 16]);
    const { createInvoice } = await data(
      'mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { id } } } }',
      { input },
    );
    for (const id of [created.body.id, createInvoice.invoice.id]) {
      const settled = await service.client.settled(id);
      expect(settled).toMatchObject({ status: 'accepted', rejection_reason: null });
      expect(await data(`{ invoice(id: "${id}") { lines { taxRate } totals { taxTotals { rate tax } } } }`)).toEqual({
        invoice: { lines: [{ taxRate: 16 }], totals: { taxTotals: [{ rate: 16, tax: 1600 }] } },
      });
      const xml = await (await fetch(settled.xml_url)).text();
      expect(xml).toMatch(/<cbc:ID [^>]*>S<\/cbc:ID><cbc:Percent [^>]*>16</);
      // The PDF may take longer than a request for it waits.
      await expect.poll(async () => (await fetch(settled.pdf_url)).status).toBe(200);
      const pdf = new Uint8Array(await (await fetch(settled.pdf_url)).arrayBuffer());
      const { text } = await extractText(await getDocumentProxy(pdf), { mergePages: true });
      expect(text).toMatch(/16\s%/);
    }
  });

  it('is in each list of rates in the interfaces', async () => {
    expect((await schema()).TaxRate.enum).toEqual([0, 7, 10, 14, 16, 20]);
    const wrong = await service.client.post('/v1/invoices', body(15));
    expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringContaining('0, 7, 10, 14, 16, 20')]);
    const openApi = JSON.stringify((await service.client.get('/v1/openapi.json')).body);
    const shown = `${openApi}\n${printedSchema}`;
    expect(shown).toContain('0, 7, 10, 14, 16 or 20');
    expect(shown.match(/.{0,40}14(,| or) 20.{0,40}/g) ?? []).toEqual([]);
  });
});

describe('event types that are added without a status change', () => {
  it('are delivered in order, and are in the event log', async () => {
    // The authority is unavailable twice, so the stream is open before the end.
    const { body: created } = await service.client.post('/v1/invoices', invoiceFor('999000000000490'));
    const told = streamed(created);
    const settled = await service.client.settled(created.id);
    // What nobody asks for is drawn when the process is idle, which takes long on a busy machine.
    await (await fetch(settled.pdf_url)).arrayBuffer();
    await expect
      .poll(() => eventsOf(created.id).map(({ type }) => type), { timeout: 50_000 })
      .toEqual(['invoice.signing', 'invoice.signed', 'invoice.transmitted', 'invoice.accepted', 'invoice.printed']);
    const [signing, signed, , accepted, printed] = eventsOf(created.id);
    expect(signed.data).toEqual(signing.data);
    expect(printed.data).toEqual(accepted.data);
    const { lines: _lines, ...snapshot } = settled;
    expect(printed.data).toEqual(snapshot);
    for (const delivery of receiver.received) expect(verifies(delivery, endpoint.secret)).toBe(true);

    const { webhookEvents, invoice } = await data(
      `{ webhookEvents(type: invoice_signed) { nodes { id type invoiceId deliveries { eventType state } } }
         invoice(id: "${created.id}") { events { type } timeline { status } updatedAt } }`,
    );
    expect(webhookEvents.nodes[0]).toMatchObject({
      id: signed.id,
      type: 'invoice_signed',
      invoiceId: created.id,
      deliveries: [{ eventType: 'invoice_signed', state: 'delivered' }],
    });
    expect(invoice.events.map(({ type }: { type: string }) => type)).toEqual(
      ['signing', 'signed', 'transmitted', 'accepted', 'printed'].map((name) => `invoice_${name}`),
    );

    expect(['signing,transmitted,accepted', 'transmitted,accepted']).toContain((await told).slice(1).join());
    const changes = ['pending', 'signing', 'transmitted', 'accepted'];
    expect(invoice.timeline.map(({ status }: { status: string }) => status)).toEqual(changes);
  });

  testLong('do not change streams of status changes, even if a stream resumes after such an event', async () => {
    const { body: created } = await service.client.post('/v1/invoices', invoiceBody());
    await service.client.settled(created.id);
    await expect.poll(() => eventsOf(created.id).length, { timeout: 50_000 }).toBe(5);
    const ids = eventsOf(created.id).map(({ id }) => id as string);
    expect(await streamed(created)).toEqual([200, 'accepted']);
    expect(await streamed(created, ids[0])).toEqual([200, 'transmitted', 'accepted']);
    expect(await streamed(created, ids[1])).toEqual([200, 'transmitted', 'accepted']);
    expect(await streamed(created, ids[3])).toEqual([204]);
    expect(await streamed(created, ids[4])).toEqual([204]);
  });

  testLong('can be subscribed to in GraphQL, sent by hand and triggered from the command line', async () => {
    const create = `mutation ($url: String!) {
      createWebhookEndpoint(input: { url: $url, events: [invoice_printed] }) {
        ... on CreateWebhookEndpointPayload { endpoint { id events } } } }`;
    const { createWebhookEndpoint } = await data(create, { url: `${receiver.url}/printed` });
    const { id, events } = createWebhookEndpoint.endpoint;
    expect(events).toEqual(['invoice_printed']);
    const listed = (await service.client.get('/v1/webhook_endpoints')).body.data;
    expect(listed[0]).toMatchObject({ id, events: ['invoice.printed'] });
    await data(`mutation { sendTestWebhookEvent(type: invoice_printed, endpointId: "${id}") { __typename } }`);
    const args = ['trigger', 'invoice.printed', '--endpoint', id, '--url', service.url, '--key', service.secretKey];
    expect(await copy.run('src/cli.ts', ...args)).toContain(`is sent to ${id}`);
    const sent = () =>
      receiver.received.filter(({ path, headers }) => path === '/printed' && headers['fatoura-trigger']);
    await expect.poll(() => sent().length, { timeout: 50_000 }).toBe(2);
    for (const { event } of sent())
      expect(event).toMatchObject({
        type: 'invoice.printed',
        data: { status: 'accepted', xml_url: expect.stringMatching(SECRET_URL) },
      });
  });

  it('are described in every list of types in the interfaces', async () => {
    const { EventType } = await schema();
    for (const name of ['signed', 'printed'])
      expect(EventType.description).toContain(`- \`invoice.${name}\`: The invoice is ${name}.`);
    expect(printedSchema).toMatch(/"""The invoice is signed\."""\s+invoice_signed/);
  });
});

it('a command added to the table runs, and is in the help', async () => {
  expect(await copy.run('src/cli.ts', 'hello', 'Atlas')).toBe('Hello, Atlas.\n');
  expect(await copy.run('src/cli.ts', 'help')).toMatch(/^ {2}hello NAME +Greets$/m);
});

it('a setting added to the list is read, and is no unknown variable of a file', async () => {
  await copy.write(
    'settings.ts',
    `import { readConfig, unknownSettings } from './src/config.ts';
    console.log(readConfig({ GREETING: 'Salam' }).greeting, unknownSettings(['GREETING', 'GREETNG']));`,
  );
  expect(await copy.run('settings.ts')).toBe(
    "Salam [\n  'GREETNG is no setting, and nothing reads it. Did you mean GREETING?'\n]\n",
  );
});

// The last one: a field is required from here on.
testLong('invoices that are stored remain readable when fields become required or get a default', async () => {
  const before = (await service.client.post('/v1/invoices', invoiceBody({ delivery: { city_name: 'Fès' } }))).body;
  await service.client.settled(before.id);
  await requireFields(copy);
  service = await copy.restart(service);
  const wanted = { purchase_order: null, priority: 5, delivery: { street: null, city_name: 'Fès' } };
  const read = (await service.client.get(`/v1/invoices/${before.id}`)).body;
  expect(read).toMatchObject({ ...wanted, status: 'accepted', lines: [{ pack_count: 1 }] });
  const { body: list } = await service.client.get('/v1/invoices');
  expect(list.data.find(({ id }: { id: string }) => id === before.id)).toEqual(read);
  const query = `{ invoice(id: "${before.id}") { purchaseOrder priority delivery { street } lines { packs } } }`;
  expect((await service.client.graphql(query)).body.data.invoice).toEqual({
    purchaseOrder: null,
    priority: 5,
    delivery: { street: null },
    lines: [{ packs: 1 }],
  });
  const refused = await service.client.post('/v1/invoices', invoiceBody());
  expect(refused.body.error).toMatchObject({ code: 'invalid_request', param: 'purchase_order' });
});
