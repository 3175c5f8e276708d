import { connect } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { INVOICE_WARNINGS } from '../../src/domain/invoice/invoice-warnings.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { DOCUMENT } from '../support/contract.ts';
import { firstOf } from '../support/samples.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

async function storedInvoices(): Promise<number> {
  return service.app.store.db.collection('invoices').countDocuments({ tenantId: tenant.id });
}

describe('POST /v1/invoices: 201', () => {
  it('keeps metadata that looks like a promise, which REST and GraphQL show', async () => {
    const metadata = JSON.parse('{ "then": "x" }');
    const { body } = await client.post('/v1/invoices', invoiceBody({ metadata }));
    expect((await client.get(`/v1/invoices/${body.id}`)).body.metadata).toEqual(metadata);
    const read = await client.graphql(`{ invoice(id: "${body.id}") { metadata } invoices { nodes { metadata } } }`);
    expect(read.body.errors).toBeUndefined();
    expect(read.body.data.invoice.metadata).toEqual(metadata);
  });

  it('returns the invoice as pending, with every field of the contract in order', async () => {
    const { status, body } = await client.post(
      '/v1/invoices',
      invoiceBody({ metadata: { order: 'A-1', 'dotted.$name': 'x' } }),
    );
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual([
      'id', 'object', 'client_secret', 'status', 'amount', 'currency', 'customer', 'lines', 'metadata',
      'xml_url', 'pdf_url', 'dgi_id', 'rejection_reason', 'created_at', 'updated_at',
    ]); // biome-ignore format: one field per line
    expect(body.id).toMatch(new RegExp(`^inv_${UUID}$`));
    expect(body.client_secret).toMatch(new RegExp(`^${body.id}_secret_[A-Za-z0-9_-]{24,}$`));
    expect(body).toMatchObject({
      object: 'invoice',
      status: 'pending',
      amount: 12000,
      currency: 'MAD',
      customer: { ice: '001234567000089', name: 'Atlas Distribution SARL' },
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000, tax_rate: 20, amount: 10000 }],
      metadata: { order: 'A-1', 'dotted.$name': 'x' },
      xml_url: null,
      pdf_url: null,
      dgi_id: null,
      rejection_reason: null,
    });
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(body.updated_at).toBe(body.created_at);
  });

  it('does not return address and email', async () => {
    const customer = { ice: '001234567000089', name: 'Atlas', address: '1, rue X', email: 'a@example.com' };
    const { body } = await client.post('/v1/invoices', invoiceBody({ customer }));
    expect(body.customer).toEqual({ ice: '001234567000089', name: 'Atlas' });
  });

  it.each(['é@exemple.ma', 'x@exemple.المغرب', 'المحاسبة@مثال.المغرب'])('takes the address %s', async (email) => {
    const customer = { ice: '001234567000089', name: 'Atlas', email };
    expect((await client.post('/v1/invoices', invoiceBody({ customer }))).status).toBe(201);
  });

  it('uses defaults for omitted fields: metadata {}, tax_rate 20, no address and email', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    expect(body.metadata).toEqual({});
    expect(body.lines[0].tax_rate).toBe(20);
  });

  it('accepts each tax rate, and computes VAT once per rate on the sum of the bases', async () => {
    const rates = [0, 7, 10, 14, 20];
    const lines = rates.flatMap((tax_rate) => [
      { description: 'a', quantity: 3, unit_price: 111, tax_rate },
      { description: 'b', quantity: 1, unit_price: 222, tax_rate },
    ]);
    // 555 centimes for each rate: 38.85, 55.5, 77.7 and 111 of VAT, rounded half up.
    const { status, body } = await client.post(
      '/v1/invoices',
      invoiceBody({ amount: 2775 + 39 + 56 + 78 + 111, lines }),
    );
    expect([status, body.lines?.map((each: { amount: number }) => each.amount)]).toEqual([
      201,
      rates.flatMap(() => [333, 222]),
    ]);
  });

  it('accepts the minimum amount and every limit exactly', async () => {
    const customer = { ice: '001234567000089', name: text(200), address: text(500) };
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`.padStart(40, 'k'), text(500)]));
    const lines = [{ description: text(500), quantity: 1, unit_price: 100, tax_rate: 0 }];
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ amount: 100, customer, metadata, lines }));
    expect(status).toBe(201);
    expect(body.metadata).toEqual(metadata);
  });

  it('accepts an ICE with a wrong check key', async () => {
    expect((await client.post('/v1/invoices', invoiceFor('001234567000000'))).status).toBe(201);
  });

  it('accepts names in any script', async () => {
    const name = 'شركة أطلس للتوزيع ⴰⵟⵍⴰⵙ é 🧾';
    const { body } = await client.post('/v1/invoices', invoiceBody({ customer: { ice: '001234567000089', name } }));
    expect(body.customer.name).toBe(name);
    const mark = '\u200fشركة\u200c أ\u200b';
    const { body: marked } = await client.post(
      '/v1/invoices',
      invoiceBody({ customer: { ...body.customer, name: mark } }),
    );
    expect(marked.customer.name).toBe(mark);
  });

  it('accepts VAT rounded on each line, but no larger difference', async () => {
    // 3 lines of 0.33 at 20 %: 19.8 centimes of VAT on the sum, 7 on each line, so 21 in all.
    const lines = Array.from({ length: 3 }, () => ({ description: 'x', quantity: 1, unit_price: 33 }));
    const of = (amount: number) => client.post('/v1/invoices', invoiceBody({ amount, lines }));
    expect((await of(119)).status).toBe(201);
    expect((await of(120)).status).toBe(201);
    expect((await of(121)).body.error.code).toBe('amount_mismatch');
  });

  it('accepts no difference if VAT has no fraction of a centime', async () => {
    const lines = Array.from({ length: 10 }, () => ({ description: 'x', quantity: 1, unit_price: 10000 }));
    for (const amount of [119_999, 120_001]) {
      const { body } = await client.post('/v1/invoices', invoiceBody({ amount, lines }));
      expect(body.error).toMatchObject({ code: 'amount_mismatch', message: expect.stringContaining('120000') });
    }
  });

  it('accepts 1,000 lines and amounts near 2^53', async () => {
    const many = Array.from({ length: 1000 }, () => ({ description: 'x', quantity: 1, unit_price: 100, tax_rate: 0 }));
    expect((await client.post('/v1/invoices', invoiceBody({ amount: 100_000, lines: many }))).status).toBe(201);
    const huge = [{ description: 'x', quantity: 1, unit_price: 2 ** 53 - 1, tax_rate: 0 }];
    const { body } = await client.post('/v1/invoices', invoiceBody({ amount: 2 ** 53 - 1, lines: huge }));
    expect(body).toMatchObject({ amount: 2 ** 53 - 1, lines: [{ amount: 2 ** 53 - 1 }] });
  });
});

const line = (changes: object) =>
  invoiceBody({ lines: [{ description: 'x', quantity: 1, unit_price: 10000, ...changes }] });
const without = (name: string) => {
  const { [name]: _left, ...rest } = invoiceBody();
  return rest;
};
/** A valid body with one member added or replaced, as raw JSON. */
const withRaw = (member: string) => JSON.stringify(invoiceBody()).replace(/}$/, `,${member}}`);
const text = (length: number) => 'x'.repeat(length);

/** Name of the case, body, and the status, code and param of the response. */
const REFUSED: [string, unknown, number, string, string | null][] = [
  ['no amount', without('amount'), 400, 'invalid_request', 'amount'],
  ['an amount that is a string', invoiceBody({ amount: '12000' }), 400, 'invalid_request', 'amount'],
  ['a fraction of a centime', invoiceBody({ amount: 12000.5 }), 400, 'invalid_request', 'amount'],
  ['an amount beyond 2^53', invoiceBody({ amount: 2 ** 53 }), 400, 'invalid_request', 'amount'],
  ['an amount below 100', invoiceBody({ amount: 99 }), 422, 'amount_too_small', 'amount'],
  ['a negative amount', invoiceBody({ amount: -12000 }), 422, 'amount_too_small', 'amount'],
  ['an amount below -2^53', withRaw('"amount":-9007199254740993'), 422, 'amount_too_small', 'amount'],
  ['an amount of -10^300', invoiceBody({ amount: -1e300 }), 422, 'amount_too_small', 'amount'],
  ['an amount of minus infinity', withRaw('"amount":-1e999'), 400, 'invalid_request', 'amount'],
  ['an amount that is not the total', invoiceBody({ amount: 12001 }), 422, 'amount_mismatch', 'amount'],
  ['no currency', without('currency'), 400, 'invalid_request', 'currency'],
  ['another currency', invoiceBody({ currency: 'EUR' }), 400, 'invalid_request', 'currency'],
  ['no customer', without('customer'), 400, 'invalid_request', 'customer'],
  ['a customer that is a list', invoiceBody({ customer: [] }), 400, 'invalid_request', 'customer'],
  ['no ICE', invoiceBody({ customer: { name: 'A' } }), 400, 'invalid_request', 'customer.ice'],
  ['an ICE that is null', invoiceBody({ customer: { ice: null, name: 'A' } }), 400, 'invalid_request', 'customer.ice'],
  ['an ICE that is a number', invoiceBody({ customer: { ice: 1, name: 'A' } }), 400, 'invalid_request', 'customer.ice'],
  ['an ICE of 14 digits', invoiceBody({ customer: { ice: '00123456700008', name: 'A' } }), 422, 'invalid_ice', 'customer.ice'],
  ['an ICE of Arabic digits', invoiceBody({ customer: { ice: '٠٠١٢٣٤٥٦٧٠٠٠٠٨٩', name: 'A' } }), 422, 'invalid_ice', 'customer.ice'],
  ['an empty ICE', invoiceBody({ customer: { ice: '', name: 'A' } }), 422, 'invalid_ice', 'customer.ice'],
  ['no name', invoiceBody({ customer: { ice: '001234567000089' } }), 400, 'invalid_request', 'customer.name'],
  ['a blank name', invoiceBody({ customer: { ice: '001234567000089', name: ' ' } }), 400, 'invalid_request', 'customer.name'],
  ...firstOf([' \u3164 \ufe0f\u2800', '\u{e0100}\u{e0fff}', '\u200b', '\u2060', '\ufeff', '\u00ad', '\u200e', '\u{e0001}', '\u{1bca0}\u{1d173}'], 2).flatMap((invisible): typeof REFUSED => [
    [`a name of ${escape(invisible)}`, invoiceBody({ customer: { ice: '001234567000089', name: invisible } }), 400, 'invalid_request', 'customer.name'],
    [`a description of ${escape(invisible)}`, line({ description: invisible }), 400, 'invalid_request', 'lines.0.description'],
  ]),
  ['a long name', invoiceBody({ customer: { ice: '001234567000089', name: text(201) } }), 400, 'invalid_request', 'customer.name'],
  ['a NUL in a name', invoiceBody({ customer: { ice: '001234567000089', name: 'A\u0000' } }), 400, 'invalid_request', 'customer.name'],
  ['half a character', invoiceBody({ customer: { ice: '001234567000089', name: 'A\ud800' } }), 400, 'invalid_request', 'customer.name'],
  ['a bad e-mail', invoiceBody({ customer: { ice: '001234567000089', name: 'A', email: 'x' } }), 400, 'invalid_request', 'customer.email'],
  ['a bad ICE and an amount too small: the amount first', invoiceBody({ amount: 1, customer: { ice: 'x', name: 'A' } }), 422, 'amount_too_small', 'amount'],
  ['a bad rate and an amount too small: structure first', { ...line({ tax_rate: 3 }), amount: 1 }, 400, 'invalid_request', 'lines.0.tax_rate'],
  ['no lines', without('lines'), 400, 'invalid_request', 'lines'],
  ['empty lines', invoiceBody({ lines: [] }), 400, 'invalid_request', 'lines'],
  ['1,001 lines', invoiceBody({ lines: Array.from({ length: 1001 }, () => ({ description: 'x', quantity: 1, unit_price: 1 })) }), 400, 'invalid_request', 'lines'],
  ['no description', line({ description: undefined }), 400, 'invalid_request', 'lines.0.description'],
  ['a long description', line({ description: text(501) }), 400, 'invalid_request', 'lines.0.description'],
  ['a quantity of 0', line({ quantity: 0 }), 400, 'invalid_request', 'lines.0.quantity'],
  ['a quantity of 1.5', line({ quantity: 1.5 }), 400, 'invalid_request', 'lines.0.quantity'],
  ['a negative unit price', line({ unit_price: -1 }), 400, 'invalid_request', 'lines.0.unit_price'],
  ['a tax rate of 13', line({ tax_rate: 13 }), 400, 'invalid_request', 'lines.0.tax_rate'],
  ['a tax rate that is a string', line({ tax_rate: '20' }), 400, 'invalid_request', 'lines.0.tax_rate'],
  ['a total beyond 2^53', line({ quantity: 2 ** 40, unit_price: 2 ** 40 }), 400, 'invalid_request', 'lines'],
  ['an unknown field', invoiceBody({ colour: 'red' }), 400, 'invalid_request', 'colour'],
  ['an unknown field of a line', line({ colour: 'red' }), 400, 'invalid_request', 'lines.0.colour'],
  ['an unknown field after a wrong one', invoiceBody({ colour: 'red', currency: 'EUR' }), 400, 'invalid_request', 'currency'],
  ['metadata with a number', invoiceBody({ metadata: { n: 1 } }), 400, 'invalid_request', 'metadata.n'],
  ['metadata named like a part of every object', invoiceBody({ metadata: { constructor: 1 } }), 400, 'invalid_request', 'metadata.constructor'],
  ['metadata with a long key', invoiceBody({ metadata: { [text(41)]: 'x' } }), 400, 'invalid_request', `metadata.${text(41)}`],
  ['metadata with a long value', invoiceBody({ metadata: { k: text(501) } }), 400, 'invalid_request', 'metadata.k'],
  ['metadata with half a character', invoiceBody({ metadata: { k: '\ud800' } }), 400, 'invalid_request', 'metadata.k'],
  ['metadata with 51 keys', invoiceBody({ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'x'])) }), 400, 'invalid_request', 'metadata'],
  ['a body that is a list', [], 400, 'invalid_request', null],
  ['a body that is no JSON', '{"amount":', 400, 'invalid_request', null],
  ['an empty body', '', 400, 'invalid_request', null],
  ['metadata with an empty key', invoiceBody({ metadata: { '': 'x' } }), 400, 'invalid_request', 'metadata.'],
  ['metadata with half a character in a key', invoiceBody({ metadata: { '\ud800': 'x' } }), 400, 'invalid_request', 'metadata.\ud800'],
  ['metadata with a NUL in a key', invoiceBody({ metadata: { 'a\u0000': 'x' } }), 400, 'invalid_request', 'metadata.a\u0000'],
  ['metadata with __proto__', withRaw('"metadata":{"__proto__":"x"}'), 400, 'invalid_request', 'metadata.__proto__'],
  ['metadata with an escaped __proto__', withRaw('"metadata":{"_\\u005Fproto__":"x"}'), 400, 'invalid_request', 'metadata.__proto__'],
  ['a field named __proto__', withRaw('"__proto__":{"amount":1}'), 400, 'invalid_request', '__proto__'],
  ['deep nesting', withRaw(`"metadata":${'{"a":'.repeat(25_000)}"__proto__"${'}'.repeat(25_000)}`), 400, 'invalid_request', 'metadata.a'],
]; // biome-ignore format: aligned as a table

describe('POST /v1/invoices: 400 and 422', () => {
  it.each(REFUSED)('refuses %s and stores nothing', async (_name, body, status, code, param) => {
    const before = await storedInvoices();
    const answer = await client.post('/v1/invoices', body);
    expect(answer.body).toEqual({ error: { code, message: expect.any(String), param, status } });
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toMatch(/\.$/);
    expect(await storedInvoices()).toBe(before);
  });

  it.each([
    ['1', 'it has 1 digit.'],
    ['12345678901234', 'it has 14 digits.'],
    ['', 'it has 0 digits.'],
    ['x', 'it has 1 character, 0 of them digits.'],
    ['MA1', 'it has 3 characters, 1 of them a digit.'],
    ['00123456700008x', 'it has 15 characters, 14 of them digits.'],
  ])('says what an ICE %j has', async (ice, end) => {
    const { body } = await client.post('/v1/invoices', invoiceBody({ customer: { ice, name: 'A' } }));
    expect(body.error.message).toBe(`customer.ice must be exactly 15 digits, 0 to 9; ${end}`);
  });

  it.each([
    ['due_date', 'terms.due_date'],
    ['dueDate', 'terms.due_date'],
    ['operation_date', 'terms.operation_date'],
    ['bank_account', 'terms.bank_account'],
  ])('says of %s at the top level that it is %s', async (field, place) => {
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ [field]: 'x' }));
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', field]);
    expect(body.error.message).toBe(
      `${field} is not known here; expected are amount, currency, customer, lines, metadata, number, terms; it is ${place}.`,
    );
  });

  it('names no place for a field that exists nowhere, or within metadata', async () => {
    for (const changes of [
      { colour: 'x' },
      { metadata: { due_date: 1 } },
      { customer: { ice: '1', name: 'A', due_date: 1 } },
    ]) {
      const { status, body } = await client.post('/v1/invoices', invoiceBody(changes));
      expect(status).toBe(400);
      expect(body.error.message).not.toContain('; it is');
    }
  });

  it('states the expected total', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody({ amount: 10000 }));
    expect(body.error.message).toContain('12000');
  });

  it('refuses unknown query parameters', async () => {
    const { status, body } = await client.post('/v1/invoices?dry=1', invoiceBody());
    expect([status, body.error.param]).toEqual([400, 'dry']);
  });
});

describe('POST /v1/invoices: 403', () => {
  it('a live key of a seller with an incomplete profile gets the missing fields, and nothing is stored', async () => {
    const { id } = await service.tenant({ legalName: 'Atlas' });
    const live = new Client(service.url, await service.liveKey(id));
    // The profile is checked before the body is read.
    expect((await live.post('/v1/invoices', '{not json', { 'Content-Type': 'text/plain' })).status).toBe(403);
    const { status, body } = await live.post('/v1/invoices', invoiceBody());
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
    expect(body.error.message).toMatch(/Missing: ice, taxId/);
    expect((await live.get('/v1/invoices')).body.data).toEqual([]);
  });
});

describe('metadata as PHP writes it', () => {
  it('an empty array is an object without members, the same for an Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'php' };
    const created = await client.post('/v1/invoices', invoiceBody({ metadata: [] }), key);
    expect([created.status, created.body.metadata]).toEqual([201, {}]);
    for (const metadata of [{}, null, undefined, []]) {
      const again = await client.post('/v1/invoices', invoiceBody({ metadata }), key);
      expect([again.status, again.body.id]).toEqual([201, created.body.id]);
    }
  });

  it.each([[['a']], [[[]]], [[null]]])('another array is refused: %j', async (metadata) => {
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ metadata }));
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'metadata']);
  });

  it('by GraphQL, too, as a variable and in the document', async () => {
    const operation = (declared: string, metadata: string) => `mutation ${declared} { createInvoice(input: {
      amount: 12000, currency: "MAD", metadata: ${metadata}, customer: { ice: "001234567000089", name: "A" },
      lines: [{ description: "x", quantity: 1, unitPrice: 10000 }]
    }) { ... on CreateInvoicePayload { invoice { metadata } } ... on Error { message } } }`;
    for (const answer of [
      await client.graphql(operation('', '[]')),
      await client.graphql(operation('($metadata: Metadata)', '$metadata'), { metadata: [] }),
    ])
      expect(answer.body.data?.createInvoice).toEqual({ invoice: { metadata: {} } });
  });
});

describe('POST /v1/invoices: 413 and 415', () => {
  it('refuses a body over 1 MiB', async () => {
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ metadata: { k: text(1024 * 1024) } }));
    expect([status, body.error.code]).toEqual([413, 'invalid_request']);
  });

  it('refuses a body over 1 MiB without a Content-Length', async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 20; i++) controller.enqueue(new TextEncoder().encode(text(100_000)));
        controller.close();
      },
    });
    const response = await fetch(`${service.url}/v1/invoices`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.secretKey}`, 'Content-Type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  it.each([['Content-Length: 8000000'], ['Transfer-Encoding: chunked']])(
    'refuses a body of 8 MB only after receiving it, so that clients that do not read while sending get the response (%s)',
    async (length) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      const failed = new Promise((_, reject) => socket.once('error', reject));
      const send = (part: string) =>
        Promise.race([failed, new Promise<void>((resolve) => socket.write(part, () => resolve()))]);
      const head = ['POST /v1/invoices HTTP/1.1', 'Host: x', `Authorization: Bearer ${tenant.secretKey}`];
      await send([...head, 'Content-Type: application/json', length, '', ''].join('\r\n'));
      const chunk = ' '.repeat(1_000_000);
      socket.pause();
      for (let i = 0; i < 8; i++) await send(length.endsWith('chunked') ? `f4240\r\n${chunk}\r\n` : chunk);
      if (length.endsWith('chunked')) await send('0\r\n\r\n');
      let text = '';
      for await (const received of socket) {
        text += received;
        if (text.includes('}}')) break;
      }
      expect(text).toMatch(/^HTTP\/1\.1 413 /);
    },
  );

  it('treats a body without a length as empty, not as another media type', async () => {
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /v1/invoices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.secretKey}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`,
    );
    expect(Buffer.concat(await Array.fromAsync(socket)).toString()).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    'refuses %s',
    async (type) => {
      const { status, body } = await client.post('/v1/invoices', JSON.stringify(invoiceBody()), {
        'Content-Type': type,
      });
      expect([status, body.error.code]).toEqual([415, 'invalid_request']);
      expect(body.error.message).toContain(type);
    },
  );
});

describe('POST /v1/invoices: Idempotency-Key', () => {
  const key = (value: string) => ({ 'Idempotency-Key': value });
  /** The UTF-8 bytes of a text, each as one character: the form in which fetch takes a header. */
  const sentAs = (value: string) => Buffer.from(value, 'utf8').toString('latin1');

  it('replays the original response, even after the invoice was accepted, and creates no duplicate', async () => {
    const first = await client.post('/v1/invoices', invoiceBody({ metadata: { a: '1', b: '2' } }), key('replay'));
    await client.settled(first.body.id);
    const before = await storedInvoices();
    // The same values in another order, with defaults and nulls written out, are the same payload.
    const again = invoiceBody({
      customer: { email: null, name: 'Atlas Distribution SARL', address: null, ice: '001234567000089' },
      metadata: { b: '2', a: '1' },
      lines: [{ unit_price: 10000, tax_rate: 20, quantity: 1, description: 'Conseil' }],
    });
    const second = await client.post('/v1/invoices', again, key('replay'));
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(await storedInvoices()).toBe(before);
  });

  it('takes the keys that the OpenAPI document allows, and refuses the others', async () => {
    const { schema } = DOCUMENT.components.parameters['Idempotency-Key']!;
    const isAllowed = new Ajv2020({ strict: false }).compile(schema);
    const keys = [
      'é',
      'double  space',
      'à payer – شكرا',
      'no\u00a0break',
      'a\tb',
      'next\u0085line',
      'line\u2028end',
      '"',
      'x, y',
    ];
    const taken: Record<string, boolean> = {};
    for (const each of keys) {
      const { status, body } = await client.post('/v1/invoices', invoiceBody(), key(sentAs(each)));
      taken[each] = status === 201;
      if (status !== 201) expect([status, body.error.param]).toEqual([400, 'Idempotency-Key']);
    }
    expect(taken).toEqual(Object.fromEntries(keys.map((each) => [each, isAllowed(each)])));
    expect(Object.values(taken).filter(Boolean)).toHaveLength(6);
    // GraphQL takes texts that no header can carry.
    const { body } = await client.graphql(
      `mutation ($key: String) { createInvoice(idempotencyKey: $key, input: {
        amount: 12000, currency: "MAD", customer: { ice: "001234567000089", name: "Atlas Distribution SARL" },
        lines: [{ description: "Conseil", quantity: 1, unitPrice: 10000 }] }) { ... on Error { code param } } }`,
      { key: 'a\nb' },
    );
    expect(body.data.createInvoice).toEqual({ code: 'invalid_request', param: 'idempotencyKey' });
  });

  it('null stands for an absent member, in REST and GraphQL: all of them are one request', async () => {
    const absent = await client.post('/v1/invoices', invoiceBody(), key('null'));
    const [line] = absent.body.lines;
    expect([absent.status, absent.body.metadata, line.tax_rate]).toEqual([201, {}, 20]);
    const nulls = invoiceBody({
      customer: { ice: '001234567000089', name: 'Atlas Distribution SARL', address: null, email: null },
      lines: [{ description: 'Conseil', quantity: 1, unit_price: 10000, tax_rate: null }],
      metadata: null,
    });
    const { status, body, headers } = await client.post('/v1/invoices', nulls, key('null'));
    expect([status, body, headers.get('idempotent-replayed')]).toEqual([201, absent.body, 'true']);
    const input = {
      amount: 12000,
      currency: 'MAD',
      number: null,
      terms: null,
      metadata: null,
      customer: { ice: '001234567000089', name: 'Atlas Distribution SARL', address: null, email: null },
      lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: null }],
    };
    const FIELDS = '... on CreateInvoicePayload { replayed invoice { id } } ... on Error { message }';
    const mutation = `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input, idempotencyKey: "null") { ${FIELDS} } }`;
    const byVariables = await client.graphql(mutation, { input });
    const written = JSON.stringify(input).replaceAll(/"(\w+)":/g, '$1: ');
    const byLiterals = await client.graphql(
      mutation.replace('($input: CreateInvoiceInput!)', '').replace('$input', written),
    );
    for (const answer of [byVariables, byLiterals]) {
      expect(answer.body).toEqual({ data: { createInvoice: { replayed: true, invoice: { id: absent.body.id } } } });
    }
    const draft = 'mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { valid problems { message } } }';
    const drafted = await client.graphql(draft, { input });
    expect(drafted.body.data.validateInvoice).toEqual({ valid: true, problems: [] });
  });

  const FORMS = [
    ['of 255 characters beyond U+FFFF', '😀'.repeat(255), `"${'😀'.repeat(255)}"`],
    ['one quote', '"', '"""'],
    ['bare', 'bare', '"bare"'],
    ['with a comma', 'with, a comma', '"with, a comma"'],
    ['of 255 characters', text(255), `"${text(255)}"`],
    ['in French and Arabic', 'à payer – شكرا', '"à payer – شكرا"'],
  ] as const;
  it.each(firstOf(FORMS, 2))(
    'treats the bare string and the quoted form of the IETF draft as different keys, also in GraphQL: %s',
    async (_name, ...keys) => {
      const ids = new Set();
      for (const each of keys) {
        const first = await client.post('/v1/invoices', invoiceBody(), key(sentAs(each)));
        const second = await client.post('/v1/invoices', invoiceBody(), key(sentAs(each)));
        expect([first.status, second.status]).toEqual([201, 201]);
        expect(second.body).toEqual(first.body);
        const { body } = await client.graphql(
          `mutation ($key: String) { createInvoice(idempotencyKey: $key, input: {
          amount: 12000, currency: "MAD", customer: { ice: "001234567000089", name: "Atlas Distribution SARL" },
          lines: [{ description: "Conseil", quantity: 1, unitPrice: 10000 }] }) {
          ... on CreateInvoicePayload { invoice { id } } ... on Error { message } } }`,
          { key: each },
        );
        expect(body.data?.createInvoice).toEqual({ invoice: { id: first.body.id } });
        ids.add(first.body.id);
      }
      expect(ids.size).toBe(2);
    },
  );

  it('replays the original response of an invoice that was rejected in the meantime', async () => {
    const first = await client.post('/v1/invoices', invoiceFor('999000000000102'), key('rejected'));
    expect((await client.settled(first.body.id)).status).toBe('rejected');
    expect((await client.post('/v1/invoices', invoiceFor('999000000000102'), key('rejected'))).body).toEqual(
      first.body,
    );
  });

  it('replays the response of a stored invoice whose client had disconnected before', async () => {
    const { hostname, port } = new URL(service.url);
    const sent = JSON.stringify(invoiceBody());
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/invoices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.secretKey}\r\nContent-Type: application/json\r\n` +
        `Idempotency-Key: unanswered\r\nContent-Length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`,
    );
    const invoices = service.app.store.db.collection('invoices');
    const stored = () =>
      invoices.findOne({ tenantId: tenant.id, environment: 'test', 'idempotency.key': 'unanswered' });
    await expect.poll(stored, { interval: 1 }).not.toBeNull();
    socket.destroy();
    const answer = await client.post('/v1/invoices', invoiceBody(), key('unanswered'));
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(answer.body).toMatchObject({ id: (await stored())?._id, status: 'pending' });
    expect((await client.settled(answer.body.id)).status).toBe('accepted');
  });

  it('409: a different payload, valid or not', async () => {
    await client.post('/v1/invoices', invoiceBody(), key('conflict'));
    for (const other of [
      invoiceBody({ metadata: { x: 'y' } }),
      invoiceBody({ amount: 1 }),
      invoiceBody({ amount: 'x' }),
      [],
      '{"amount":',
      '',
    ]) {
      const { status, body } = await client.post('/v1/invoices', other, key('conflict'));
      expect([status, body.error.code]).toEqual([409, 'idempotency_conflict']);
    }
  });

  it('does not remember a request that was refused', async () => {
    expect((await client.post('/v1/invoices', invoiceBody({ amount: 1 }), key('failed'))).status).toBe(422);
    expect((await client.post('/v1/invoices', invoiceBody(), key('failed'))).status).toBe(201);
  });

  it("keeps tenants' keys apart", async () => {
    const other = new Client(service.url, (await service.tenant()).secretKey);
    const first = await client.post('/v1/invoices', invoiceBody(), key('mine'));
    const second = await other.post('/v1/invoices', invoiceBody({ metadata: { x: 'y' } }), key('mine'));
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it("keeps the environments' keys apart", async () => {
    const both = await service.tenant(SPECIMEN_SELLER);
    const live = new Client(service.url, await service.liveKey(both.id));
    const first = await new Client(service.url, both.secretKey).post('/v1/invoices', invoiceBody(), key('env'));
    const second = await live.post('/v1/invoices', invoiceBody({ metadata: { x: 'y' } }), key('env'));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it.each(['', '""', text(256), `"${text(256)}"`, '😀'.repeat(256)])(
    '400: a key that is empty or too long',
    async (value) => {
      const { status, body } = await client.post('/v1/invoices', invoiceBody(), key(sentAs(value)));
      expect([status, body.error.param]).toEqual([400, 'Idempotency-Key']);
    },
  );

  it('100 concurrent identical requests create one invoice and get 100 identical bodies', async () => {
    const before = await storedInvoices();
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const response = await fetch(`${service.url}/v1/invoices`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${tenant.secretKey}`,
            'Content-Type': 'application/json',
            ...key('concurrent'),
          },
          body: JSON.stringify(invoiceBody()),
        });
        const replayed = response.headers.get('idempotent-replayed');
        return { replayed, answer: `${response.status} ${await response.text()}` };
      }),
    );
    expect(new Set(answers.map(({ answer }) => answer)).size).toBe(1);
    expect(answers[0]?.answer).toMatch(/^201 \{"id":"inv_/);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await storedInvoices()).toBe(before + 1);
  });

  it('of concurrent requests with two payloads, one payload is stored and the other is a conflict', async () => {
    const before = await storedInvoices();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        client.post('/v1/invoices', invoiceBody({ metadata: { side: String(i % 2) } }), key('two sides')),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(won).toHaveLength(20);
    expect(new Set(won.map(({ body }) => `${body.id} ${body.metadata.side}`)).size).toBe(1);
    const lost = answers.filter(({ status }) => status !== 201);
    expect(new Set(lost.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(['409 idempotency_conflict']),
    );
    expect(await storedInvoices()).toBe(before + 1);
  });
});

describe('the header Fatoura-Warnings', () => {
  const COMPLETE = {
    ...SPECIMEN_SELLER,
    paymentMeans: 'transfer',
    paymentTermDays: 30,
    bankAccount: '999780000128473900001726',
    operationDateIsIssueDate: true,
  } as const;
  const customer = { ice: '001525713000000', name: 'Client', address: '1, rue des Orangers' };

  it('contains the code of each warning once, and the same codes on every replay', async () => {
    const body = invoiceBody({ customer: { ice: '000000000000000', name: 'Client' } });
    const key = { 'Idempotency-Key': 'warned' };
    const first = await client.post('/v1/invoices', body, key);
    expect(first.headers.get('fatoura-warnings')).toBe(
      'ice_zero, customer_address_missing, seller_field_missing, operation_date_missing, due_date_missing, ' +
        'payment_means_missing, payment_reference_missing',
    );
    await client.settled(first.body.id);
    // The profile has changed by then, but not the seller's data on the invoice.
    await service.app.tenants.changeProfile(tenant.id, { paymentMeans: 'cash' }, false);
    const again = await client.post('/v1/invoices', body, key);
    await service.app.tenants.changeProfile(tenant.id, { paymentMeans: null }, false);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('fatoura-warnings')).toBe(first.headers.get('fatoura-warnings'));
    expect(again.body).toEqual(first.body);
    expect(Object.keys(first.body)).not.toContain('warnings');
  });

  it('is explained by GraphQL, code by code', async () => {
    const { body, headers } = await client.post(
      '/v1/invoices',
      invoiceBody({ customer: { ...customer, address: '' } }),
    );
    const query = '{ invoice(id: "ID") { warnings { code path message } } }'.replace('ID', body.id);
    const { warnings } = (await client.graphql(query)).body.data.invoice;
    const codes = new Set(warnings.map(({ code }: { code: string }) => code));
    expect([...codes].join(', ')).toBe(headers.get('fatoura-warnings'));
    const type = '{ __type(name: "InvoiceWarning") { fields { name type { ofType { kind enumValues { name } } } } } }';
    const { fields } = (await client.graphql(type)).body.data.__type;
    const { kind, enumValues } = fields.find(({ name }: { name: string }) => name === 'code').type.ofType;
    const names = enumValues.map(({ name }: { name: string }) => name);
    expect([kind, names.toSorted()]).toEqual(['ENUM', Object.keys(INVOICE_WARNINGS).toSorted()]);
  });

  it('is absent without warnings, and from every other response', async () => {
    const complete = new Client(service.url, (await service.tenant(COMPLETE)).secretKey);
    const { status, headers, body } = await complete.post('/v1/invoices', invoiceBody({ customer }));
    expect([status, headers.get('fatoura-warnings')]).toEqual([201, null]);
    const warned = await client.post('/v1/invoices', invoiceBody());
    expect(warned.headers.has('fatoura-warnings')).toBe(true);
    for (const answer of [
      await client.post('/v1/invoices', invoiceBody({ amount: 1 })),
      await client.get(`/v1/invoices/${warned.body.id}`),
      await client.get('/v1/invoices'),
      await complete.get(`/v1/invoices/${body.id}`),
    ]) {
      expect(answer.headers.get('fatoura-warnings')).toBeNull();
    }
  });

  it('is readable by pages of other origins', async () => {
    const { headers } = await client.post('/v1/invoices', invoiceBody(), { Origin: 'https://shop.example' });
    expect(headers.get('access-control-expose-headers')).toContain('Fatoura-Warnings');
  });

  it('takes its codes from the table that the reference page and the OpenAPI document show', async () => {
    const page = await (await fetch(`${service.url}/docs/interactive`)).text();
    const document = await (await fetch(`${service.url}/v1/openapi.json`)).json();
    const { description } = document.components.headers['Fatoura-Warnings'];
    for (const code of Object.keys(INVOICE_WARNINGS)) {
      expect(page).toContain(`<code>${code}</code>`);
      expect(description).toContain(`\`${code}\``);
    }
  });
});
