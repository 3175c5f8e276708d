import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/app/metrics.ts';
import { memoryState } from '../../support/live-world.ts';

it('the state of the live authority is read at each exposition, and is absent while the store is away', async () => {
  const metrics = createMetrics();
  const state = memoryState();
  let isAway = false;
  const orAway = async <T>(value: T): Promise<T> => {
    if (isAway) throw new Error('away');
    return value;
  };
  metrics.transmission({ read: () => orAway(state.current) });
  const values = async () =>
    Object.fromEntries(
      [...(await metrics.exposition()).text.matchAll(/^fatoura_authority_(\w+) (\d+)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
  expect(await values()).toEqual({ breaker_open: 0, paused: 0, outages: 0 });
  await state.pause({ by: 'me', reason: null, since: new Date() });
  await state.update((breaker) => ({ next: { ...breaker, phase: 'open', opened: 3 }, result: null }));
  expect(await values()).toMatchObject({ breaker_open: 1, paused: 1, outages: 3 });
  isAway = true;
  expect(await values()).toEqual({});
});
