import { createWebhookSender, type WebhookHttpSender } from '../adapters/webhook-http/webhook-sender.ts';

/** A webhook sender like the service's that also calls receivers on this machine. */
export function localSender(): WebhookHttpSender {
  return createWebhookSender({ allowInsecure: true });
}
