import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type BreakerState,
  beginning,
  failed,
  probeClaimed,
  probed,
  trialClaimed,
} from '../../src/domain/authority/breaker.ts';
import type { AuthorityStateStore } from '../../src/domain/authority/state.ts';
import { createAuthorityStateStore } from '../../src/storage/authority-state.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import type { Store } from '../../src/storage/connect.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
/** Two processes. */
let [one, two]: AuthorityStateStore[] = [];

beforeAll(async () => {
  store = await openTestStore('authority_state');
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.db.collection('authority_state').deleteMany({});
  one = createAuthorityStateStore(store.db);
  two = createAuthorityStateStore(store.db);
});

const at = (seconds: number) => new Date(Date.parse('2026-11-01T08:00:00Z') + seconds * 1000);
const both = () => [one, two] as [AuthorityStateStore, AuthorityStateStore];

function fail(process: AuthorityStateStore, invoiceId: string) {
  return process.update((state: BreakerState) => {
    const after = failed(state, { invoiceId, at: at(0), began: beginning(state, false), retryAfterMs: null });
    return { next: after.state, result: after.state.lastFailure };
  });
}

it('is closed at first, also when two processes read it at the same time', async () => {
  const [a, b] = await Promise.all(both().map((each) => each.read()));
  expect(a).toMatchObject({ breaker: { phase: 'closed', opened: 0 }, pause: null, notBefore: null });
  expect(b).toEqual(a);
});

it('numbers the failures of all processes without gaps, and opens the breaker once', async () => {
  const numbers = await Promise.all(
    Array.from(
      { length: 24 },
      async (_, i) => (await fail(both()[i % 2] as AuthorityStateStore, `inv_${i % 4}`)).result,
    ),
  );
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
  expect((await two!.read()).breaker).toMatchObject({ phase: 'open', opened: 1, lastFailure: 24 });
});

it('gives a probe, and the trial after it, to one process', async () => {
  for (let i = 0; i < 5; i++) await fail(one!, `inv_${i}`);
  const claims = async (transition: (state: BreakerState) => BreakerState | null) => {
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        (both()[i % 2] as AuthorityStateStore).update((state) => {
          const next = transition(state);
          return { next, result: next !== null };
        }),
      ),
    );
    return results.filter(({ result }) => result).length;
  };
  expect(await claims((state) => probeClaimed(state, at(5), 60_000))).toBe(1);
  await one!.update((state) => ({ next: probed(state, at(6), true), result: null }));
  expect(await claims((state) => trialClaimed(state, at(7), 60_000))).toBe(1);
});

it('a change of the breaker keeps a pause and a wait, and they keep it', async () => {
  await fail(one!, 'inv_1');
  const pause = { by: 'me', reason: 'maintenance', since: at(1) };
  const until = new Date(Date.now() + 60_000);
  await Promise.all([two!.pause(pause), one!.postpone(until)]);
  await fail(two!, 'inv_2');
  const state = await one!.read();
  expect(state).toMatchObject({ pause, notBefore: until, breaker: { lastFailure: 2 } });
  expect(await one!.resume()).toEqual(pause);
  expect(await one!.resume()).toBeNull();
  expect((await two!.read()).breaker.lastFailure).toBe(2);
});

it('a wait is only prolonged, unless a clock that was set back made it too long', async () => {
  const inMs = (ms: number) => new Date(Date.now() + ms);
  const long = inMs(50_000);
  await one!.postpone(long);
  await two!.postpone(inMs(1000));
  expect((await one!.read()).notBefore).toEqual(long);
  await one!.postpone(inMs(1e9));
  const short = inMs(1000);
  await two!.postpone(short);
  expect((await one!.read()).notBefore).toEqual(short);
});

it('a heartbeat tells what a worker transmits, and an old one is removed only if its worker has sent no other', async () => {
  const members = createClaimMembers(store.db);
  expect(await members.heartbeat({ id: 'w1', at: at(1), inFlight: 0 })).toEqual([{ id: 'w1', at: at(1), inFlight: 0 }]);
  await members.heartbeat({ id: 'w2', at: at(2) });
  await members.heartbeat({ id: 'w1', at: at(9), inFlight: 4 });
  await members.forget('w1', at(1));
  expect(await members.list()).toEqual([
    { id: 'w1', at: at(9), inFlight: 4 },
    { id: 'w2', at: at(2) },
  ]);
  await members.forget('w1', at(9));
  await members.forget('w2', null);
  expect(await members.list()).toEqual([]);
});
