import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { changeRing, newRing, openRing, sealedBy, withNewKey } from '../../src/domain/installation/key-ring.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createKeyRingStore } from '../../src/storage/key-ring.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let store: Store;
beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('key_ring'));
});
beforeEach(async () => {
  await store.db.collection('installation').deleteMany({});
});
afterAll(async () => {
  await store?.db.dropDatabase();
  await store?.close();
  await mongo?.close();
});

const [OLD, NOW] = [randomBytes(32), new Date()];

it('of many processes that start at once, one stores its ring, and all get that one', async () => {
  const rings = Array.from({ length: 16 }, () => newRing(OLD, NOW));
  const told = await Promise.all(rings.map((ring) => createKeyRingStore(store.db).keep(ring)));
  const stored = await createKeyRingStore(store.db).read();
  for (const ring of told) expect(ring).toEqual(stored);
  expect(rings).toContainEqual(stored);
});

it('of many operators who rotate at once, with keys of their own, one succeeds, and the ring opens with that key', async () => {
  const rings = createKeyRingStore(store.db);
  const first = await rings.keep(newRing(OLD, NOW));
  const masters = Array.from({ length: 8 }, () => randomBytes(32));
  const outcomes = await Promise.allSettled(
    masters.map((master) =>
      changeRing(createKeyRingStore(store.db), (ring) =>
        sealedBy(ring, { openers: [master, OLD], master, now: NOW, mayLose: false }),
      ),
    ),
  );
  const winners = outcomes.flatMap(({ status }, place) => (status === 'fulfilled' ? [place] : []));
  expect(winners).toHaveLength(1);
  const stored = await rings.read();
  const winner = masters[winners[0] ?? -1] ?? OLD;
  if (!stored) throw new Error('no ring');
  const bytes = (ring: typeof stored, master: Uint8Array) =>
    openRing(ring, master).data.map(({ secret }) => secret.export());
  expect(bytes(stored, winner)).toEqual(bytes(first, OLD));
});

it('of many operators who add a data key at once, one does, and none overwrites a change of another', async () => {
  const rings = createKeyRingStore(store.db);
  await rings.keep(newRing(OLD, NOW));
  const add = (purpose: 'data' | 'sessions') =>
    changeRing(rings, (ring) => withNewKey(ring, purpose, { master: OLD, now: NOW, earlierEndAt: null }));
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => add(n % 2 ? 'data' : 'sessions')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  const stored = await rings.read();
  expect(stored?.keys.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(stored?.revision).toBe(3);
});
