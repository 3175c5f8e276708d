import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Draft, DraftStore } from '../../src/domain/invoice/drafts/draft.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createDraftStore } from '../../src/storage/drafts.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let drafts: DraftStore;
beforeAll(async () => {
  store = await openTestStore('drafts');
  drafts = createDraftStore(store.db);
});
afterAll(() => store.close());

const BY = { kind: 'key', id: 'key_1', name: null } as const;
const LATER = new Date(Date.now() + 60_000);

function stored(changes: Partial<Draft> = {}): Promise<Draft> {
  const moment = newCreationMoment();
  const owner = { tenantId: newId('ten'), environment: 'test' } as const;
  const written = { version: 1, content: '{"a.b":{"$set":1}}', updatedAt: moment.createdAt, updatedBy: BY };
  return drafts.insert({ id: newId('drf'), ...owner, ...moment, ...written, issuingUntil: null, ...changes });
}
const change = (version: number) => ({ version, content: `{"v":${version}}`, updatedAt: new Date(), updatedBy: BY });

it('a draft is found as it was stored', async () => {
  const draft = await stored();
  expect(await drafts.find(draft.id)).toEqual(draft);
  expect(await drafts.find(newId('drf'))).toBeNull();
});

it('of twenty changes of one version one is made', async () => {
  const draft = await stored();
  const made = await Promise.all(Array.from({ length: 20 }, () => drafts.change(draft, change(2))));
  expect(made.filter((each) => each !== null)).toEqual([await drafts.find(draft.id)]);
});

it('what is held is changed and removed only by who has read that, and a change ends it', async () => {
  const draft = await stored();
  expect(await drafts.hold(draft.id, 2, LATER)).toBe(false);
  expect(await drafts.hold(draft.id, 1, LATER)).toBe(true);
  expect(await drafts.change(draft, change(2))).toBeNull();
  expect(await drafts.remove(draft)).toBe(false);
  // Whoever holds it for less changes nothing.
  expect(await drafts.hold(draft.id, 1, new Date())).toBe(true);
  const held = await drafts.find(draft.id);
  expect(held).toEqual({ ...draft, issuingUntil: LATER });
  expect(await drafts.change(held as Draft, change(2))).toMatchObject({ version: 2, issuingUntil: null });
  expect(await drafts.hold(draft.id, 1, LATER)).toBe(false);
});

it('what is released can be changed', async () => {
  const draft = await stored();
  await drafts.hold(draft.id, 1, LATER);
  await drafts.release(draft.id, 2);
  expect(await drafts.change(draft, change(2))).toBeNull();
  await drafts.release(draft.id, 1);
  expect(await drafts.change(draft, change(2))).toMatchObject({ version: 2 });
});

it('an issued draft is removed, and no later version of it', async () => {
  const draft = await stored();
  await drafts.removeIssued(draft.id, 2);
  expect(await drafts.find(draft.id)).toEqual(draft);
  await drafts.hold(draft.id, 1, LATER);
  await drafts.removeIssued(draft.id, 1);
  expect(await drafts.find(draft.id)).toBeNull();
});

it('drafts are counted up to a limit, for each tenant and environment', async () => {
  const { tenantId } = await stored();
  for (let nth = 0; nth < 3; nth++) await stored({ tenantId });
  await stored({ tenantId, environment: 'live' });
  const count = (environment: 'test' | 'live', limit: number) => drafts.count({ tenantId, environment }, limit);
  expect([await count('test', 9), await count('test', 2), await count('live', 9)]).toEqual([4, 2, 1]);
});
