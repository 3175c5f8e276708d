import { it } from 'vitest';
import { runWebhookChaos } from '../support/webhook-chaos.ts';
import { expectEveryDelivery } from '../support/webhook-chaos-verdict.ts';

it('ten times kill -9 among 60 invoices and nine receivers, eight of which misbehave', {
  timeout: 600_000,
}, async ({ signal }) => {
  const outcome = await runWebhookChaos({ invoices: 60, kills: 10, slow: true, patienceMs: 300_000, signal });
  expectEveryDelivery(outcome, 60, 400);
});
