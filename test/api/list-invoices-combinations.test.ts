import { describe, expect, it } from 'vitest';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import type { Environment } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

interface Known {
  readonly id: string;
  readonly status: InvoiceStatus;
  /** UNIX seconds. */
  readonly created: number;
}

/** Creation time of the first invoice, UNIX seconds. */
const START = Date.UTC(2026, 0, 31, 12) / 1000;

let service: TestService;
let tenant: TestTenant;
let client: Client;
/** 24 invoices created within 12 seconds, newest first. */
const known: Known[] = [];

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  for (let i = 0; i < 24; i++) known.unshift(await store(i, 'test'));
});

/** Stores an invoice without a job, so that its status does not change. */
async function store(i: number, environment: Environment): Promise<Known> {
  const status = INVOICE_STATUSES[i % INVOICE_STATUSES.length] as InvoiceStatus;
  const createdAt = new Date(START * 1000 + i * 500);
  const invoice = pendingInvoice({ tenantId: tenant.id, environment, status, createdAt, work: null });
  const order = orderAt(createdAt.getTime());
  await invoicesOf(service.app.store.db).insert(invoice, order, null);
  return { id: invoice.id, status, created: Math.floor(createdAt.getTime() / 1000) };
}

interface Query {
  status?: InvoiceStatus;
  limit?: number;
  starting_after?: string;
  ending_before?: string;
  created_after?: number;
  created_before?: number;
}

/** The response to a query that the contract requires. */
function expectedOf(query: Query) {
  const wanted = known.filter(
    ({ status, created }) =>
      (query.status === undefined || status === query.status) &&
      (query.created_after === undefined || created > query.created_after) &&
      (query.created_before === undefined || created < query.created_before),
  );
  const placeOf = (id: string) => known.findIndex((each) => each.id === id);
  const limit = query.limit ?? 20;
  const { starting_after: after, ending_before: before } = query;
  const older = after === undefined ? wanted : wanted.filter(({ id }) => placeOf(id) > placeOf(after));
  const page =
    before === undefined
      ? { rest: older, data: older.slice(0, limit) }
      : (() => {
          const newer = wanted.filter(({ id }) => placeOf(id) < placeOf(before));
          return { rest: newer, data: newer.slice(-limit) };
        })();
  const ids = page.data.map(({ id }) => id);
  return { ids, more: page.rest.length > limit, next: ids.at(-1) ?? null };
}

function parametersOf(query: Query): string {
  const instant = (seconds: number) => new Date(seconds * 1000).toISOString();
  const { created_after, created_before, ...rest } = query;
  const parameters = Object.entries({
    ...rest,
    ...(created_after !== undefined && { created_after: instant(created_after) }),
    ...(created_before !== undefined && { created_before: instant(created_before) }),
  });
  return new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString();
}

function* combinations(): Generator<Query> {
  const cursors = (place: number): Query[] => [
    {},
    { starting_after: known[place]?.id ?? '' },
    { ending_before: known[place]?.id ?? '' },
  ];
  for (const status of [{}, { status: 'accepted' as const }])
    for (const limit of [{}, { limit: 1 }, { limit: 5 }, { limit: 100 }])
      for (const cursor of [...cursors(9), ...cursors(0).slice(1), ...cursors(23).slice(1)])
        for (const after of [{}, { created_after: START + 2 }])
          for (const before of [{}, { created_before: START + 10 }])
            yield { ...status, ...limit, ...cursor, ...after, ...before };
}

describe('GET /v1/invoices: 200', () => {
  it('answers every combination of its parameters according to the contract', async () => {
    const queries = [...combinations()];
    expect(queries).toHaveLength(2 * 4 * 7 * 2 * 2);
    for (const query of queries) {
      const { status, body } = await client.get(`/v1/invoices?${parametersOf(query)}`);
      const answer = { ids: body.data?.map(({ id }: Known) => id), more: body.has_more, next: body.next_cursor };
      expect([status, query, answer]).toEqual([200, query, expectedOf(query)]);
    }
  });

  it('separates the environments', async () => {
    const live = new Client(service.url, await service.liveKey(tenant.id));
    expect((await live.get('/v1/invoices')).body.data).toEqual([]);
    const { id } = await store(100, 'live');
    expect((await live.get('/v1/invoices')).body.data.map((each: Known) => each.id)).toEqual([id]);
    const { body } = await client.get('/v1/invoices?limit=100');
    expect(body.data.map((each: Known) => each.id)).toEqual(known.map((each) => each.id));
    expect((await client.get(`/v1/invoices?starting_after=${id}`)).status).toBe(400);
  });

  it('is stable while invoices are created: each earlier invoice is listed once, in order, in both directions', async () => {
    const own = new Client(service.url, (await service.tenant()).secretKey);
    const create = async () => (await own.post('/v1/invoices', invoiceBody())).body.id as string;
    const there: string[] = [];
    for (let i = 0; i < 12; i++) there.unshift(await create());
    let walking = true;
    const creating = (async () => {
      const made: string[] = [];
      while (walking) made.unshift(await create());
      return made;
    })();
    const walked: string[] = [];
    for (let next: string | null = there[0] ?? ''; next; ) {
      const { body } = await own.get(`/v1/invoices?limit=2&starting_after=${next}`);
      walked.push(...body.data.map(({ id }: Known) => id));
      next = body.has_more ? body.next_cursor : null;
    }
    expect([there[0], ...walked]).toEqual(there);
    walking = false;
    const made = await creating;
    expect(made.length).toBeGreaterThan(0);
    const back: string[] = [];
    for (let before = there.at(-1) ?? '', more = true; more; ) {
      const { body } = await own.get(`/v1/invoices?limit=5&ending_before=${before}`);
      back.unshift(...body.data.map(({ id }: Known) => id));
      before = back[0] ?? before;
      more = body.has_more;
    }
    expect(back).toEqual([...made, ...there.slice(0, -1)]);
  });
});
