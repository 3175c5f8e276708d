import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/domain/error-codes.ts';
import { restInvoiceBody } from '../../../src/domain/invoice/create-invoice-input.ts';
import { forClients } from '../../../src/transport/rest/json-schema.ts';
import { openApiDocument } from '../../../src/transport/rest/openapi.ts';
import { ROUTES } from '../../../src/transport/rest/routes.ts';

// What makes the document fit for generators of clients; scripts/check-clients.ts runs them.

// biome-ignore lint/suspicious/noExplicitAny: the tests look into whatever is there
type Json = any;
const document: Json = JSON.parse(JSON.stringify(openApiDocument(ROUTES)));
const { schemas } = document.components;
const operations: Json[] = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap(
  (path: Json) => Object.values(path),
);

/** Every object of the document with where it stands, examples left out. */
function* objectsOf(value: Json, path: string[] = []): Generator<[path: string, object: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path.join('.'), value];
  for (const [key, each] of Object.entries(value)) {
    if (!['example', 'examples'].includes(key) || path.at(-1) === 'properties') yield* objectsOf(each, [...path, key]);
  }
}
const objects = [...objectsOf(document)];
const where = (holds: (object: Json, path: string) => boolean) =>
  objects.filter(([path, object]) => holds(object, path)).map(([path]) => path);

describe('the OpenAPI document', () => {
  it('writes what may be null as a type with null, never as null alone or as one of several schemas', () => {
    expect(where(({ type }) => type === 'null')).toEqual([]);
    expect(where(({ anyOf, oneOf, allOf }) => Boolean(anyOf ?? oneOf ?? allOf))).toEqual([]);
    const { xml_url, dgi_id, rejection_reason } = schemas.CreatedInvoice.properties;
    for (const each of [xml_url, dgi_id, rejection_reason, schemas.InvoiceList.properties.next_cursor])
      expect(each.type).toEqual(['string', 'null']);
  });

  it('says where a date is taken beside the instant of the format, which generators have a type for', () => {
    const { parameters } = document.paths['/v1/invoices'].get;
    const times = parameters.filter(({ schema }: Json) => schema?.format === 'date-time');
    expect(times.map(({ name }: Json) => name)).toEqual(['created_after', 'created_before']);
    for (const { description } of times) expect(description).toContain('beyond what `format` says, a date');
  });

  it('names with a code what a client would not guess: a proxy that is not trusted, an incomplete profile', () => {
    const lines: string[] = schemas.ErrorCode.description.split('\n');
    expect(lines.find((line) => line.includes('`invalid_api_key`'))).toContain('TRUST_PROXY');
    expect(lines.find((line) => line.includes('`insufficient_scope`'))).toContain('profile is incomplete');
  });

  it('says which of the creations takes no Idempotency-Key', () => {
    const creations = Object.values(document.paths).flatMap(({ post }: Json) => (post ? [post] : []));
    const takes = ({ parameters }: Json) => parameters.some(({ $ref }: Json) => $ref?.endsWith('/Idempotency-Key'));
    const others = creations.filter((each) => !takes(each));
    expect(others.map(({ operationId }) => operationId)).toEqual(['createWebhookEndpoint']);
    for (const { description } of others) expect(description).toContain('`Idempotency-Key` is ignored');
  });

  it('has a tag of its own for what webhook endpoints receive, and describes every tag that is used', () => {
    const used = (each: Json[]) => new Set(each.flatMap(({ tags }) => tags));
    const called = used(operations.filter(({ operationId }) => operationId !== 'receiveInvoiceEvent'));
    expect([...called]).toEqual(['Invoices', 'Webhook endpoints']);
    expect(document.webhooks.invoiceEvent.post.tags).toEqual(['Events']);
    expect(document.tags.map(({ name }: Json) => name)).toEqual([...used(operations)]);
    for (const { description } of document.tags) expect(description).toMatch(/\w/);
  });

  it('names every operation once, as a method is named', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  it('has schemas of their own for what is sent, which require nothing that has a default', () => {
    expect(where((object, path) => 'default' in object && !path.endsWith('.responses'))).toEqual([]);
    expect(schemas.LineInput.required).not.toContain('tax_rate');
    expect(schemas.Line.required).toContain('tax_rate');
    expect(schemas.CreateInvoice.required).not.toContain('metadata');
    expect(schemas.Invoice.required).toContain('metadata');
    const closed = Object.keys(schemas).filter((name) => schemas[name].additionalProperties === false);
    expect(closed.sort()).toEqual(
      [
        'CreateInvoice',
        'CreateWebhookEndpoint',
        'CustomerInput',
        'LineInput',
        'TermsInput',
        'UpdateWebhookEndpoint',
      ].sort(),
    );
  });

  it('names every object and enumeration, by none of the names that languages have', () => {
    const inline = where(
      ({ type, enum: values, properties }, path) =>
        (values !== undefined || (type === 'object' && properties !== undefined)) &&
        !/^components\.schemas\.\w+$/.test(path),
    );
    expect(inline).toEqual([]);
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['InvoiceStatus', 'TaxRate', 'Currency', 'EventType', 'ErrorCode']),
    );
    for (const name of ['Error', 'Event', 'Object', 'Date']) expect(schemas).not.toHaveProperty(name);
  });

  it('says of integers beyond 32 bits that they are of 64', () => {
    const wrong = where(({ type, maximum, format }) => type === 'integer' && maximum > 2 ** 31 && format !== 'int64');
    expect(wrong).toEqual([]);
    expect(schemas.Invoice.properties.amount.format).toBe('int64');
  });

  it('has patterns that engines read alike which go by bytes: ASCII, without escapes of JavaScript alone', () => {
    const patterns = objects.flatMap(([path, { pattern }]) =>
      typeof pattern === 'string' && !path.endsWith('.not') ? [pattern] : [],
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((pattern) => /\\[upP]|[^\x20-\x7e]/.test(pattern))).toEqual([]);
  });

  it('has references that lead somewhere, and one scheme of credentials', () => {
    const missing = objects.flatMap(([path, { $ref }]) => {
      if (typeof $ref !== 'string') return [];
      const found = $ref
        .split('/')
        .slice(1)
        .reduce((at: Json, step) => at?.[step], document);
      return found === undefined ? [`${path}: ${$ref}`] : [];
    });
    expect(missing).toEqual([]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer']);
  });

  it('documents the stream as text, its messages as a schema, and the headers of every answer', () => {
    const { content } = document.paths['/v1/invoices/{id}/stream'].get.responses[200];
    expect(content['text/event-stream'].schema.type).toBe('string');
    const ajv = newAjv();
    const data = JSON.parse(/^data: (.*)$/m.exec(content['text/event-stream'].example)?.[1] ?? '');
    expect(ajv.validate({ $ref: 'openapi#/components/schemas/StatusMessage' }, data)).toBe(true);
    for (const { operationId, responses } of operations) {
      if (operationId === 'receiveInvoiceEvent') continue;
      for (const answer of Object.values(responses) as Json[]) {
        const { headers } = answer.$ref ? document.components.responses[answer.$ref.split('/').at(-1)] : answer;
        expect(Object.keys(headers)).toEqual(
          expect.arrayContaining(['Request-Id', 'X-RateLimit-Remaining', 'RateLimit']),
        );
      }
    }
    const { parameters, responses } = document.paths['/v1/invoices'].post;
    expect(parameters).toContainEqual({ $ref: '#/components/parameters/Idempotency-Key' });
    expect(responses[201].headers).toHaveProperty('Idempotent-Replayed');
  });

  it('has examples that are valid', () => {
    const ajv = newAjv();
    const shown: [path: string, schema: Json, example: unknown][] = objects.flatMap(([path, object]) => {
      const examples = object.examples ?? (object.example === undefined ? [] : [object.example]);
      const values = Array.isArray(examples) ? examples : Object.values(examples).map((each: Json) => each.value);
      const schema = object.schema ?? (path.startsWith('components.schemas') ? object : undefined);
      return schema === undefined ? [] : values.map((value: unknown): [string, Json, unknown] => [path, schema, value]);
    });
    expect(shown.length).toBeGreaterThan(30);
    for (const [path, schema, example] of shown) {
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
      const { examples: _, ...alone } = JSON.parse(text);
      const validate = ajv.compile(alone);
      expect([path, validate(example), validate.errors]).toEqual([path, true, null]);
    }
  });

  it('leaves the sets of answers open that may grow: error codes, event types, rates of VAT', () => {
    const ajv = newAjv();
    const error = { code: 'of_next_year', message: 'It is new.', param: null, status: 422 };
    const answers: [string, object][] = [
      ['ErrorResponse', { error }],
      ['WebhookEndpoint', { ...schemas.WebhookEndpoint.examples[0], events: ['credit_note.accepted'] }],
      ['InvoiceEvent', { ...schemas.InvoiceEvent.examples[0], type: 'credit_note.accepted' }],
      ['Line', { ...schemas.Invoice.examples[0].lines[0], tax_rate: 16 }],
    ];
    for (const [name, answer] of answers) {
      const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
      expect([name, validate(answer), validate.errors]).toEqual([name, true, null]);
    }
    // A closed set is either the contract's own, or that of a request.
    expect(where(({ enum: closed }) => closed !== undefined)).toEqual(
      ['InvoiceStatus', 'Currency', 'TaxRate', 'PaymentMeans', 'EventType', 'Environment'].map(
        (name) => `components.schemas.${name}`,
      ),
    );
  });

  it('lists every code of errors with its statuses, what it means and what to do', () => {
    const { 'x-extensible-enum': codes, description } = schemas.ErrorCode;
    expect(codes).toEqual(Object.keys(ERRORS));
    for (const [code, { status }] of Object.entries(ERRORS))
      expect(description).toMatch(
        new RegExp(`^- \`${code}\` \\(${status}\\b[\\d, ]*\\): \\S.{10,}\\. \\S.{10,}\\.$`, 'm'),
      );
    const answered = new Set(Object.keys(document.components.responses).filter(Number).map(Number));
    answered.delete(304);
    const listed = new Set(
      [...description.matchAll(/\(([\d, ]+)\):/g)].flatMap(([, list]) => list.split(', ').map(Number)),
    );
    for (const status of answered) expect(listed).toContain(status);
  });

  it('takes the same texts as the checks of a request', () => {
    const ajv = newAjv();
    const documented = ajv.compile({ $ref: 'openapi#/components/schemas/CreateInvoice' });
    const of = (name: string, more: object = {}) => ({
      amount: 12000,
      currency: 'MAD',
      customer: { ice: '001234567000062', name, ...more },
      lines: [{ description: name, quantity: 1, unit_price: 10000 }],
    });
    const bodies = [
      'Atlas',
      'Société « Été »',
      'شركة',
      '公司',
      '🧾',
      'a\tb\nc',
      '',
      ' ',
      '\u200b',
      '\u2800',
      'x\u0000',
      'x\u0085',
      'x\u2028y',
      'x\ufffe',
      '\u00a0',
      '\u00ad',
      'x\u007f',
      'é'.repeat(200),
      'é'.repeat(201),
    ].map((name) => of(name));
    for (const body of [...bodies, of('x', { address: null, email: null }), of('x', { address: '', email: 'a@b.ma' })])
      expect([body.customer, documented(body)]).toEqual([body.customer, restInvoiceBody.safeParse(body).success]);
  });
});

it('a schema for clients keeps fields that are named as keywords, and data as they are', () => {
  const properties = { default: { type: 'string' }, const: { type: 'boolean', const: true }, not: { type: 'string' } };
  const schema = { type: 'object', properties, additionalProperties: false, examples: [{ default: 1, anyOf: [] }] };
  const { additionalProperties: _, ...open } = schema;
  expect(forClients(schema, 'output')).toEqual({
    ...open,
    properties: { ...properties, const: { type: 'boolean' } },
  });
  expect(
    forClients({ anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }], description: 'x' }, 'input'),
  ).toEqual({
    type: ['string', 'null'],
    minLength: 1,
    description: 'x',
  });
});

function newAjv() {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  return ajv.addSchema({ $id: 'openapi', ...document });
}
