import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchOf } from '../../src/domain/invoice/search/query.ts';
import type { Store } from '../../src/storage/connect.ts';
import { invoicesOf } from '../support/invoices.ts';
import { answerer, questionsAbout } from '../support/search-questions.ts';
import { type Searchable, storeSearchable } from '../support/searchable-invoices.ts';
import { openTestStore } from '../support/store.ts';

const OWNER = { tenantId: 'ten_searched', environment: 'test' } as const;
const COUNT = 100_000;
const LIMIT = 25;

let store: Store;
let all: readonly Searchable[];

beforeAll(async () => {
  store = await openTestStore('search');
  all = await storeSearchable(store.db, OWNER, COUNT);
}, 600_000);
afterAll(() => store.close());

it('200 searches of 100,000 invoices find what a comparison of all finds, each page in 100 ms', async () => {
  const answer = answerer(all);
  const places = new Map(all.map(({ id }, place) => [id, place]));
  const times: { readonly ms: number; readonly text: string }[] = [];
  let stopped = 0;
  // The first searches find the connection and the code cold.
  const questions = [...questionsAbout(all, 20), ...questionsAbout(all, 220).slice(20)];
  for (const [nth, { text, kind, status }] of questions.entries()) {
    const asked = { ...OWNER, kind, status, match: null, limit: LIMIT, createdFrom: null, createdUntil: null };
    const began = performance.now();
    const page = await invoicesOf(store.db).page({ ...asked, cursor: null, search: searchOf(text) });
    if (nth >= 20) times.push({ ms: performance.now() - began, text });
    const ids = page.invoices.map(({ id }) => id);
    const expected = answer({ text, kind, status });
    if (page.stoppedAt === undefined) {
      expect({ text, ids }).toEqual({ text, ids: expected.slice(0, LIMIT) });
      expect(page.hasMore).toBe(expected.length > LIMIT);
    } else {
      stopped++;
      const until = places.get(page.stoppedAt) ?? 0;
      expect({ text, ids }).toEqual({ text, ids: expected.filter((id) => (places.get(id) ?? 0) <= until) });
    }
  }
  times.sort((a, b) => a.ms - b.ms);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1];
  console.info({ p50: at(0.5), p90: at(0.9), p99: at(0.99), slowest: times.slice(-6), stopped });
  expect(at(0.99)?.ms).toBeLessThan(100);
  expect(stopped).toBeLessThanOrEqual(times.length / 20);
});
