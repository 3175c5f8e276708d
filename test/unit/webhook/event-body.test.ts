import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bodyAtRest, bodyToSend, documentTokens, eventBody } from '../../../src/domain/webhook/webhook-event.ts';

const invoiceId = 'inv_550e8400-e29b-41d4-a716-446655440000';
const at = new Date('2026-01-31T12:00:00Z');
const documentUrl = ({ documentRevision }: { documentRevision: number }, kind: string) =>
  `https://example.com/files/${invoiceId}/token-${kind}-${documentRevision}.${kind}`;

function bodyOf(metadata: Record<string, string>, status: 'accepted' | 'rejected') {
  const invoice = {
    id: invoiceId,
    amount: 12_000,
    currency: 'MAD',
    metadata,
    createdAt: at,
    documentRevision: 3,
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
    type: `invoice.${status}`,
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
    fc.property(metadata, (data) => {
      const body = bodyOf(data, 'accepted');
      const kept = bodyAtRest({ body, documentRevision: 3 });
      expect(kept.body).not.toContain('token-');
      expect(bodyToSend({ ...kept, invoiceId }, documentUrl)).toBe(body);
      expect(documentTokens(body)).toEqual(['token-xml-3', 'token-pdf-3']);
      const without = bodyOf(data, 'rejected');
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
