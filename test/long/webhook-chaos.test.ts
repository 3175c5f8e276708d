import { it } from 'vitest';
import { runWebhookChaos } from '../support/webhook-chaos.ts';
import { expectEveryDelivery } from '../support/webhook-chaos-verdict.ts';

it('eight times kill -9 among 20 invoices and nine receivers, eight of which misbehave', {
  timeout: 900_000,
}, async ({ signal }) => {
  const outcome = await runWebhookChaos({ invoices: 20, kills: 8, patienceMs: 600_000, signal });
  expectEveryDelivery(outcome, 20, 200);
});
