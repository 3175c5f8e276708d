import { createWebhookSender, type WebhookHttpSender } from '../adapters/webhook-http/webhook-sender.ts';

/** Creates a webhook sender like the service's, which may also call receivers on this machine. */
export function localSender(): WebhookHttpSender {
  return createWebhookSender({ allowInsecure: true });
}
