import type { EventType } from '../event.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { EndpointSecret, WebhookEndpoint } from './endpoint.ts';

/** What an update may change. */
export type EndpointChanges = Partial<
  Pick<WebhookEndpoint, 'url' | 'description' | 'events' | 'active' | 'secrets' | 'updatedAt'>
>;

/** Where webhook endpoints are kept. Another tenant's or environment's is never found. Every method uses an index. */
export interface EndpointRepository {
  /**
   * Stores it unless its tenant has `MAX_ENDPOINTS` in this environment; the limit holds under concurrency.
   * @returns whether it was stored
   */
  insert(endpoint: WebhookEndpoint): Promise<boolean>;
  /** Newest first. */
  list(tenantId: string, environment: Environment): Promise<WebhookEndpoint[]>;
  /** The active endpoints of several tenants that subscribe to any of these types; in no order. */
  subscribed(
    tenantIds: readonly string[],
    environment: Environment,
    types: readonly EventType[],
  ): Promise<WebhookEndpoint[]>;
  find(tenantId: string, environment: Environment, endpointId: string): Promise<WebhookEndpoint | null>;
  /** Whoever's it is; for deliveries alone. */
  findAnyones(endpointId: string): Promise<WebhookEndpoint | null>;
  /** One atomic update. @returns the endpoint as changed */
  update(
    tenantId: string,
    environment: Environment,
    endpointId: string,
    changes: EndpointChanges,
  ): Promise<WebhookEndpoint | null>;
  /** Writes when failures began, unless they did before. @param tellAt when its tenant is to be told */
  noteFailure(endpointId: string, since: Date, tellAt: Date): Promise<void>;
  /** Forgets failures. */
  noteSuccess(endpointId: string): Promise<void>;
  /** Marks up to `limit` active endpoints as failing whose tenants are to be told by now; each is answered again only from `again` on. */
  takeFailing(now: Date, again: Date, limit: number): Promise<WebhookEndpoint[]>;
  /** Its tenant was told, and is not told again of the same failures. */
  toldOfFailing(endpointId: string): Promise<void>;
  /** Replaces the secrets unless they have changed since. @returns the endpoint as changed, null when it was not */
  replaceSecrets(
    endpointId: string,
    present: readonly EndpointSecret[],
    secrets: readonly EndpointSecret[],
  ): Promise<WebhookEndpoint | null>;
  /** @returns whether it was there */
  delete(tenantId: string, environment: Environment, endpointId: string): Promise<boolean>;
}
