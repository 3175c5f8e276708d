import { describe, expect, it } from 'vitest';
import { type Answer, Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const FIELDS = [
  'id', 'object', 'status', 'amount', 'currency', 'customer', 'lines', 'metadata',
  'xml_url', 'pdf_url', 'dgi_id', 'rejection_reason', 'created_at', 'updated_at',
]; // biome-ignore format: one field per line
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

async function created(body: unknown): Promise<Answer['body']> {
  return (await client.post('/v1/invoices', body)).body;
}
const read = (id: string, query = '') => client.get(`/v1/invoices/${id}${query}`);

describe('GET /v1/invoices/:id: 200', () => {
  it('accepted: the created fields, dgi_id and the documents, and no rejection_reason', async () => {
    const { client_secret: _once, ...invoice } = await created(invoiceBody({ metadata: { order: 'A-1' } }));
    const settled = await client.settled(invoice.id);
    expect(Object.keys(settled)).toEqual(FIELDS);
    expect(settled).toEqual({
      ...invoice,
      status: 'accepted',
      dgi_id: expect.stringMatching(/./),
      xml_url: expect.stringMatching(/^http.*\.xml$/),
      pdf_url: expect.stringMatching(/^http.*\.pdf$/),
      rejection_reason: null,
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    expect(settled.updated_at >= settled.created_at).toBe(true);
  });

  it('rejected: rejection_reason is set, dgi_id and the documents are null', async () => {
    const { client_secret: _once, ...invoice } = await created(invoiceFor('999000000000102'));
    expect(await client.settled(invoice.id)).toEqual({
      ...invoice,
      status: 'rejected',
      dgi_id: null,
      xml_url: null,
      pdf_url: null,
      rejection_reason: expect.stringMatching(/\.$/),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
  });

  it('in progress: a status of the life cycle, and null for fields that the final status sets', async () => {
    const { id } = await created(invoiceFor('999000000000878'));
    await expect.poll(async () => (await read(id)).body.status).toBe('signing');
    const { body } = await read(id);
    expect(body).toMatchObject({ dgi_id: null, xml_url: null, pdf_url: null, rejection_reason: null });
    expect(body.updated_at).toMatch(TIMESTAMP);
  });

  it('updated_at changes only with the status: it is the time of the last event, also after the PDF is stored', async () => {
    const { id } = await created(invoiceBody());
    const { updated_at } = await client.settled(id);
    const stored = () => service.app.store.db.collection('invoices').findOne({ _id: id as never });
    await expect.poll(async () => (await stored())?.pdf ?? null).not.toBeNull();
    expect((await read(id)).body.updated_at).toBe(updated_at);
    const last: Date = (await stored())?.events.at(-1).at;
    expect(updated_at).toBe(`${last.toISOString().slice(0, 19)}Z`);
  });

  it('is the same for every credential that may read it', async () => {
    const { id, client_secret } = await created(invoiceBody());
    const mine = await client.settled(id);
    expect((await new Client(service.url, client_secret).get(`/v1/invoices/${id}`)).body).toEqual(mine);
    const publishable = new Client(service.url, tenant.publishableKey);
    expect((await publishable.get(`/v1/invoices/${id}?client_secret=${client_secret}`)).body).toEqual(mine);
  });

  it('is UTF-8 JSON', async () => {
    const { id } = await created(invoiceBody());
    expect((await read(id)).headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

describe('GET /v1/invoices/:id: 400', () => {
  it('an unknown query parameter, or one given twice', async () => {
    const { id, client_secret } = await created(invoiceBody());
    for (const [query, param] of [
      ['?expand=lines', 'expand'],
      [`?client_secret=${client_secret}&client_secret=${client_secret}`, 'client_secret'],
    ] as const) {
      const { status, body } = await read(id, query);
      expect(body.error).toEqual({ code: 'invalid_request', message: expect.any(String), param, status: 400 });
      expect(status).toBe(400);
    }
  });
});

describe('GET /v1/invoices/:id: 404', () => {
  it('names the unknown id, and does not reveal invoices of other tenants', async () => {
    const foreign = new Client(service.url, (await service.tenant()).secretKey);
    const { id } = await created(invoiceBody());
    const unknown = 'inv_550e8400-e29b-41d4-a716-446655440000';
    const answers = await Promise.all([foreign.get(`/v1/invoices/${id}`), foreign.get(`/v1/invoices/${unknown}`)]);
    const [one, other] = answers.map(({ status, body }) => JSON.stringify({ status, body }));
    expect(one?.replace(id, 'ID')).toBe(other?.replace(unknown, 'ID'));
    expect(answers[0]?.body.error).toEqual({
      code: 'resource_not_found',
      message: expect.stringContaining(id),
      param: 'id',
      status: 404,
    });
  });
});
