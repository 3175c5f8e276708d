import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followInvoice } from '../../../src/dashboard/invoice/follow-invoice.ts';

const ID = 'inv_1';
const STATUSES = ['pending', 'signing', 'transmitted', 'accepted'];

/** The requests for the invoice that have no answer yet. */
let reads: PromiseWithResolvers<Response>[];
let stream: ReadableStreamDefaultController<Uint8Array>;
/** What the page shows. */
let shown: unknown[];
let stop: () => void;

beforeEach(() => {
  [reads, shown] = [[], []];
  // What browsers have and Node has not. Without locks a page does not share its stream.
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('document', { hidden: false, addEventListener: () => {}, removeEventListener: () => {} });
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('removeEventListener', () => {});
  vi.stubGlobal('fetch', async (path: string) => {
    if (path === '/graphql') {
      const read = Promise.withResolvers<Response>();
      reads.push(read);
      return read.promise;
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller;
      },
    });
    return new Response(body);
  });
  stop = followInvoice(ID, 'inv_1_secret_x', ({ invoice, state }) => shown.push([invoice?.status, state]));
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
});

/** Answers a request with the invoice as it was at this status. */
function answer(read: PromiseWithResolvers<Response> | undefined, status: string): void {
  const timeline = STATUSES.slice(0, STATUSES.indexOf(status) + 1).map((each) => ({ status: each, eventId: each }));
  const body = JSON.stringify({ data: { document: { id: ID, amount: 1, status, timeline } } });
  read?.resolve(new Response(body, { headers: { 'Content-Type': 'application/json' } }));
}

/** Tells of a change over the stream. */
function change(status: string): void {
  stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ n: 0, eventId: status, status })}\n\n`));
}

async function untilReads(count: number) {
  await expect.poll(() => reads.length).toBe(count);
  return reads[count - 1];
}

it('reads the invoice after each change, also while the read after an earlier change has no answer', async () => {
  answer(await untilReads(1), 'signing');
  await expect.poll(() => shown.at(-1)).toEqual(['signing', 'live']);
  change('transmitted');
  const earlier = await untilReads(2);
  change('accepted');
  const later = await untilReads(3);
  // The service has answered the earlier one before the acceptance.
  answer(earlier, 'transmitted');
  answer(later, 'accepted');
  await expect.poll(() => shown.at(-1)).toEqual(['accepted', 'final']);
});

it('shows no older answer after a newer one', async () => {
  answer(await untilReads(1), 'pending');
  await expect.poll(() => shown.at(-1)).toEqual(['pending', 'live']);
  change('signing');
  const earlier = await untilReads(2);
  change('transmitted');
  answer(await untilReads(3), 'transmitted');
  await expect.poll(() => shown.at(-1)).toEqual(['transmitted', 'live']);
  answer(earlier, 'signing');
  change('accepted');
  answer(await untilReads(4), 'accepted');
  await expect.poll(() => shown.at(-1)).toEqual(['accepted', 'final']);
  expect(shown.slice(-2)).toEqual([
    ['transmitted', 'live'],
    ['accepted', 'final'],
  ]);
});
