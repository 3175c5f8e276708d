import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { sampled } from '../support/samples.ts';
import { type TestService, withSharedService } from '../support/service.ts';

// Compares every connection with a plain list: the rows of each page, and whether there are rows before and after it.

/** A row of a list, with the values that filters use. */
interface Row {
  readonly id: string;
  readonly second: number;
  readonly kind: string;
}

const [FIRST_SECOND, ROWS] = [1_780_000_000, 24];
const STATUSES = ['pending', 'signing', 'accepted', 'rejected'];
const TYPES = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'];
const STATES = ['delivered', 'failed', 'cancelled'];

let service: TestService;
let client: Client;
/** Newest first. */
const rows: Record<string, Row[]> = { invoices: [], webhookEvents: [], webhookDeliveries: [] };

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  const tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  // biome-ignore lint/suspicious/noExplicitAny: the stored form
  const collection = (name: string) => service.app.store.db.collection<any>(name);
  // Events of another tenant, which must not be in the lists.
  const model = new Client(service.url, (await service.tenant()).secretKey);
  const { id } = (await model.post('/v1/invoices', invoiceBody())).body;
  await model.settled(id);
  const {
    idempotency: _key,
    series: _number,
    work: _work,
    outbox: _outbox,
    ...invoice
  } = await collection('invoices').findOne({ _id: id });
  const own = { tenantId: tenant.id, environment: 'test' };
  for (let n = 0; n < ROWS; n++) {
    // Some rows have the same second.
    const second = FIRST_SECOND + Math.floor(n / 2) * 2;
    const created = {
      createdAt: new Date(second * 1000 + (n % 2) * 400),
      order: orderAt(second * 1000 + (n % 2) * 400),
    };
    const pick = (values: readonly string[]) => values[((n * 7) % 5) % values.length] ?? '';
    const add = (list: string, _id: string, kind: string) => rows[list]?.unshift({ id: _id, second, kind });
    const [invoiceId, eventId] = [newId('inv'), newId('evt')];
    const [status, type, state] = [pick(STATUSES), pick(TYPES), pick(STATES)];
    await collection('invoices').insertOne({ ...invoice, ...own, _id: invoiceId, status, ...created });
    add('invoices', invoiceId, status);
    const place = `${created.order}`;
    await collection('webhook_events').insertOne({
      _id: eventId,
      ...own,
      type,
      invoiceId,
      sequence: 1,
      body: '{}',
      place,
      ...created,
    });
    add('webhookEvents', eventId, type);
    const deliveryId = `dlv_${eventId.slice(4)}_1`;
    await collection('webhook_deliveries').insertOne({
      _id: deliveryId,
      ...own,
      eventId,
      eventType: type,
      endpointId: 'we_1',
      invoiceId,
      state,
      attempts: [],
      ...created,
    });
    add('webhookDeliveries', deliveryId, state);
  }
});

const timestamp = (second: number) => new Date(second * 1000).toISOString().replace('.000', '');

it.each([
  ['invoices', 'status', 'InvoiceStatus', STATUSES],
  ['webhookEvents', 'type', 'WebhookEventType', TYPES],
  ['webhookDeliveries', 'state', 'WebhookDeliveryState', STATES],
] as const)('%s returns the pages of a plain list, and if there are more', async (list, filter, type, kinds) => {
  const all = rows[list] ?? [];
  const query = `query ($first: Int, $last: Int, $after: String, $before: String, $kind: ${type}, $createdAfter: DateTime, $createdBefore: DateTime) {
    ${list}(first: $first, last: $last, after: $after, before: $before, ${filter}: $kind, createdAfter: $createdAfter, createdBefore: $createdBefore) {
      nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }`;
  const second = fc.option(fc.integer({ min: FIRST_SECOND - 2, max: FIRST_SECOND + ROWS + 2 }), { nil: null });
  const asked = fc.record({
    place: fc.option(fc.nat(ROWS - 1), { nil: null }),
    backwards: fc.boolean(),
    length: fc.integer({ min: 1, max: ROWS }),
    kind: fc.option(fc.constantFrom(...kinds), { nil: null }),
    after: second,
    before: second,
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ place, backwards, length, kind, after, before }) => {
      const matching = all.filter(
        (row) =>
          (kind === null || row.kind === kind) &&
          (after === null || row.second > after) &&
          (before === null || row.second < before),
      );
      const index = (row: Row) => all.indexOf(row);
      const towards = place !== null && backwards ? 'before' : 'after';
      const beyond = matching.filter(
        (row) => place === null || (towards === 'before' ? index(row) < place : index(row) > place),
      );
      const page = towards === 'before' ? beyond.slice(-length) : beyond.slice(0, length);
      const [start, end] = [page[0], page.at(-1)];
      const older = (row: Row) => (end ? index(row) > index(end) : place !== null && towards === 'before');
      const newer = (row: Row) => (start ? index(row) < index(start) : place !== null && towards === 'after');
      const variables = {
        [towards === 'before' ? 'last' : 'first']: length,
        ...(place !== null && { [towards]: all[place]?.id }),
        kind: kind?.replace('.', '_'),
        createdAfter: after && timestamp(after),
        createdBefore: before && timestamp(before),
      };
      const { nodes, pageInfo } = (await client.graphql(query, variables)).body.data[list];
      expect(nodes.map(({ id }: { id: string }) => id)).toEqual(page.map(({ id }) => id));
      expect(pageInfo).toEqual({
        hasNextPage: matching.some(older),
        hasPreviousPage: matching.some(newer),
        startCursor: start?.id ?? null,
        endCursor: end?.id ?? null,
      });
    }),
    { numRuns: sampled(300) },
  );
});
