import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createInvoiceInput, restInvoiceBody } from '../../../src/domain/invoice/create-invoice-input.ts';
import { listInvoicesQuery } from '../../../src/domain/invoice/list-invoices-input.ts';
import {
  createEndpointBody,
  createEndpointInput,
  updateEndpointBody,
} from '../../../src/domain/webhook/endpoint-input.ts';
import { invoiceBody } from '../../support/client.ts';

function problems(schema: z.ZodType, value: unknown) {
  const parsed = schema.safeParse(value);
  if (parsed.success) throw new Error('the value is valid');
  return problemsOf(parsed.error);
}
const line = (changes: object) =>
  invoiceBody({ lines: [{ description: 'x', quantity: 1, unit_price: 1, ...changes }] });
const endpoint = (changes: object) => ({ url: 'https://example.com/', events: ['invoice.accepted'], ...changes });
const EVENTS = 'invoice.signing, invoice.transmitted, invoice.accepted, invoice.rejected';

/** A schema, an input, and the message for the client. */
const MESSAGES: [string, z.ZodType, unknown, string][] = [
  ['a list for a body', restInvoiceBody, [], 'The body must be a JSON object with amount, currency, customer and lines; a list was sent.'],
  ['null for a body', restInvoiceBody, null, 'The body must be a JSON object with amount, currency, customer and lines; null was sent.'],
  ['no amount', restInvoiceBody, { ...invoiceBody(), amount: undefined }, 'amount is required: an integer of centimes, such as 12000 for 120.00 MAD.'],
  ['an amount in a string', restInvoiceBody, invoiceBody({ amount: '120.00' }), 'amount must be an integer of centimes, such as 12000 for 120.00 MAD; "120.00" was sent.'],
  ['an amount in dirhams', restInvoiceBody, invoiceBody({ amount: 120.5 }), 'amount must be an integer of centimes, such as 12000 for 120.00 MAD, at most 9007199254740991; 120.5 was sent.'],
  ['a currency', restInvoiceBody, invoiceBody({ currency: 'EUR' }), 'currency must be MAD, the only currency; "EUR" was sent.'],
  ['no name', restInvoiceBody, invoiceBody({ customer: { ice: '001234567000089' } }), 'customer.name is required: the company name, a string.'],
  ['no name of anybody', createInvoiceInput, { ...invoiceBody(), customer: { kind: 'person' } }, 'customer.name is required: the name of the company or person, a string.'],
  ['no ICE', restInvoiceBody, invoiceBody({ customer: { name: 'A' } }), 'customer.ice is required: a string of 15 digits.'],
  ['an ICE in a number', restInvoiceBody, invoiceBody({ customer: { ice: 1234567000089, name: 'A' } }), 'customer.ice must be a string of 15 digits; 1234567000089 was sent.'],
  ['a long text', restInvoiceBody, line({ description: 'x'.repeat(501) }), 'lines.0.description is too long: at most 500 characters.'],
  ['a tax rate', restInvoiceBody, line({ tax_rate: 19 }), 'lines.0.tax_rate must be one of 0, 7, 10, 14, 20 (percent); 19 was sent.'],
  ['an unknown field', restInvoiceBody, line({ price: 1 }), 'lines.0.price is not known here; expected are description, quantity, unit_price, tax_rate.'],
  ['no lines', restInvoiceBody, invoiceBody({ lines: [] }), 'lines is empty: at least one item is expected.'],
  ['a status', listInvoicesQuery, { status: 'paid' }, 'status must be one of pending, signing, transmitted, accepted, rejected; "paid" was sent.'],
  ['a limit', listInvoicesQuery, { limit: '500' }, 'limit must be an integer from 1 to 100; "500" was sent.'],
  ['a time', listInvoicesQuery, { created_after: 'yesterday' }, 'created_after must be a date in ISO 8601, such as 2026-01-31 (which is its start in UTC), or an instant with a time zone, such as 2026-01-31T12:00:00Z (encode + as %2B); "yesterday" was sent.'],
  ['an unknown parameter', listInvoicesQuery, { page: '2' }, 'page is not known here; expected are status, limit, starting_after, ending_before, created_after, created_before.'],
  ['no url', createEndpointBody, endpoint({ url: undefined }), 'url is required: the https:// address that receives events, a string.'],
  ['an unknown event', createEndpointBody, endpoint({ events: ['invoice.paid'] }), `events.0 must be one of ${EVENTS}; "invoice.paid" was sent.`],
  ['an event of credit notes in REST', createEndpointBody, endpoint({ events: ['credit_note.accepted'] }), `events.0 must be one of ${EVENTS}; "credit_note.accepted" was sent.`],
  ['a change to an event of credit notes in REST', updateEndpointBody, { events: ['credit_note.accepted'] }, `events.0 must be one of ${EVENTS}; "credit_note.accepted" was sent.`],
  ['events that are no list in REST', createEndpointBody, endpoint({ events: 'all' }), `events must be a list of event types: ${EVENTS}; "all" was sent.`],
  ['too many events in REST', createEndpointBody, endpoint({ events: Array(5).fill('invoice.accepted') }), 'events has too many event types: at most 4, each once.'],
  ['too many events', createEndpointInput, endpoint({ events: Array(9).fill('invoice.accepted') }), 'events has too many event types: at most 8, each once.'],
  ['an event twice', createEndpointInput, endpoint({ events: ['invoice.signing', 'invoice.signing'] }), 'events.1 repeats an earlier type: name each type once.'],
  ['active', updateEndpointBody, { active: 'no' }, 'active must be true or false; "no" was sent.'],
]; // biome-ignore format: a table

describe('messages say what was wrong, what was expected, and where', () => {
  it.each(MESSAGES)('%s', (_name, schema, value, message) => {
    expect(problems(schema, value)[0].message).toBe(message);
  });

  it('fields have the names of the schema', () => {
    const [ofRest] = problems(restInvoiceBody, line({ unit_price: -1 }));
    expect(ofRest.param).toBe('lines.0.unit_price');
    const lines = [{ description: 'x', quantity: 1, unitPrice: -1 }];
    const [ofGraphql] = problems(createInvoiceInput, invoiceBody({ lines }));
    expect(ofGraphql.param).toBe('lines.0.unitPrice');
    expect(ofGraphql.message).toMatch(/^lines\.0\.unitPrice must be /);
  });
});

describe('a hostile body costs little', () => {
  it('at most a hundred problems are listed', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]));
    expect(problems(restInvoiceBody, invoiceBody(many))).toHaveLength(100);
    const lines = Array.from({ length: 1000 }, () => ({ description: 'x' }));
    expect(problems(restInvoiceBody, invoiceBody({ lines }))).toHaveLength(100);
  });

  it('the members of an oversized value are not checked one by one', () => {
    const metadata = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]));
    expect(problems(restInvoiceBody, invoiceBody({ metadata })).map(({ param }) => param)).toEqual(['metadata']);
    const lines = Array.from({ length: 5000 }, () => 0);
    expect(problems(restInvoiceBody, invoiceBody({ lines })).map(({ param }) => param)).toEqual(['lines']);
    const events = Array.from({ length: 5000 }, () => 0);
    expect(problems(createEndpointInput, endpoint({ events })).map(({ param }) => param)).toEqual(['events']);
  });

  it('only the beginning of a long value is quoted', () => {
    const long = '🧾'.repeat(50_000);
    const [first] = problems(restInvoiceBody, invoiceBody({ [long]: 1 }));
    expect(first.param?.length).toBeLessThan(400);
    expect(first.param?.isWellFormed()).toBe(true);
    expect(problems(restInvoiceBody, invoiceBody({ currency: long }))[0].message.length).toBeLessThan(600);
  });
});
