import { randomBytes } from 'node:crypto';
import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId, newId } from '../ids.ts';
import { MAX_ENDPOINTS, SECRET_OVERLAP } from '../limits.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { SecretBox } from '../secret-box.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { EndpointSecret, WebhookEndpoint } from './endpoint.ts';
import type { CreateEndpointInput, UpdateEndpointInput } from './endpoint-input.ts';
import type { DeliveryLedger, EndpointRepository } from './ports.ts';

/** An endpoint with its new secret, which is shown only in this answer. */
export interface CreatedEndpoint {
  readonly endpoint: WebhookEndpoint;
  /** `whsec_…` */
  readonly secret: string;
}

/**
 * The use cases of webhook endpoints (docs/api/contract.md, "POST /v1/webhook_endpoints" and the following). All
 * require a secret key and are limited to its tenant and environment.
 * @throws {ServiceError} insufficient_scope; resource_not_found for an endpoint that is unknown or belongs to another
 *   tenant or environment
 */
export interface ManageEndpoints {
  /**
   * @throws {ServiceError} invalid_request for a URL that the installation does not allow, such as http://;
   *   endpoint_limit_reached
   */
  create(principal: Principal, input: CreateEndpointInput): Promise<CreatedEndpoint>;
  /** Newest first. */
  list(principal: Principal): Promise<WebhookEndpoint[]>;
  /** @param param the name of the client's argument for errors; default `id` */
  find(principal: Principal, endpointId: string, param?: EndpointParam): Promise<WebhookEndpoint>;
  /** Changes the fields that the input contains. @throws {ServiceError} invalid_request as for `create` */
  update(principal: Principal, endpointId: string, input: UpdateEndpointInput): Promise<WebhookEndpoint>;
  /**
   * Makes a new secret, which is shown only in this answer. The former secrets also sign for another `overlapSeconds`,
   * from 0 to the maximum of {@link SECRET_OVERLAP}; null: its default.
   * @throws {ServiceError} invalid_request for an overlap outside this range
   */
  rotateSecret(principal: Principal, endpointId: string, overlapSeconds: number | null): Promise<CreatedEndpoint>;
  delete(principal: Principal, endpointId: string): Promise<void>;
}

/** The names of the arguments that select an endpoint. */
type EndpointParam = 'id' | 'endpointId';

/** Maximum number of valid secrets: each adds a signature to the headers of every delivery. */
const MAX_SECRETS = 5;
/** Number of deliveries that one update cancels. */
const CANCEL_LIMIT = 500;

export interface ManageParts {
  readonly endpoints: EndpointRepository;
  readonly deliveries: Pick<DeliveryLedger, 'cancelPending'>;
  readonly dispatcher: Pick<Dispatcher, 'endpointChanged'>;
  readonly secretBox: SecretBox;
  readonly audit: Audit;
  /** The reason why the sender does not allow a URL; null if it does (with ALLOW_INSECURE_WEBHOOKS: always). */
  readonly refusalOf: (url: URL) => string | null;
}

export function createManageEndpoints(parts: ManageParts): ManageEndpoints {
  const { endpoints, deliveries, dispatcher, secretBox, audit, refusalOf } = parts;
  return {
    async create(principal, input) {
      const owner = requireScope(principal, 'operate');
      const { tenant, environment } = owner;
      requireAllowedUrl(input.url, environment);
      const id = newId('we');
      const secret = newEndpointSecret();
      const createdAt = new Date();
      const endpoint: WebhookEndpoint = {
        id,
        tenantId: tenant.id,
        environment,
        url: input.url,
        description: input.description ?? null,
        events: input.events,
        active: true,
        timesDisabled: 0,
        secrets: [{ sealed: secretBox.seal(secret, id), createdAt, expiresAt: null }],
        createdAt,
        updatedAt: createdAt,
        failingSince: null,
      };
      if (!(await endpoints.insert(endpoint))) {
        throw serviceError(
          'endpoint_limit_reached',
          `There are already ${MAX_ENDPOINTS} webhook endpoints, which is the maximum. Delete one that is not used.`,
        );
      }
      await audit(entryBy(owner, 'webhook_endpoint.created', { subject: id, details: { host: hostOf(input.url) } }));
      return { endpoint, secret };
    },

    async list(principal) {
      const { tenant, environment } = requireScope(principal, 'read');
      return endpoints.list(tenant.id, environment);
    },

    async find(principal, endpointId, param = 'id') {
      const { tenant, environment } = requireScope(principal, 'read');
      const found = isId('we', endpointId) ? await endpoints.find(tenant.id, environment, endpointId) : null;
      return found ?? missing(endpointId, param);
    },

    async update(principal, endpointId, input) {
      const owner = requireScope(principal, 'operate');
      const { tenant, environment } = owner;
      const { url, events, description, active } = input;
      if (url !== undefined) requireAllowedUrl(url, environment);
      const changes = {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events }),
        ...(description !== undefined && { description }),
        ...(active !== undefined && { active }),
        updatedAt: new Date(),
      };
      const changed = isId('we', endpointId)
        ? await endpoints.update(tenant.id, environment, endpointId, changes)
        : null;
      if (!changed) return missing(endpointId, 'id');
      const fields = Object.keys(changes).filter((field) => field !== 'updatedAt');
      const details = {
        fields: fields.join(', '),
        ...(url !== undefined && { host: hostOf(url) }),
        ...(active !== undefined && { active: String(active) }),
      };
      // Before what follows, which may fail: the change stands.
      await audit(entryBy(owner, 'webhook_endpoint.updated', { subject: endpointId, details }));
      dispatcher.endpointChanged(endpointId);
      if (active === false) await cancelDeliveries(endpointId);
      return changed;
    },

    async rotateSecret(principal, endpointId, overlapSeconds) {
      const owner = requireScope(principal, 'operate');
      const { tenant, environment } = owner;
      const seconds = overlapSeconds ?? SECRET_OVERLAP.default;
      if (seconds < 0 || seconds > SECRET_OVERLAP.most) {
        throw serviceError(
          'invalid_request',
          `overlapSeconds must be from 0 to ${SECRET_OVERLAP.most}.`,
          'overlapSeconds',
        );
      }
      const secret = newEndpointSecret();
      const sealed = secretBox.seal(secret, endpointId);
      for (;;) {
        const present = isId('we', endpointId) ? await endpoints.find(tenant.id, environment, endpointId) : null;
        if (!present) return missing(endpointId, 'endpointId');
        const secrets = rotated(present.secrets, sealed, new Date(), seconds * 1000);
        const endpoint = await endpoints.replaceSecrets(endpointId, present.secrets, secrets);
        // Another rotation intervened: the loop repeats on its result, so that both new secrets sign.
        if (!endpoint) continue;
        dispatcher.endpointChanged(endpointId);
        const details = { overlapSeconds: String(seconds) };
        await audit(entryBy(owner, 'webhook_endpoint.secret_rotated', { subject: endpointId, details }));
        return { endpoint, secret };
      }
    },

    async delete(principal, endpointId) {
      const owner = requireScope(principal, 'operate');
      const { tenant, environment } = owner;
      const deleted = isId('we', endpointId) && (await endpoints.delete(tenant.id, environment, endpointId));
      if (!deleted) missing(endpointId, 'id');
      await audit(entryBy(owner, 'webhook_endpoint.deleted', { subject: endpointId }));
      dispatcher.endpointChanged(endpointId);
      await cancelDeliveries(endpointId);
    },
  };

  /** Cancels pending deliveries. The dispatcher cancels those that are stored meanwhile, see `timesDisabled`. */
  async function cancelDeliveries(endpointId: string): Promise<void> {
    while ((await deliveries.cancelPending(endpointId, CANCEL_LIMIT)) === CANCEL_LIMIT);
  }

  function requireAllowedUrl(url: string, environment: Environment): void {
    const refusal = refusalOf(new URL(url));
    if (refusal === null) return;
    const hint =
      environment === 'test'
        ? ' To receive events on your own machine, run npm run -s cli -- listen --forward-to URL --key KEY, or start your own service with ALLOW_INSECURE_WEBHOOKS=true.'
        : '';
    throw serviceError('invalid_request', `url is not allowed: ${refusal}.${hint}`, 'url');
  }
}

/** The host of a URL. Its path may contain a secret of the receiver, which no audit entry shows. */
function hostOf(url: string): string {
  return new URL(url).host;
}

/** `whsec_` and standard base64 of 32 random bytes (docs/decisions/0025). */
function newEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The secrets after a rotation, newest first. Former ones expire after the overlap, or earlier if already set so. */
function rotated(present: readonly EndpointSecret[], sealed: string, now: Date, overlapMs: number): EndpointSecret[] {
  const end = new Date(now.getTime() + overlapMs);
  const former = present
    .map((each) => ({ ...each, expiresAt: each.expiresAt && each.expiresAt < end ? each.expiresAt : end }))
    .filter(({ expiresAt }) => expiresAt > now);
  return [{ sealed, createdAt: now, expiresAt: null }, ...former.slice(0, MAX_SECRETS - 1)];
}

function missing(endpointId: string, param: EndpointParam): never {
  throw serviceError(
    'resource_not_found',
    `There is no webhook endpoint '${endpointId.slice(0, 80)}' in this tenant and environment.`,
    param,
  );
}
