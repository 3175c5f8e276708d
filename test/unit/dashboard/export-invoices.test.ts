import type { Client } from '@urql/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { exportInvoices } from '../../../src/dashboard/invoices/export-invoices.ts';
import { filterOf } from '../../../src/dashboard/invoices/invoice-filter.ts';
import { TEXTS } from '../../../src/dashboard/text/texts.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const node = (id: string) => ({
  id,
  number: id,
  status: 'accepted',
  createdAt: '2026-11-23T12:00:00Z',
  amount: 112,
  currency: 'MAD',
  dgiId: null,
  customer: { name: 'A', ice: '1', country: null, taxNumber: null },
  totals: { subtotal: 110, taxTotal: 1, total: 111 },
});
const page = (id: string, next: string | null, changes = {}) => ({
  data: {
    fiscalDocuments: {
      nodes: [{ ...node(id), ...changes }],
      pageInfo: { hasNextPage: next !== null, endCursor: next },
    },
  },
});
const failed = (status: number, headers: Record<string, string> = {}) => ({
  error: { response: new Response(null, { status, headers }), graphQLErrors: [] },
});

/** Exports from a service that gives these answers, one after the other; the last one again and again. */
function exportFrom(answers: readonly object[]) {
  const asked: unknown[] = [];
  const end = new AbortController();
  const client = {
    query(_document: unknown, variables: { after: string | null }) {
      const answer = answers[Math.min(asked.push(variables.after) - 1, answers.length - 1)];
      return { toPromise: async () => answer };
    },
  } as unknown as Client;
  const done = exportInvoices(client, {
    filter: filterOf({}),
    language: 'en',
    texts: TEXTS.en,
    onProgress: () => undefined,
    signal: end.signal,
  }).then(
    async (file) => (file ? (await file.text()).trim().split('\r\n') : null),
    () => 'failed',
  );
  return { asked, end, done };
}

it('has columns of amounts that add up, a rounding included', async () => {
  const { done } = exportFrom([page('a', null)]);
  await vi.advanceTimersByTimeAsync(5000);
  const [head = '', line = ''] = (await done) as string[];
  const amounts = head.indexOf(TEXTS.en.subtotal);
  expect(head.slice(amounts)).toMatch(/^Total excl\. VAT,VAT,Total incl\. VAT,Rounding,Amount due,/);
  expect(line).toContain(',1.10,0.01,1.11,0.01,1.12,,MAD,');
  expect(line.split(',')).toHaveLength(head.split(',').length);
});

it('states the kind of each document, and amounts of credit notes as negative', async () => {
  const { done } = exportFrom([page('crn_a', null)]);
  await vi.advanceTimersByTimeAsync(5000);
  const [, line = ''] = (await done) as string[];
  expect(line).toContain('crn_a,Credit note,');
  expect(line).toContain(',-1.10,-0.01,-1.11,-0.01,-1.12,,MAD,');
});

it('tells deposits from other invoices, and states where customers abroad are', async () => {
  const customer = { name: 'Leroy SA', ice: null, country: 'FR', taxNumber: 'FR12345678901' };
  const { done } = exportFrom([page('inv_a', null, { isDeposit: true, customer })]);
  await vi.advanceTimersByTimeAsync(5000);
  const [head = '', line = ''] = (await done) as string[];
  expect(head).toContain(',ICE,Country,Tax number,');
  expect(line).toContain('inv_a,Deposit invoice,');
  expect(line).toContain(',Leroy SA,,FR,FR12345678901,1.10,');
});

it('states what the buyer withholds of the VAT', async () => {
  const { done } = exportFrom([page('inv_a', null, { isDeposit: false, netToPay: 111 }), page('crn_b', null)]);
  await vi.advanceTimersByTimeAsync(5000);
  const [head = '', ...lines] = (await done) as string[];
  expect(head).toContain(',Amount due,VAT withheld by the buyer,Currency,');
  expect(lines[0]).toContain(',1.12,0.01,MAD,');
});

it('reads page after page', async () => {
  const { asked, done } = exportFrom([page('a', 'a'), page('b', 'b'), page('c', null)]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toEqual([null, 'a', 'b']);
  expect((await done) as string[]).toHaveLength(1 + 3);
});

it('waits as long as the limit of requests says, however often', async () => {
  const limited = failed(429, { 'Retry-After': '40' });
  const { asked, done } = exportFrom([page('a', 'a'), ...Array(10).fill(limited), page('b', null)]);
  await vi.advanceTimersByTimeAsync(39_000);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(400_000);
  expect(asked).toHaveLength(12);
  expect((await done) as string[]).toHaveLength(1 + 2);
});

it('survives short failures, and gives up after long ones and refusals', async () => {
  const short = exportFrom([failed(503), failed(503), page('a', null)]);
  const long = exportFrom([failed(503)]);
  const refused = exportFrom([failed(403)]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect((await short.done) as string[]).toHaveLength(1 + 1);
  expect([await long.done, long.asked.length]).toEqual(['failed', 6]);
  expect([await refused.done, refused.asked.length]).toEqual(['failed', 1]);
});

it('ends without a file when it is stopped', async () => {
  const { asked, end, done } = exportFrom([page('a', 'a')]);
  await vi.advanceTimersByTimeAsync(1000);
  end.abort();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await done).toBe(null);
  const { length } = asked;
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveLength(length);
});
