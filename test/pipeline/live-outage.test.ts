import { expect, it } from 'vitest';
import { flawsOfOutage, runLiveOutage } from '../support/live-outage.ts';

// The real service in a process of its own, over HTTPS against the simulator. Longer ones are in test/long.

it('an outage with 40 waiting burns no attempt; they are drained at the concurrency, fairly', async ({ signal }) => {
  const plan = { big: 37, small: 3, concurrency: 4, outageMs: 3000, answerMs: 500, signal };
  expect(flawsOfOutage(plan, await runLiveOutage(plan))).toEqual([]);
}, 180_000);
