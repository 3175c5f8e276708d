import { expect, it } from 'vitest';
import { flawsOfOutage, runLiveOutage } from '../support/live-outage.ts';

it('an outage of 150 s with 500 waiting burns no attempt; they are drained at the concurrency, fairly', async ({
  signal,
}) => {
  // Probes are a minute apart at the end.
  const plan = { big: 480, small: 20, concurrency: 8, outageMs: 150_000, answerMs: 500, signal };
  expect(flawsOfOutage(plan, await runLiveOutage(plan))).toEqual([]);
});
