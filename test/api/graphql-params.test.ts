import { expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let invoice: { id: string; client_secret: string };
let sibling: { id: string; client_secret: string };

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  const create = async () =>
    (await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody())).body as typeof invoice;
  [invoice, sibling] = [await create(), await create()];
});

/** The `param` of the first refusal. */
async function paramOf(token: string, query: string): Promise<string | null> {
  const { body } = await new Client(service.url, token).graphql(query);
  const [error] = body.errors ?? [];
  if (error) return error.extensions.param;
  return (Object.values(body.data)[0] as { param: string }).param;
}

it('a refused client_secret is named as each API names it', async () => {
  const other = await service.tenant();
  const cases: readonly (readonly [token: string, secret: string | null, status: number])[] = [
    [tenant.publishableKey, null, 403],
    [tenant.publishableKey, sibling.client_secret, 403],
    [tenant.publishableKey, 'forged', 401],
    [other.publishableKey, invoice.client_secret, 403],
    [tenant.secretKey, sibling.client_secret, 403],
  ];
  for (const [token, secret, status] of cases) {
    const given = secret === null ? '' : `, clientSecret: "${secret}"`;
    expect(await paramOf(token, `{ invoice(id: "${invoice.id}"${given}) { id } }`)).toBe('clientSecret');
    const query = secret === null ? '' : `?client_secret=${secret}`;
    const messages: string[] = [];
    for (const path of [`/v1/invoices/${invoice.id}${query}`, `/v1/invoices/${invoice.id}/stream${query}`]) {
      const answer = await new Client(service.url, token).get(path);
      expect([answer.status, answer.body.error.param]).toEqual([status, 'client_secret']);
      messages.push(answer.body.error.message);
    }
    // One text for both APIs: it speaks of the secret and not of a parameter.
    const { body } = await new Client(service.url, token).graphql(`{ invoice(id: "${invoice.id}"${given}) { id } }`);
    expect(new Set([...messages, body.errors[0].message]).size).toBe(1);
    expect(messages[0]).not.toContain('pass client_secret');
  }
});

it('the subscription names it too', async () => {
  const subscription = `subscription { invoiceStatus(id: "${invoice.id}") { status } }`;
  const client = new Client(service.url, tenant.publishableKey);
  const { body } = await client.post('/graphql/stream', { query: subscription }, { Accept: 'text/event-stream' });
  expect(JSON.stringify(body)).toContain('\\"param\\":\\"clientSecret\\"');
});

it('what is not found is named by the argument of the operation', async () => {
  const ERROR = '{ ... on Error { code param } }';
  const cases = {
    'rotateWebhookSecret(endpointId: "we_x")': 'endpointId',
    'createDeliveryLogEmbed(endpointId: "we_x", origins: ["https://shop.example"])': 'endpointId',
    'resendWebhookEvent(eventId: "evt_x")': 'eventId',
    'updateWebhookEndpoint(id: "we_x", input: { active: false })': 'id',
    'deleteWebhookEndpoint(id: "we_x")': 'id',
    'updateDraft(id: "drf_x", version: 1, content: {})': 'id',
    'deleteDraft(id: "drf_x", version: 1)': 'id',
    'issueDraft(id: "drf_x", version: 1)': 'id',
    'createInvoiceEmbed(id: "inv_x", origins: ["https://shop.example"])': 'id',
  };
  const found: Record<string, string | null> = {};
  for (const call of Object.keys(cases)) found[call] = await paramOf(tenant.secretKey, `mutation { ${call} ${ERROR} }`);
  expect(found).toEqual(cases);
  for (const query of [
    'webhookEndpoint(id: "we_x")',
    'webhookEvent(id: "evt_x")',
    'webhookDelivery(id: "dlv_x")',
    'draft(id: "drf_x")',
  ])
    expect(await paramOf(tenant.secretKey, `{ ${query} { id } }`)).toBe('id');
  const rest = new Client(service.url, tenant.secretKey);
  for (const answer of [
    await rest.request('PATCH', '/v1/webhook_endpoints/we_x', { active: false }),
    await rest.request('DELETE', '/v1/webhook_endpoints/we_x'),
  ])
    expect([answer.status, answer.body.error.param]).toEqual([404, 'id']);
});
