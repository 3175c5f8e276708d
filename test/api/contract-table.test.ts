import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceBody } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type ScratchCopy, type ScratchService, scratchCopy } from '../support/scratch-copy.ts';

// The contract is changed in one place of a copy of the source. The service built from the copy then has the change
// everywhere.

let copy: ScratchCopy;
let service: ScratchService;
let receiver: Receiver;
let touched: string[];
beforeAll(async () => {
  copy = await scratchCopy();
  await copy.edit('src/domain/invoice/fields.ts', /^ {4}number: \{\n/m, `${PURCHASE_ORDER}${DELIVERY}    number: {\n`);
  await copy.edit('src/domain/invoice/fields.ts', /^ {4}taxRate: \{\n/m, `${PACKS}    taxRate: {\n`);
  touched = copy.touched();
  [service, receiver] = await Promise.all([copy.start(), startReceiver()]);
  await service.client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
});
afterAll(async () => {
  await copy.remove();
  await receiver?.close();
});

/** A row of the table of an invoice's fields: an optional text of the input. */
const PURCHASE_ORDER = `    purchaseOrder: {
      rest: 'purchase_order',
      type: 'text',
      input: printableText(50, 'the number of the order').nullish(),
      event: 14,
      description: "The number of the buyer's order, at most 50 characters.",
      example: 'PO-1',
    },
`;

/** A record that may be absent, with a field that it must have. */
const DELIVERY = `    delivery: {
      rest: 'delivery',
      record: {
        name: 'Delivery',
        inputName: 'DeliveryInput',
        restName: 'Delivery',
        restInputName: 'DeliveryInput',
        description: 'Where the goods went.',
        fields: {
          cityName: { rest: 'city_name', type: 'text', input: filledText(50, 'the city'), description: 'The city.' },
        },
      },
      input: 'optional',
      event: 15,
      description: 'Where the goods went.',
    },
`;

/** A row of the table of a line's fields: a number with another name in REST. */
const PACKS = `    packs: {
      rest: 'pack_count',
      type: 'integer',
      input: quantity.nullish(),
      minimum: 1,
      description: 'How many packs.',
    },
`;

/** A required field of that record, for which stored records have no value. */
const STREET = "rest: 'street', type: 'text', input: filledText(50, 'the street'), nullable: true, description: 'x'";

/** A field with a default, which stored invoices do not have. */
const PRIORITY = `    priority: {
      rest: 'priority',
      type: 'integer',
      input: quantity.default(5),
      minimum: 1,
      description: 'How urgent it is.',
    },
`;

const graphqlInput = (purchaseOrder: unknown) => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
  purchaseOrder,
});

it('two fields, a record and its field take one file', () => {
  expect(touched).toEqual(['src/domain/invoice/fields.ts']);
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
  await expect.poll(() => eventOf(settled.id)?.data.purchase_order).toBe('PO-9');
  const { lines: _, ...snapshot } = settled;
  expect(eventOf(settled.id)?.data).toEqual(snapshot);
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
  await expect.poll(() => eventOf(absent.body.id)?.data.delivery).toBeNull();
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

it('invoices that are stored remain readable when fields become required or get a default', async () => {
  const before = (await service.client.post('/v1/invoices', invoiceBody({ delivery: { city_name: 'Fès' } }))).body;
  await service.client.settled(before.id);
  const change = (from: string, to: string) => copy.edit('src/domain/invoice/fields.ts', from, to);
  // Required, at the top and in a record; with a default, where null is stored and where nothing is.
  await change(
    "input: printableText(50, 'the number of the order').nullish(),",
    "input: printableText(50, 'the number of the order'),\n      nullable: true,",
  );
  await change('          cityName: {', `          street: { ${STREET} },\n          cityName: {`);
  await change('input: quantity.nullish()', 'input: quantity.default(1)');
  await change('    delivery: {\n', `${PRIORITY}    delivery: {\n`);
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

function eventOf(invoiceId: string) {
  return receiver.received.find(({ event }) => event.data.id === invoiceId)?.event;
}
