import { expect, it } from 'vitest';
import { createMonitored } from '../../../src/app/monitored.ts';

function monitored() {
  const state = { trouble: null as string | null, hasBegun: false, hash: 'a', reads: 0 };
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
  return { state, ...createMonitored(closing, installation, { trouble: async () => state.trouble }) };
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
