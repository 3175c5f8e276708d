import { MINUTE_MS } from '../durations.ts';
import type { EventType } from '../event.ts';
import type { Environment } from '../tenant/tenant.ts';

/** Where a tenant receives events (docs/api/contract.md, "Webhook endpoint"). */
export interface WebhookEndpoint {
  /** Prefix we_. */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  /** As the client wrote it. */
  readonly url: string;
  readonly description: string | null;
  /** The subscribed types: at least one, each once. */
  readonly events: readonly EventType[];
  /** An inactive endpoint receives no deliveries. */
  readonly active: boolean;
  /** Number of updates that disabled it. A delivery that was made before the last one is not sent. */
  readonly timesDisabled: number;
  /** Newest first, at least one; each valid one signs every delivery. */
  readonly secrets: readonly EndpointSecret[];
  readonly createdAt: Date;
  /** When the client last changed it. */
  readonly updatedAt: Date;
  /** The first failure since the last success; null if there is none. */
  readonly failingSince: Date | null;
}

/** How long every attempt must have failed until an endpoint counts as failing, milliseconds. */
export const FAILING_AFTER_MS = 30 * MINUTE_MS;

/** Whether every attempt has failed for {@link FAILING_AFTER_MS}. The service never disables an endpoint for that. */
export function isFailing({ active, failingSince }: Pick<WebhookEndpoint, 'active' | 'failingSince'>, now: Date) {
  return active && failingSince !== null && now.getTime() - failingSince.getTime() >= FAILING_AFTER_MS;
}

/** A signing secret at rest. */
export interface EndpointSecret {
  /** Opened by `SecretBox` with the endpoint's id. The secret is `whsec_` and standard base64 of 32 bytes. */
  readonly sealed: string;
  readonly createdAt: Date;
  /** When it stops signing; null for the current secret. */
  readonly expiresAt: Date | null;
}
