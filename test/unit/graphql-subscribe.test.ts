import { type ExecutionArgs, parse, subscribe as reference, validate } from 'graphql';
import { expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { StatusChange } from '../../src/domain/invoice/watch-invoice.ts';
import type { KeyPrincipal } from '../../src/domain/principal.ts';
import type { WebhookEvent } from '../../src/domain/webhook/webhook-event.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';
import { subscribe } from '../../src/graphql/subscribe.ts';

const at = new Date('2026-11-21T12:00:00Z');
const changes = (['signing', 'transmitted', 'accepted'] as const).map((status, i) => ({
  invoiceId: 'inv_1',
  event: {
    id: `evt_${i}`,
    sequence: i + 1,
    type: `invoice.${status}`,
    status,
    at,
    dgiId: i === 2 ? 'D' : null,
    rejectionReason: null,
  },
})) as unknown as StatusChange[];
const event = {
  id: newId('evt'),
  type: 'invoice.accepted',
  invoiceId: 'inv_1',
  createdAt: at,
  body: '{}',
  sequence: 1,
};

/** Tells the same each time; the deliveries of an event can't be read. */
const useCases = {
  async watchInvoice(_principal: unknown, id: string) {
    if (id === 'inv_0') throw new Error('a defect');
    return (async function* () {
      yield* changes;
    })();
  },
  invoiceEvents: async () =>
    (async function* () {
      yield { cursor: () => 'c1', event: event as unknown as WebhookEvent };
      yield { cursor: () => 'c2', event: { ...event, createdAt: null } as unknown as WebhookEvent };
    })(),
} as unknown as GraphQLContext['useCases'];

const DOCUMENTS: [string, Record<string, unknown>?][] = [
  ['subscription { invoiceStatus(id: "inv_1") { status } }'],
  [
    'subscription ($id: ID!) { s: invoiceStatus(id: $id) { b: status a: eventId __typename ...F } } fragment F on InvoiceStatusChange { updatedAt dgiId status }',
    { id: 'inv_1' },
  ],
  ['subscription ($x: Boolean!) { invoiceStatus(id: "inv_1") { dgiId @skip(if: $x) status dgiId } }', { x: true }],
  ['subscription ($id: ID!) { invoiceStatus(id: $id) { status } }', {}],
  ['subscription { invoiceStatus(id: "inv_0") { status } }'],
  ['subscription { invoiceEvents { cursor event { id type body createdAt } } }'],
];

it.each(DOCUMENTS)('compiled subscriptions tell what graphql-js tells: %s', async (source, variableValues = {}) => {
  const document = parse(source);
  expect(validate(schema, document)).toEqual([]);
  const tell = async (by: typeof reference) => {
    const principal = { kind: 'secret', keyId: 'key_1', tenant: { id: 'ten_1' }, environment: 'test' } as KeyPrincipal;
    const args: ExecutionArgs = {
      schema,
      document,
      variableValues,
      contextValue: { principal, requestId: 'r', useCases },
    };
    const results = await by(args);
    return JSON.stringify(Symbol.asyncIterator in results ? await Array.fromAsync(results) : results);
  };
  const expected = await tell(reference);
  // The first time it is not compiled yet.
  for (let times = 0; times < 3; times++) expect(await tell(subscribe)).toBe(expected);
  expect(expected.length).toBeGreaterThan(50);
});
