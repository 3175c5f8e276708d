import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Answer, Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
let client: Client;
/** Newest first, the order of the list; the fourth is rejected, the others are accepted. */
let ids: string[];
let created: string[];

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant()).secretKey);
  const made = [];
  for (let i = 0; i < 7; i++) {
    made.unshift((await client.post('/v1/invoices', i === 3 ? invoiceFor('999000000000102') : invoiceBody())).body);
    // At least two seconds apart, so that filters by time can separate them.
    if (i === 3) await sleep(1100);
  }
  ids = made.map(({ id }) => id);
  created = made.map(({ created_at }) => created_at);
  await Promise.all(ids.map((id) => client.settled(id)));
});

async function list(query = ''): Promise<{ ids: string[]; more: boolean; next: string | null }> {
  const { status, body } = await client.get(`/v1/invoices${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(Object.keys(body)).toEqual(['object', 'data', 'has_more', 'next_cursor']);
  return { ids: body.data.map((each: { id: string }) => each.id), more: body.has_more, next: body.next_cursor };
}

describe('GET /v1/invoices: 200', () => {
  it('lists newest first, each invoice as in a single read, without a client_secret', async () => {
    const { body } = await client.get('/v1/invoices');
    expect(body.object).toBe('list');
    expect(body.data.map((each: { id: string }) => each.id)).toEqual(ids);
    expect(body.data[0]).toEqual((await client.get(`/v1/invoices/${ids[0]}`)).body);
  });

  it('pages towards older invoices', async () => {
    expect(await list('?limit=3')).toEqual({ ids: ids.slice(0, 3), more: true, next: ids[2] });
    expect(await list(`?limit=3&starting_after=${ids[2]}`)).toEqual({ ids: ids.slice(3, 6), more: true, next: ids[5] });
    expect(await list(`?limit=3&starting_after=${ids[5]}`)).toEqual({ ids: ids.slice(6), more: false, next: ids[6] });
    expect(await list(`?starting_after=${ids[6]}`)).toEqual({ ids: [], more: false, next: null });
  });

  it('pages towards newer invoices, still newest first and next to the cursor', async () => {
    expect(await list(`?limit=2&ending_before=${ids[4]}`)).toEqual({ ids: ids.slice(2, 4), more: true, next: ids[3] });
    expect(await list(`?limit=2&ending_before=${ids[2]}`)).toEqual({ ids: ids.slice(0, 2), more: false, next: ids[1] });
    expect(await list(`?ending_before=${ids[0]}`)).toEqual({ ids: [], more: false, next: null });
  });

  it('filters by status, also with a cursor', async () => {
    const rejected = ids[3];
    expect((await list('?status=rejected')).ids).toEqual([rejected]);
    expect((await list(`?status=accepted&starting_after=${ids[2]}`)).ids).toEqual(ids.slice(4));
    expect((await list('?status=pending')).ids).toEqual([]);
  });

  it('filters by time in whole seconds, bounds excluded, with any time zone', async () => {
    const early = created[6] as string;
    const late = created[0] as string;
    const inZone = early.replace('Z', '+00:00');
    expect((await list(`?created_after=${early}`)).ids).toEqual(ids.filter((_, i) => (created[i] as string) > early));
    expect((await list(`?created_after=${encodeURIComponent(inZone)}`)).ids).toEqual(
      (await list(`?created_after=${early}`)).ids,
    );
    expect((await list(`?created_before=${late}`)).ids).toEqual(ids.filter((_, i) => (created[i] as string) < late));
    expect((await list(`?created_after=${early}&created_before=${early}`)).ids).toEqual([]);
    const half = early.replace('Z', '.500Z');
    expect((await list(`?created_before=${half}`)).ids).toEqual(ids.filter((_, i) => (created[i] as string) <= early));
    expect((await list('?created_before=1960-01-01T00:00:00Z')).ids).toEqual([]);
    expect((await list('?created_after=9999-12-31T00:00:00Z')).ids).toEqual([]);
  });

  it.each([
    '2026-01-31',
    '2026-01-31T00:00Z',
    '2026-01-31T01:00:00+01',
    '2026-01-30T23:30:00,500-0030',
    '2026-01-31T05:30:00.25+05:30',
  ])('accepts the forms of ISO 8601, also in GraphQL: %s', async (text) => {
    const query = 'query ($t: DateTime) { invoices(createdAfter: $t, createdBefore: $t) { nodes { id } } }';
    for (const each of [text, text.replace('2026-', '1960-'), text.replace('2026-', '2960-')]) {
      const before = await client.get(`/v1/invoices?limit=100&created_before=${encodeURIComponent(each)}`);
      const after = await client.get(`/v1/invoices?limit=100&created_after=${encodeURIComponent(each)}`);
      const instant = Date.parse(`${each.slice(0, 4)}-01-31T00:00:00Z`);
      const expected = (isIn: (at: number) => boolean) => ids.filter((_, i) => isIn(Date.parse(created[i] as string)));
      const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);
      expect([idsOf(before), idsOf(after)]).toEqual([expected((at) => at < instant), expected((at) => at > instant)]);
      expect((await client.graphql(query, { t: each })).body).toEqual({ data: { invoices: { nodes: [] } } });
    }
  });

  it('applies cursor and time together: the narrower bound applies', async () => {
    const late = created[0] as string;
    const expected = ids.filter((_, i) => i > 1 && (created[i] as string) < late);
    expect((await list(`?starting_after=${ids[1]}&created_before=${late}`)).ids).toEqual(expected);
    expect((await list(`?starting_after=${ids[6]}&created_before=${late}`)).ids).toEqual([]);
    expect((await list(`?ending_before=${ids[6]}&created_before=${late}`)).ids).toEqual(
      ids.filter((_, i) => i < 6 && (created[i] as string) < late),
    );
  });

  it('shows no invoice of another tenant', async () => {
    const other = new Client(service.url, (await service.tenant()).secretKey);
    expect((await other.get('/v1/invoices')).body).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    });
  });
});

describe('GET /v1/invoices: 400', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=', 'limit'],
    ['limit=020', 'limit'],
    ['limit=%2020', 'limit'],
    ['created_after=2026-01-31T12:00:00+01:00', 'created_after'],
    ['limit=1&limit=2', 'limit'],
    ['status=paid', 'status'],
    ['status=ACCEPTED', 'status'],
    ['created_after=yesterday', 'created_after'],
    ['created_before=2026-01', 'created_before'],
    ['created_before=2026-W05-6', 'created_before'],
    ['created_before=20260131', 'created_before'],
    ['created_before=2026-02-29', 'created_before'],
    ['created_after=9999-12-31T23:59:59-01:00', 'created_after'],
    ['created_before=2026-01-31T00:00:00', 'created_before'],
    ['created_before=2026-01-31T25:00:00Z', 'created_before'],
    ['created_before=2026-02-31T00:00:00Z', 'created_before'],
    ['created_after=2026-02-29T00:00:00Z', 'created_after'],
    ['starting_after=inv_550e8400-e29b-41d4-a716-446655440000', 'starting_after'],
    ['starting_after=x', 'starting_after'],
    ['ending_before=', 'ending_before'],
    ['page=2', 'page'],
  ])('refuses %s', async (query, param) => {
    const { status, body } = await client.get(`/v1/invoices?${query}`);
    expect(body).toEqual({ error: { code: 'invalid_request', message: expect.any(String), param, status: 400 } });
    expect(status).toBe(400);
  });

  it("refuses both cursors at once, and another tenant's invoice as a cursor", async () => {
    const both = await client.get(`/v1/invoices?starting_after=${ids[0]}&ending_before=${ids[1]}`);
    expect([both.status, both.body.error]).toEqual([
      400,
      {
        code: 'invalid_request',
        message: 'ending_before cannot be combined with starting_after.',
        param: 'ending_before',
        status: 400,
      },
    ]);
    const other = new Client(service.url, (await service.tenant()).secretKey);
    const foreign = await other.get(`/v1/invoices?starting_after=${ids[0]}`);
    expect([foreign.status, foreign.body.error.param]).toEqual([400, 'starting_after']);
  });
});
