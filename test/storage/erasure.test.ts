import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { ErasureStore } from '../../src/domain/tenant-data/erasure.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { type Stored, storeErasable } from '../support/erasable.ts';
import { queryPlans } from '../support/query-plans.ts';
import { sampled } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let erasures: ErasureStore;
let plans: ReturnType<typeof queryPlans>;
let own: Stored;
const logo = newId('ten');

beforeAll(async () => {
  store = await openTestStore('erasure', true);
  erasures = createErasureStore(store.db);
  plans = queryPlans(store);
  for (let n = 0; n < 3; n++) await erasures.begin((await storeErasable(store.db, 20)).tenantId, new Date());
  await Promise.all([storeErasable(store.db, 20, logo), storeErasable(store.db, 20)]);
  own = await storeErasable(store.db, 20, logo);
  await erasures.begin(own.tenantId, new Date());
});
afterAll(() => store.close());

const LIMIT = 5;
/** What a statement may look at: what it is to find, and its neighbours at the ends of a range. */
const MOST = LIMIT * 2 + 2;
const owner = (environment: 'test' | 'live') => ({ tenantId: own.tenantId, environment });
const some = (ids: readonly string[]) => ids.slice(0, LIMIT);

describe('every query of an erasure has an index, and looks at nothing of other tenants', () => {
  it.each<[string, () => Promise<unknown>, number?]>([
    ['begin', () => erasures.begin(own.tenantId, new Date())],
    ['find', () => erasures.find(own.tenantId)],
    ['pending', () => erasures.pending(null, 2)],
    ['pending, further ones', () => erasures.pending('ten_', 2)],
    ['counts', () => erasures.counts(own.tenantId), 40],
    ['blocked', () => erasures.blocked(own.tenantId, LIMIT), 20],
    ['removeEndpoints', () => erasures.removeEndpoints(own.tenantId, LIMIT)],
    ['removeDeliveries', () => erasures.removeDeliveries(own.tenantId, LIMIT)],
    [
      'removeRecords',
      async () => {
        while ((await erasures.removeRecords(own.tenantId, LIMIT)) > 0);
      },
    ],
    ['invoices, the first', () => erasures.invoices(owner('test'), null, LIMIT)],
    ['invoices, further ones', () => erasures.invoices(owner('test'), '~', LIMIT)],
    ['withhold', () => erasures.withhold(some(own.live), new Date())],
    ['detach', () => erasures.detach(some(own.test), null, new Date())],
    ['removeInvoices', () => erasures.removeInvoices(owner('test'), some(own.test)), 4 * LIMIT],
    ['keepLegal', () => erasures.keepLegal(some(own.live), 10)],
    ['removePdfs', () => erasures.removePdfs(own.tenantId, LIMIT)],
    ['kept', () => erasures.kept(own.tenantId, null, LIMIT)],
    ['kept, further ones', () => erasures.kept(own.tenantId, 'inv_', LIMIT)],
    ['removeNumbers', () => erasures.removeNumbers(own.tenantId, 'test', LIMIT)],
    ['removeLogos', () => erasures.removeLogos(own.tenantId)],
    ['removePeople', () => erasures.removePeople(own.tenantId, LIMIT)],
    ['expired', () => erasures.expired({ year: 3000, retentionYears: 10 }, LIMIT)],
    ['expired, by a shorter setting only', () => erasures.expired({ year: 2030, retentionYears: 1 }, LIMIT)],
    ['removeExpired', () => erasures.removeExpired(some(own.live)), 4 * LIMIT],
    ['finish', () => erasures.finish(own.tenantId)],
  ])('%s', (_name, call, most = MOST) => plans.expectIndexed(call, most));

  it('removePdfs looks at no invoice whose PDF is gone, however many those are', async () => {
    const { tenantId, live } = await storeErasable(store.db, sampled(600));
    await erasures.begin(tenantId, new Date());
    await erasures.keepLegal(live, 10);
    const gone = sampled(300);
    expect(await erasures.removePdfs(tenantId, gone)).toBe(gone);
    await plans.expectIndexed(() => erasures.removePdfs(tenantId, LIMIT), MOST);
    await store.db.collection('kept_invoices').deleteMany({ tenantId });
  });
});

describe('what is kept', () => {
  it('is expired when both the retention period that was promised and the present one are over', async () => {
    const { tenantId, live } = await storeErasable(store.db, 1);
    await erasures.begin(tenantId, new Date());
    await erasures.keepLegal(live, 10);
    const [kept] = await erasures.kept(tenantId, null, 1);
    const issued = kept?.issueYear ?? 0;
    expect(kept?.keptThrough).toBe(issued + 10);
    const isExpired = async (after: number, retentionYears: number) => {
      const found = await erasures.expired({ year: issued + after, retentionYears }, 100);
      return found.some(({ id }) => id === kept?.id);
    };
    const limits = async () => [
      // A shorter setting, the same, and a longer one.
      await isExpired(10, 1),
      await isExpired(11, 1),
      await isExpired(10, 10),
      await isExpired(11, 10),
      await isExpired(20, 20),
      await isExpired(21, 20),
    ];
    expect(await limits()).toEqual([false, true, false, true, false, true]);
  });
});

describe('what is kept of a credit note', () => {
  it('is its kind and the invoice that it corrects, and not the reason in words', async () => {
    const { tenantId, live } = await storeErasable(store.db, 2);
    const original = { id: live[0] ?? '', number: '2026-000001', issueDate: '2026-01-31', dgiId: 'DGI' };
    const credit = { original, reason: 'other', note: 'Said by the buyer', rates: [], amount: 12_000 };
    await store.db.collection('invoices').updateOne({ _id: live[1] as never }, { $set: { credit } });
    await erasures.begin(tenantId, new Date());
    await erasures.keepLegal(live, 10);
    const kept = new Map((await erasures.kept(tenantId, null, 10)).map((each) => [each.id, each]));
    expect(kept.get(live[0] ?? '')).toMatchObject({ kind: 'invoice', original: null });
    expect(kept.get(live[1] ?? '')).toMatchObject({ kind: 'credit_note', original });
    const stored = await store.db.collection('kept_invoices').findOne({ _id: live[1] as never });
    expect(stored?.credit).toEqual({ original });
    expect(JSON.stringify(stored)).not.toContain('buyer');
    await store.db.collection('kept_invoices').deleteMany({ tenantId });
  });
});

describe('a logo', () => {
  const has = async (sha256: string) => (await store.db.collection('logos').findOne({ _id: sha256 as never })) !== null;
  async function withLogo(sha256: string): Promise<string> {
    return (await storeErasable(store.db, 1, sha256)).tenantId;
  }

  it('goes with the last tenant that has or had it', async () => {
    const sha256 = newId('ten');
    const [first, second] = [await withLogo(sha256), await withLogo(sha256)];
    const gone = async (tenantId: string) => {
      await erasures.begin(tenantId, new Date());
      await erasures.removeLogos(tenantId);
      await erasures.removeLogos(tenantId);
    };
    // Replaced, and still in the PDFs of earlier invoices.
    const tenants = createTenantRepository(store.db);
    await tenants.admitLogo(second, sha256, 50);
    await tenants.updateProfile(second, {});
    await gone(first);
    expect(await has(sha256)).toBe(true);
    await gone(second);
    expect(await has(sha256)).toBe(false);
  });
});
