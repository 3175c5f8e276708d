import { type ExecutionResult, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import type { Principal } from '../../src/domain/principal.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';
import { sharedName, sharedResult } from '../../src/graphql/shared-results.ts';
import { subscribe } from '../../src/graphql/subscribe.ts';

const key = (keyId: string, kind = 'secret', environment = 'test') =>
  ({ kind, keyId, tenant: { id: 'ten_1' }, environment }) as Principal;

function documentOf(source: string) {
  const document = parse(source);
  expect(validate(schema, document)).toEqual([]);
  return document;
}

/** Streams of an operation, with the same two events, each with the number of times that its type or status was read. */
async function streamsOf(source: string, principals: readonly Principal[]) {
  let reads = 0;
  const events = [1, 2].map((sequence) => ({
    id: `evt_${sequence}`,
    invoiceId: 'inv_1',
    body: '{}',
    get type() {
      reads++;
      return 'invoice.accepted';
    },
    get status() {
      reads++;
      return 'accepted';
    },
  }));
  const document = documentOf(source);
  const open = (principal: Principal, stream: number) => {
    const watch = async () =>
      (async function* () {
        for (const event of events) yield { cursor: () => `cursor of ${stream}`, invoiceId: 'inv_1', event };
      })();
    const useCases = { invoiceEvents: watch, watchInvoice: watch };
    const contextValue = { principal, requestId: 'r', useCases } as unknown as GraphQLContext;
    return subscribe({ schema, document, contextValue });
  };
  const opened = (await Promise.all(principals.map(open))) as AsyncGenerator<ExecutionResult>[];
  return { opened, reads: () => reads };
}

const QUERY = 'subscription { invoiceEvents { event { id type body } } }';
/** What every credential may ask for. */
const OF_INVOICE = 'subscription { invoiceStatus(id: "inv_1") { eventId status } }';

it('streams of one credential with the same operation share the result of each event', async () => {
  const { opened, reads } = await streamsOf(QUERY, Array(3).fill(key('key_1')));
  const results = await Promise.all(opened.map((stream) => Array.fromAsync(stream)));
  expect(
    results[0]?.map(({ data }) => (data as { invoiceEvents: { event: { id: string } } }).invoiceEvents.event.id),
  ).toEqual(['evt_1', 'evt_2']);
  for (const result of results) for (const [i, each] of result.entries()) expect(each).toBe(results[0]?.[i]);
  expect(reads()).toBe(2);
});

it('two viewers share no message, even for the same event', async () => {
  const viewers = [key('key_1'), key('key_2'), key('key_1', 'publishable'), key('key_1', 'secret', 'live')];
  const clients = ['inv_1', 'key_1'].map((invoiceId) => ({ kind: 'client', invoiceId }) as Principal);
  const { opened, reads } = await streamsOf(OF_INVOICE, [...viewers, ...clients]);
  const results = await Promise.all(opened.map(async (stream) => (await stream.next()).value));
  expect(new Set(results).size).toBe(6);
  expect(reads()).toBe(6);
});

it('ending one stream leaves the others', async () => {
  const { opened } = await streamsOf(QUERY, Array(3).fill(key('key_1')));
  await opened[0]?.next();
  await opened[0]?.return(undefined);
  const left = await Promise.all(opened.slice(1).map((stream) => Array.fromAsync(stream)));
  expect(left.map((results) => results.length)).toEqual([2, 2]);
});

it('what belongs to one stream is resolved for each: the cursor', async () => {
  const { opened } = await streamsOf('subscription { invoiceEvents { cursor event { id } } }', [
    key('key_1'),
    key('key_1'),
  ]);
  const cursors = await Promise.all(
    opened.map(async (stream) => ((await stream.next()).value.data.invoiceEvents as { cursor: string }).cursor),
  );
  expect(cursors).toEqual(['cursor of 0', 'cursor of 1']);
});

it.each([
  ['subscription { invoiceEvents { cursor } }', null],
  ['subscription ($x: Boolean!) { invoiceEvents { event { id @skip(if: $x) } } }', null],
  ['subscription { invoiceEvents { event { ... on Node { id } } } }', null],
  ['subscription { invoiceEvents { event { ...F } } } fragment F on WebhookEvent { deliveries { id } }', null],
  [
    'subscription { invoiceEvents { a: event { __typename ...F } manual } } fragment F on WebhookEvent { id body }',
    true,
  ],
  ['subscription ($id: ID!) { invoiceStatus(id: $id) { status eventId dgiId } }', true],
])('shares only what depends on the event alone: %s', (source, shared) => {
  const name = sharedName(parse(source), null, key('key_1'));
  expect(name !== null).toBe(shared === true);
});

it.each([
  ['thrown', () => Promise.reject(new Error('the first fails')), { status: 'rejected' }],
  ['reported', async () => ({ errors: [] }), { value: { errors: [] } }],
])('an error, %s, is that of one stream: the others run on their own', async (_, fail, failed) => {
  const event = {};
  let runs = 0;
  const run = (): Promise<ExecutionResult> => {
    const own = ++runs;
    return own === 1 ? fail() : Promise.resolve({ data: { own } });
  };
  const settled = await Promise.allSettled([1, 2, 3].map(() => sharedResult(event, 'name', run)));
  expect(settled).toMatchObject([failed, { value: { data: { own: 2 } } }, { value: { data: { own: 3 } } }]);
  expect(await sharedResult(event, 'name', run)).toMatchObject({ data: { own: 4 } });
});
