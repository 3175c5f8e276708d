import { describe, expect, it } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
});

const NUMBERS = `query ($after: String) { invoices(first: 100, after: $after) { edges { node { number } } } }`;

it('100 concurrent creations of one tenant get the numbers 1 to 100', async () => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  // The mock authority rejects every tenth invoice, which keeps its number.
  const bodies = Array.from({ length: 100 }, (_, index) =>
    invoiceFor(index % 10 === 0 ? '999000000000102' : '001525713000085'),
  );
  const created = await Promise.all(bodies.map((body) => client.post('/v1/invoices', body)));
  expect(created.map(({ status }) => status)).toEqual(bodies.map(() => 201));

  type Edge = { node: { number: string | null } };
  const invoices = async () =>
    ((await client.graphql(NUMBERS)).body.data.invoices.edges as Edge[]).map(({ node }) => node);
  await expect
    .poll(async () => (await invoices()).filter(({ number }) => number !== null).length, {
      timeout: 200_000,
      interval: 250,
    })
    .toBe(100);
  const found = await invoices();
  const year = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Casablanca', year: 'numeric' }).format(new Date());
  const expected = Array.from({ length: 100 }, (_, index) => `${year}-${String(index + 1).padStart(6, '0')}`);
  expect(found.map(({ number }) => number).sort()).toEqual(expected);
}, 240_000);

const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) {
    ... on CreateInvoicePayload { replayed invoice { id number } }
    ... on Error { code param status message }
  }
}`;

/** An invoice with a number of the client's own series; null: the service assigns the number. */
const numbered = (number: string | null, ice = '001525713000085') => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice, name: 'Client' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
  number,
});

describe("numbers of the client's own series", () => {
  const create = async (client: Client, input: object, key: string | null = null) =>
    (await client.graphql(CREATE, { input, key })).body.data.createInvoice;
  const numberOf = async (client: Client, id: string) =>
    (await client.graphql(`{ invoice(id: "${id}") { number documents { xml { url } } } }`)).body.data.invoice;

  it('are stated in the document, and leave no gap in the service’s series', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    const numbers = Array.from({ length: 16 }, (_, index) => (index % 2 ? `FA/2026/${index}` : null));
    const invoices = await Promise.all(
      numbers.map(async (number, index) => {
        const { invoice } = await create(client, numbered(number, index % 5 === 1 ? '999000000000102' : undefined));
        expect(invoice.number).toBe(number);
        await client.settled(invoice.id, 120_000);
        return numberOf(client, invoice.id);
      }),
    );
    const years = new Set<string>();
    const serials = invoices
      .filter((_, index) => numbers[index] === null)
      .map(({ number }) => {
        years.add(number.slice(0, 5));
        return number.slice(5);
      });
    expect([years.size, serials.sort()]).toEqual([1, Array.from({ length: 8 }, (_, i) => `00000${i + 1}`)]);
    expect(invoices.map(({ number }, index) => (numbers[index] === null ? null : number))).toEqual(numbers);

    const xml = await fetch(invoices[3].documents.xml.url);
    expect(xml.headers.get('content-disposition')).toContain('facture-FA_2026_3.xml');
    expect(await xml.text()).toMatch(/<cbc:ID[^>]*>FA\/2026\/3<\/cbc:ID>/);
  }, 150_000);

  it('are unique in a tenant and environment, for the first request, and kept by rejected invoices', async () => {
    const tenant = await service.tenant();
    const client = new Client(service.url, tenant.secretKey);
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(client, numbered('A-1'))));
    const [winner] = answers.filter(({ invoice }) => invoice);
    const losers = answers.filter(({ invoice }) => !invoice);
    expect(losers).toHaveLength(11);
    for (const loser of losers)
      expect(loser).toEqual({
        code: 'duplicate_number',
        param: 'number',
        status: 422,
        message: expect.stringContaining(winner.invoice.id),
      });
    const rejected = await create(client, numbered('A-2', '999000000000102'));
    expect((await client.settled(rejected.invoice.id)).status).toBe('rejected');
    expect(await create(client, numbered('A-2'))).toMatchObject({ code: 'duplicate_number' });

    const other = new Client(service.url, (await service.tenant()).secretKey);
    expect(await create(other, numbered('A-1'))).toMatchObject({ invoice: { number: 'A-1' } });
  });

  it('belong to the request of an idempotency key: a replay is not a duplicate', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    // The number looks like the name of an index: the violated index must not be identified by the text of the error.
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => create(client, numbered('idempotency'), 'own_number')),
    );
    expect(answers.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(new Set(answers.map(({ invoice }) => `${invoice.id} ${invoice.number}`)).size).toBe(1);
    expect(await create(client, numbered('other'), 'own_number')).toMatchObject({ code: 'idempotency_conflict' });
    expect(await create(client, numbered('idempotency'), 'another')).toMatchObject({ code: 'duplicate_number' });
    expect(await create(client, numbered('idempotency'))).toMatchObject({ code: 'duplicate_number' });
  });

  it('cannot have the form of the service’s own, blanks at the ends or in a row, or characters that documents and file names do not allow', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    for (const number of [
      '',
      '2026-000001',
      '1999-1234567',
      'AV-2026-000001',
      'AV-1999-1234567',
      ' A',
      'A ',
      'FAC  2026 77',
      'A\n1',
      '../x',
      'A<b>',
      'é',
      '１',
      'x'.repeat(51),
    ])
      expect(await create(client, numbered(number))).toMatchObject({
        code: 'invalid_request',
        param: 'number',
        status: 400,
      });
    expect((await client.get('/v1/invoices')).body.data).toEqual([]);
  });

  it('find their invoice like the service’s own, for the tenant only', async () => {
    const client = new Client(service.url, (await service.tenant()).secretKey);
    const { invoice: own } = await create(client, numbered('FA 4711'));
    const { invoice: next } = await create(client, numbered(null));
    await client.settled(next.id);
    const { number } = await numberOf(client, next.id);
    const FIND = 'query ($number: String!) { invoiceByNumber(number: $number) { id } }';
    const found = async (text: string, as = client) => (await as.graphql(FIND, { number: text })).body;
    expect((await found('FA 4711')).data.invoiceByNumber).toEqual({ id: own.id });
    expect((await found(number)).data.invoiceByNumber).toEqual({ id: next.id });
    const stranger = new Client(service.url, (await service.tenant()).secretKey);
    for (const [text, as] of [
      ...['FA 4711', number].map((each) => [each, stranger] as const),
      ...['fa 4711', `0${number}`, number.replace('-', '-0'), `${number}0`, '', '\u0000'].map(
        (each) => [each, client] as const,
      ),
    ]) {
      const { errors } = await found(text, as);
      expect(errors[0].extensions).toMatchObject({ code: 'resource_not_found', param: 'number', status: 404 });
    }
  });
});
