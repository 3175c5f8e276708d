import { it } from 'vitest';
import { runWebhookChaos } from '../support/webhook-chaos.ts';
import { expectEveryDelivery } from '../support/webhook-chaos-verdict.ts';

// A short form of test/long/webhook-chaos.test.ts.

it('kill -9 and faulty receivers: every event reaches every endpoint, in order if the receiver is healthy', {
  timeout: 300_000,
}, async ({ signal }) => {
  const outcome = await runWebhookChaos({ invoices: 3, kills: 1, slow: false, patienceMs: 100_000, signal });
  expectEveryDelivery(outcome, 3, 40);
});
