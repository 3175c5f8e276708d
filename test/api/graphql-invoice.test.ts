import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_PDF, type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant({
    legalName: 'Atlas SARL',
    address: { street: '1, rue X', city: 'Fès', postalCode: null },
  });
  client = new Client(service.url, tenant.secretKey);
});

async function data(query: string, variables: Record<string, unknown>, as = client) {
  const { body } = await as.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

const ALL = `query ($id: ID!) {
  invoice(id: $id) {
    environment amount roundingAmount
    totals { subtotal taxTotal total taxTotals { rate base tax } }
    seller { legalName ice capital address { street city postalCode } logo { sha256 } documentLanguage missingFields }
    timeline { status at eventId }
    documents { xml { ...D } pdf { ...D } }
  }
}
fragment D on InvoiceDocument { url mediaType ready sha256 size }`;

describe('an invoice', () => {
  it('has its totals with the VAT of each rate, and the difference from rounding each line', async () => {
    // 33.5 + 33.5 + 33.5 centimes of VAT: 34 × 3 on the lines, 101 on their sum.
    const line = { description: 'x', quantity: 1, unit_price: 335, tax_rate: 10 };
    const { body } = await client.post(
      '/v1/invoices',
      invoiceBody({ amount: 1005 + 102 + 120, lines: [line, line, line, { ...line, unit_price: 100, tax_rate: 20 }] }),
    );
    const { invoice } = await data(ALL, { id: body.id });
    expect(invoice).toMatchObject({
      environment: 'test',
      amount: 1227,
      roundingAmount: 1,
      totals: {
        subtotal: 1105,
        taxTotal: 121,
        total: 1226,
        taxTotals: [
          { rate: 20, base: 100, tax: 20 },
          { rate: 10, base: 1005, tax: 101 },
        ],
      },
    });
  });

  it('shows its statuses and documents to every credential that may read it, its seller only to a secret key', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const { pdf_url, xml_url } = await client.settled(body.id);
    await expect.poll(async () => (await data(ALL, { id: body.id })).invoice.documents.pdf.ready).toBe(true);
    const { invoice } = await data(ALL, { id: body.id });
    expect(invoice.timeline.map(({ status }: { status: string }) => status)).toEqual([
      'pending',
      'signing',
      'transmitted',
      'accepted',
    ]);
    expect(invoice.timeline[0]).toMatchObject({ at: body.created_at, eventId: null });
    expect(invoice.timeline[3].eventId).toMatch(/^evt_/);
    const xml = Buffer.from(await (await fetch(xml_url)).arrayBuffer());
    const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    expect(invoice.documents.xml).toEqual({
      url: xml_url,
      mediaType: 'application/xml',
      ready: true,
      sha256: sha256(xml),
      size: xml.length,
    });
    expect(invoice.documents.pdf).toMatchObject({ url: pdf_url, mediaType: 'application/pdf', ready: true });
    expect(invoice.documents.pdf.size).toBeGreaterThanOrEqual(STAND_IN_PDF.length);
    expect(invoice.seller).toEqual({
      legalName: 'Atlas SARL',
      ice: null,
      capital: null,
      address: { street: '1, rue X', city: 'Fès', postalCode: null },
      logo: null,
      documentLanguage: null,
      missingFields: expect.arrayContaining(['ice', 'capital']),
    });
    const front = new Client(service.url, body.client_secret);
    expect((await data(ALL, { id: body.id }, front)).invoice).toEqual({ ...invoice, seller: null });
  });

  it('has no documents before it is accepted', async () => {
    const { body } = await client.post(
      '/v1/invoices',
      invoiceBody({ customer: { ice: '999000000000102', name: 'X' } }),
    );
    await client.settled(body.id);
    expect((await data(ALL, { id: body.id })).invoice.documents).toBeNull();
  });
});

describe('node', () => {
  const NODE = `query ($id: ID!, $secret: String) {
    node(id: $id, clientSecret: $secret) { __typename id ... on Invoice { amount } ... on WebhookEndpoint { url } }
  }`;

  it('finds every object with an id', async () => {
    const { body: invoice } = await client.post('/v1/invoices', invoiceBody());
    const { body: endpoint } = await client.post('/v1/webhook_endpoints', {
      url: 'https://receiver.invalid/',
      events: ['invoice.accepted'],
    });
    await client.settled(invoice.id);
    const LATEST = '{ webhookDeliveries(first: 1) { nodes { id eventId endpointId } } }';
    await expect.poll(async () => (await data(LATEST, {})).webhookDeliveries.nodes.length).toBe(1);
    const [delivery] = (await data(LATEST, {})).webhookDeliveries.nodes;
    for (const [id, found] of [
      [invoice.id, { __typename: 'Invoice', amount: 12000 }],
      [endpoint.id, { __typename: 'WebhookEndpoint', url: endpoint.url }],
      [delivery.eventId, { __typename: 'WebhookEvent' }],
      [delivery.id, { __typename: 'WebhookDelivery' }],
    ])
      expect((await data(NODE, { id })).node).toEqual({ id, ...found });
    // The result is that of the type's own query, as for every other credential without access.
    const stranger = await service.tenant();
    const statusOf = async (key: string, id: string, secret?: string) => {
      const { body } = await new Client(service.url, key).graphql(NODE, { id, secret });
      return body.errors ? body.errors[0].extensions.status : body.data.node.id;
    };
    for (const id of [invoice.id, endpoint.id, delivery.eventId, delivery.id]) {
      expect(await statusOf(stranger.secretKey, id)).toBe(404);
      expect(await statusOf(stranger.publishableKey, id)).toBe(403);
    }
    expect(await statusOf(invoice.client_secret, invoice.id)).toBe(invoice.id);
    expect(await statusOf(tenant.publishableKey, invoice.id)).toBe(403);
    expect(await statusOf(tenant.publishableKey, invoice.id, invoice.client_secret)).toBe(invoice.id);
    for (const id of [endpoint.id, delivery.eventId, delivery.id])
      expect(await statusOf(invoice.client_secret, id)).toBe(403);
    for (const id of ['', '_', 'x', 'inv', 'inv_', 'inv_x', '__proto__', 'constructor_x', 'dlv_'])
      expect(await statusOf(tenant.secretKey, id), id).toBe(404);
  });
});
