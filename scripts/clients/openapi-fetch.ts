// Calls a running service with openapi-fetch and the types of openapi-typescript: URL and secret key as arguments.
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from '#client';

const [baseUrl = '', secretKey = ''] = process.argv.slice(2);
const configured = (token: string) => createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
const client = configured(secretKey);

/** Without what may be left out: tax_rate, metadata, address and email. */
const wanted = (ice: string): components['schemas']['CreateInvoice'] => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice, name: 'Société Générale « Été »' },
  lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000 }],
});

const request = {
  params: { header: { 'Idempotency-Key': 'openapi-fetch-1' } },
  body: wanted('001234567000062'),
};
const { data: created } = await client.POST('/v1/invoices', request);
assert.ok(created);
assert.equal(created.status, 'pending');
const notYet: string | null = created.pdf_url;
assert.equal(notYet, null);
const rate: number | undefined = created.lines[0]?.tax_rate;
assert.equal(rate, 20);
const again = await client.POST('/v1/invoices', request);
assert.equal(again.data?.id, created.id);
assert.equal(again.response.headers.get('Idempotent-Replayed'), 'true');

const path = { params: { path: { id: created.id } } };
const stream = await configured(created.client_secret).GET('/v1/invoices/{id}/stream', { ...path, parseAs: 'text' });
assert.match(stream.data ?? '', /"status":"accepted"/);
const { data: invoice } = await client.GET('/v1/invoices/{id}', path);
assert.ok(invoice?.status === 'accepted' && invoice.pdf_url !== null && invoice.rejection_reason === null);

const { data: page } = await client.GET('/v1/invoices', {
  params: { query: { status: 'accepted', limit: 100, created_after: new Date(Date.now() - 3_600_000).toISOString() } },
});
assert.ok(page?.data.some(({ id }) => id === invoice.id));
const created_after = new Date(Date.now() + 86_400_000).toISOString();
const { data: empty } = await client.GET('/v1/invoices', { params: { query: { created_after } } });
assert.deepEqual(empty, { object: 'list', data: [], has_more: false, next_cursor: null });

const { data: endpoint } = await client.POST('/v1/webhook_endpoints', {
  body: { url: 'https://example.com/hook', events: ['invoice.accepted'] },
});
assert.match(endpoint?.secret ?? '', /^whsec_/);
const one = { params: { path: { id: endpoint?.id ?? '' } } };
const changed = await client.PATCH('/v1/webhook_endpoints/{id}', { ...one, body: { active: false } });
assert.equal(changed.data?.active, false);
const { data: list } = await client.GET('/v1/webhook_endpoints');
assert.ok(list?.data.some(({ id }) => id === endpoint?.id));
assert.equal((await client.DELETE('/v1/webhook_endpoints/{id}', one)).data?.deleted, true);

const refused = await client.POST('/v1/invoices', { body: wanted('12') });
const code: 'invalid_ice' | undefined = refused.error?.error.code === 'invalid_ice' ? 'invalid_ice' : undefined;
assert.deepEqual([refused.response.status, code, refused.error?.error.param], [422, 'invalid_ice', 'customer.ice']);
const missing = await client.DELETE('/v1/webhook_endpoints/{id}', one);
assert.deepEqual([missing.response.status, missing.error?.error.code], [404, 'resource_not_found']);

// The type of an event that a receiver gets, and values that the types must refuse.
type Event = webhooks['invoiceEvent']['post']['requestBody']['content']['application/json'];
export const numberOf = ({ type, data }: Event): string | null => (type === 'invoice.accepted' ? data.dgi_id : null);
// @ts-expect-error no such rate
export const rate3: components['schemas']['LineInput'] = { description: 'x', quantity: 1, unit_price: 1, tax_rate: 3 };
// @ts-expect-error an answer always has its rate
export const noRate: components['schemas']['Line'] = { description: 'x', quantity: 1, unit_price: 1, amount: 1 };
