import { EventEmitter } from 'node:events';
import type { MongoClient } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { storeAheadMs, storeClock, watchStoreClock } from '../../src/storage/store-clock.ts';

const HOUR_MS = 3_600_000;

/** A client whose server answers with its clock this much ahead. */
function clientOf() {
  const client = new EventEmitter() as EventEmitter & MongoClient;
  const answer = (aheadMs: number, changes: object = {}) =>
    client.emit('serverHeartbeatSucceeded', {
      duration: 0,
      awaited: true,
      reply: { localTime: new Date(Date.now() + aheadMs), isWritablePrimary: true },
      ...changes,
    });
  return { client, answer };
}

it('is the time of this machine where the store agrees with it, and for a store on this machine', () => {
  const { client, answer } = clientOf();
  expect(storeAheadMs(client)).toBe(0);
  watchStoreClock(client);
  expect(storeAheadMs(client)).toBe(0);
  for (const ms of [0, 2000, -2000]) {
    answer(ms);
    expect(storeAheadMs(client)).toBe(0);
  }
});

it.each([120_000, -120_000, HOUR_MS, -HOUR_MS])('is the time of a store that is %i ms ahead', (aheadMs) => {
  const { client, answer } = clientOf();
  watchStoreClock(client);
  answer(aheadMs);
  expect(Math.abs(storeAheadMs(client) - aheadMs)).toBeLessThan(1000);
  expect(Math.abs(storeClock(client)().getTime() - Date.now() - aheadMs)).toBeLessThan(1000);
  // The time of another server of the set does not count, nor an answer that was read late.
  answer(0, { reply: { localTime: new Date(), isWritablePrimary: false } });
  answer(aheadMs - 2000);
  expect(Math.abs(storeAheadMs(client) - aheadMs)).toBeLessThan(1000);
  answer(0);
  expect(storeAheadMs(client)).toBe(0);
});

it('does not follow the clock of this machine when that is set', () => {
  const { client, answer } = clientOf();
  watchStoreClock(client);
  answer(0);
  const before = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: before + HOUR_MS });
  try {
    expect(Math.abs(storeClock(client)().getTime() - before)).toBeLessThan(1000);
  } finally {
    vi.useRealTimers();
  }
});
