// Calls a running service with openapi-generator's TypeScript client: URL and secret key as arguments.
import assert from 'node:assert/strict';
import {
  Configuration,
  type CreateInvoice,
  Currency,
  ErrorResponseFromJSON,
  EventType,
  InvoiceStatus,
  InvoicesApi,
  ResponseError,
  WebhookEndpointsApi,
} from '#client';

const [basePath = '', secretKey = ''] = process.argv.slice(2);
const configured = (accessToken: string) => new Configuration({ basePath, accessToken });
const invoices = new InvoicesApi(configured(secretKey));
const endpoints = new WebhookEndpointsApi(configured(secretKey));

/** Without what may be left out: tax_rate, metadata, address and email. */
const wanted = (ice: string): CreateInvoice => ({
  amount: 12000,
  currency: Currency.Mad,
  customer: { ice, name: 'Société Générale « Été »' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
});

const request = { createInvoice: wanted('001234567000062'), idempotencyKey: 'typescript-1' };
const created = await invoices.createInvoice(request);
assert.equal(created.status, InvoiceStatus.Pending);
const notYet: string | null = created.pdfUrl;
assert.equal(notYet, null);
assert.equal(created.lines[0]?.taxRate, 20);
const again = await invoices.createInvoiceRaw(request);
assert.equal((await again.value()).id, created.id);
assert.equal(again.raw.headers.get('Idempotent-Replayed'), 'true');

const stream = await new InvoicesApi(configured(created.clientSecret)).streamInvoice({ id: created.id });
assert.match(stream ?? '', /"status":"accepted"/);
const invoice = await invoices.readInvoice({ id: created.id });
assert.equal(invoice.status, InvoiceStatus.Accepted);
assert.ok(invoice.pdfUrl !== null && invoice.dgiId !== null && invoice.rejectionReason === null);

const createdAfter = new Date(invoice.createdAt.getTime() - 60_000);
const page = await invoices.listInvoices({ status: InvoiceStatus.Accepted, limit: 100, createdAfter });
assert.ok(page.data.some(({ id }) => id === invoice.id));
const empty = await invoices.listInvoices({ createdAfter: new Date(Date.now() + 86_400_000) });
assert.deepEqual([empty.data, empty.nextCursor, empty.hasMore], [[], null, false]);

const endpoint = await endpoints.createWebhookEndpoint({
  createWebhookEndpoint: { url: 'https://example.com/hook', events: new Set([EventType.InvoiceAccepted]) },
});
assert.match(endpoint.secret, /^whsec_/);
assert.deepEqual(endpoint.events, new Set(['invoice.accepted']));
const { id } = endpoint;
assert.equal((await endpoints.updateWebhookEndpoint({ id, updateWebhookEndpoint: { active: false } })).active, false);
assert.ok((await endpoints.listWebhookEndpoints()).data.some((each) => each.id === id));
assert.equal((await endpoints.deleteWebhookEndpoint({ id })).deleted, true);

await refused(422, 'invalid_ice', 'customer.ice', invoices.createInvoice({ createInvoice: wanted('12') }));
await refused(404, 'resource_not_found', 'id', endpoints.deleteWebhookEndpoint({ id }));

async function refused(status: number, code: string, param: string, call: Promise<unknown>): Promise<void> {
  const thrown: unknown = await call.then(() => null).catch((error: unknown) => error);
  assert.ok(thrown instanceof ResponseError);
  const { error } = ErrorResponseFromJSON(await thrown.response.json());
  assert.deepEqual([thrown.response.status, error.status, error.code, error.param], [status, status, code, param]);
}
