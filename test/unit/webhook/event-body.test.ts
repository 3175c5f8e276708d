import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KIND_NAMES, type Kind } from '../../../src/domain/invoice/kinds.ts';
import {
  bodyAtRest,
  bodyToSend,
  documentTokens,
  type EventInvoice,
  eventBody,
} from '../../../src/domain/webhook/webhook-event.ts';

const invoiceId = 'inv_550e8400-e29b-41d4-a716-446655440000';
const at = new Date('2026-01-31T12:00:00Z');
const documentUrl = ({ documentRevision }: { documentRevision: number }, kind: string) =>
  `https://example.com/files/${invoiceId}/token-${kind}-${documentRevision}.${kind}`;

const CREDIT = {
  original: { id: 'inv_00000000-0000-4000-8000-000000000001', number: '2026-000123' },
  reason: 'return',
  note: 'Carton ouvert',
} as const;

function bodyOf(
  metadata: Record<string, string>,
  status: 'accepted' | 'rejected',
  kind: Kind = 'invoice',
  credit: EventInvoice['credit'] = kind === 'credit_note' ? CREDIT : null,
) {
  const invoice = {
    id: invoiceId,
    amount: 12_000,
    currency: 'MAD',
    metadata,
    createdAt: at,
    documentRevision: 3,
    credit,
  } as const;
  const customer = {
    ice: '001234567000089',
    name: '"xml_url":"https://x"',
    address: 'hidden',
    email: 'hidden@example.com',
  };
  const event = {
    id: 'evt_1',
    sequence: 3,
    type: `${kind}.${status}`,
    status,
    dgiId: null,
    rejectionReason: null,
    at,
  } as const;
  return eventBody({ ...invoice, customer }, event, documentUrl);
}

const names = fc.oneof(fc.constantFrom('xml_url', 'pdf_url', 'data', '2', '10', 'a.b'), fc.string());
const metadata = fc.dictionary(
  names.filter((name) => name !== '__proto__'),
  fc.string({ unit: 'grapheme' }),
);

it('the stored body has no URLs, and the sent body has the original bytes, for any metadata', () => {
  fc.assert(
    fc.property(metadata, fc.constantFrom(...KIND_NAMES), (data, kind) => {
      const body = bodyOf(data, 'accepted', kind);
      const kept = bodyAtRest({ body, documentRevision: 3 });
      expect(kept.body).not.toContain('token-');
      expect(bodyToSend({ ...kept, invoiceId }, documentUrl)).toBe(body);
      expect(documentTokens(body)).toEqual(['token-xml-3', 'token-pdf-3']);
      const without = bodyOf(data, 'rejected', kind);
      expect(bodyAtRest({ body: without, documentRevision: 3 })).toEqual({ body: without });
    }),
    { numRuns: 200 },
  );
});

it("the members of an event's data are those of the contract, in its order", () => {
  const { data } = JSON.parse(bodyOf({}, 'accepted'));
  expect(Object.keys(data)).toEqual(
    // biome-ignore format: as the contract lists them
    ['id', 'object', 'status', 'amount', 'currency', 'customer', 'dgi_id', 'xml_url', 'pdf_url', 'metadata', 'rejection_reason',
      'created_at', 'updated_at'],
  );
  expect(Object.keys(data.customer)).toEqual(['ice', 'name']);
});

it('the body of an invoice is these bytes', () => {
  expect(bodyOf({ order: '7' }, 'accepted')).toBe(
    `{"id":"evt_1","object":"event","type":"invoice.accepted","created":1769860800,"data":{"id":"${invoiceId}","object":"invoice","status":"accepted","amount":12000,"currency":"MAD","customer":{"ice":"001234567000089","name":"\\"xml_url\\":\\"https://x\\""},"dgi_id":null,"xml_url":"https://example.com/files/${invoiceId}/token-xml-3.xml","pdf_url":"https://example.com/files/${invoiceId}/token-pdf-3.pdf","metadata":{"order":"7"},"rejection_reason":null,"created_at":"2026-01-31T12:00:00Z","updated_at":"2026-01-31T12:00:00Z"}}`,
  );
});

describe('the body of a credit note', () => {
  const parsed = (...args: Parameters<typeof bodyOf>) => JSON.parse(bodyOf(...args));

  it('has the five fields, and the members of an invoice before the invoice that it corrects, the reason and its note', () => {
    const [invoice, note] = [parsed({ order: '7' }, 'accepted'), parsed({ order: '7' }, 'accepted', 'credit_note')];
    expect(note).toEqual({
      ...invoice,
      type: 'credit_note.accepted',
      data: {
        ...invoice.data,
        object: 'credit_note',
        invoice: CREDIT.original,
        reason: 'return',
        note: 'Carton ouvert',
      },
    });
    expect(Object.keys(note)).toEqual(Object.keys(invoice));
    expect(Object.keys(note.data)).toEqual([...Object.keys(invoice.data), 'invoice', 'reason', 'note']);
  });

  it('names an invoice of another system without an id, and nothing else of the original', () => {
    const original = { id: null, number: 'FA/2025/0042', issueDate: '2025-12-01', dgiId: null };
    const { data } = parsed({}, 'rejected', 'credit_note', { original, reason: 'other', note: null });
    expect(data.invoice).toEqual({ id: null, number: 'FA/2025/0042' });
    expect([data.xml_url, data.pdf_url, data.reason, data.note]).toEqual([null, null, 'other', null]);
  });
});
