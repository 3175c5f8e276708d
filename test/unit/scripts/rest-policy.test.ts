import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { breakingRestChanges } from '../../../scripts/check/rest-policy.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests change the document anywhere
type Document = any;

const PUBLISHED = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
const changed = (change: (document: Document) => void): Document => {
  const document = JSON.parse(PUBLISHED);
  change(document);
  return document;
};
const schema = (document: Document, name: string) => document.components.schemas[name];
const creation = (document: Document) => document.paths['/v1/invoices'].post;
const listing = (document: Document) => document.paths['/v1/invoices'].get;
const parameterOf = (operation: Document, name: string) =>
  operation.parameters.find((each: Document) => each.name === name);

const BREAKS: readonly (readonly [what: string, change: (document: Document) => void, line: string])[] = [
  [
    'a renamed member of an answer',
    (document) => {
      const invoice = schema(document, 'Invoice');
      invoice.properties.identifier = invoice.properties.dgi_id;
      delete invoice.properties.dgi_id;
    },
    'GET /v1/invoices, 200.data[].dgi_id is gone',
  ],
  [
    'a member of an answer that may be absent',
    (document) => {
      schema(document, 'Invoice').required = schema(document, 'Invoice').required.filter(
        (name: string) => name !== 'status',
      );
    },
    'status may be absent',
  ],
  [
    'a member of an answer that may be null',
    (document) => {
      schema(document, 'Invoice').properties.amount.type = ['integer', 'null'];
    },
    'amount may have the types null',
  ],
  [
    'a value more of a closed set of an answer',
    (document) => schema(document, 'InvoiceStatus').enum.push('archived'),
    'may have the values archived',
  ],
  [
    'a member that is renamed in a request',
    (document) => {
      const line = schema(document, 'LineInput').properties;
      line.price = line.unit_price;
      delete line.unit_price;
    },
    'unit_price is gone',
  ],
  [
    'a member that a request must have now',
    (document) => schema(document, 'CreateInvoice').required.push('number'),
    'number is required',
  ],
  [
    'a new member that a request must have',
    (document) => {
      schema(document, 'CreateInvoice').properties.due = { type: 'string' };
      schema(document, 'CreateInvoice').required.push('due');
    },
    'due is required',
  ],
  [
    'a shorter text in requests',
    (document) => {
      schema(document, 'LineInput').properties.description.maxLength = 10;
    },
    'description has the maxLength 10, not ',
  ],
  [
    'a type that requests may no longer have',
    (document) => {
      schema(document, 'CustomerInput').properties.email.type = 'string';
    },
    'email no longer takes the types null',
  ],
  [
    'another pattern in requests',
    (document) => {
      schema(document, 'CustomerInput').properties.ice.pattern = '^[1-9]{15}$';
    },
    'ice has another pattern',
  ],
  ['an operation that is gone', (document) => delete document.paths['/v1/invoices'].post, 'POST /v1/invoices is gone'],
  [
    'a parameter that is gone',
    (document) => {
      listing(document).parameters = listing(document).parameters.filter(({ name }: Document) => name !== 'status');
    },
    'GET /v1/invoices, query parameter status is gone',
  ],
  [
    'a parameter that is required now',
    (document) => {
      parameterOf(listing(document), 'status').required = true;
    },
    'query parameter status is required',
  ],
  [
    'a header of an answer that is gone',
    (document) => delete creation(document).responses[201].headers['Idempotent-Replayed'],
    'POST /v1/invoices, 201, Idempotent-Replayed is gone',
  ],
  [
    'another status of an answer',
    (document) => {
      creation(document).responses[200] = creation(document).responses[201];
      delete creation(document).responses[201];
    },
    'POST /v1/invoices, 201 is gone',
  ],
  [
    'a member of an event that is gone',
    (document) => {
      const event = schema(document, 'InvoiceEvent');
      delete event.properties.created;
    },
    'POST invoiceEvent, body.created is gone',
  ],
  [
    'another format of an answer',
    (document) => {
      schema(document, 'Timestamp').format = 'date';
    },
    'created_at has another format',
  ],
];

it.each(BREAKS)('reports %s', (_, change, line) => {
  const changes = breakingRestChanges(JSON.parse(PUBLISHED), changed(change));
  expect(changes.join('\n')).toContain(line);
});

it.each([
  ['nothing', () => undefined],
  [
    'a new member of an answer',
    (document: Document) => {
      schema(document, 'Invoice').properties.due = { type: 'string' };
    },
  ],
  [
    'a new optional member and a longer text of requests',
    (document: Document) => {
      schema(document, 'CreateInvoice').properties.due = { type: 'string' };
      schema(document, 'LineInput').properties.description.maxLength *= 2;
    },
  ],
  [
    'a new value of an open set',
    (document: Document) => schema(document, 'ErrorCode')['x-extensible-enum'].push('new'),
  ],
  [
    'a new operation',
    (document: Document) => {
      document.paths['/v1/credits'] = { get: listing(document) };
    },
  ],
])('takes %s', (_, change) => {
  expect(breakingRestChanges(JSON.parse(PUBLISHED), changed(change))).toEqual([]);
});
