import { expect, it } from 'vitest';
import { createMonitored } from '../../../src/app/monitored.ts';
import { createWorkers } from '../../../src/app/workers.ts';
import { readinessOf } from '../../../src/transport/readiness.ts';

function monitored() {
  const state = { trouble: null as string | null, hasBegun: false, hash: 'a', reads: 0, workers: 1 };
  const installation = {
    async operatorHash() {
      state.reads++;
      if (state.trouble !== null) throw new Error(state.trouble);
      return state.hash;
    },
  };
  const closing = {
    get hasBegun() {
      return state.hasBegun;
    },
  };
  const workers = { count: async () => state.workers };
  return { state, ...createMonitored(closing, installation, { trouble: async () => state.trouble }, workers) };
}

it('a process is not ready during an outage of the store, unless that does not count, and from the begin of its stop', async () => {
  const { state, ready } = monitored();
  expect([await ready(true), await ready(false)]).toEqual([null, null]);
  state.trouble = 'the store is away';
  expect([await ready(true), await ready(false)]).toEqual(['the store is away', null]);
  state.hasBegun = true;
  expect([await ready(true), await ready(false)]).toEqual(Array(2).fill('the service is shutting down'));
});

it("the operator's password is read each time, and remembered during an outage of the store", async () => {
  const { state, operatorHash } = monitored();
  state.trouble = 'the store is away';
  await expect(operatorHash()).rejects.toThrow('away');
  state.trouble = null;
  expect(await operatorHash()).toBe('a');
  state.hash = 'b';
  expect(await operatorHash()).toBe('b');
  state.trouble = 'the store is away';
  expect(await operatorHash()).toBe('b');
});

it('without a worker a process is ready, and says that everything waits', async () => {
  const { state, ready, warnings } = monitored();
  const asked = async (query: string) => (await readinessOf({ ready, warnings }, new URLSearchParams(query))).body;
  expect(await asked('')).toEqual({ status: 'ready' });
  state.workers = 0;
  expect(await asked('')).toEqual({
    status: 'ready',
    warnings: [expect.stringMatching(/^no worker runs: .*ROLE=worker/)],
  });
  expect(await asked('exclude=store')).toEqual({ status: 'ready' });
});

it('a process whose clock is two minutes behind counts the workers by the clock of the store', async () => {
  const ahead = () => new Date(Date.now() + 120_000);
  const members = { list: async () => [{ id: 'w', at: ahead() }] };
  expect(await createWorkers(members, false, ahead).count()).toBe(1);
});

it('workers are those with a heartbeat of the last 15 s, and this process if it is one', async () => {
  const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000);
  const beats = [1, 10, 60].map((seconds) => ({ id: `w${seconds}`, at: at(seconds) }));
  const count = (list: typeof beats, isWorker: boolean) => createWorkers({ list: async () => list }, isWorker).count();
  expect([await count(beats, true), await count(beats, false)]).toEqual([2, 2]);
  expect([await count([], true), await count([], false)]).toEqual([1, 0]);
});
