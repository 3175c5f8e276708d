import { randomBytes } from 'node:crypto';
import { serviceError } from '../errors.ts';
import { isId, newId } from '../ids.ts';
import { MAX_ENDPOINTS, SECRET_OVERLAP } from '../limits.ts';
import type { Member } from '../principal.ts';
import type { SecretBox } from '../secret-box.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
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

/** The names of the arguments that select an endpoint. */
type EndpointParam = 'id' | 'endpointId';

/** Maximum number of valid secrets: each adds a signature to the headers of every delivery. */
const MAX_SECRETS = 5;
/** Number of deliveries that one update cancels. */
const CANCEL_LIMIT = 500;

export interface EndpointNeeds {
  readonly endpoints: EndpointRepository;
  readonly deliveries: Pick<DeliveryLedger, 'cancelPending'>;
  readonly dispatcher: Pick<Dispatcher, 'endpointChanged'>;
  readonly secretBox: SecretBox;
  /** The reason why the sender does not allow a URL; null if it does (with ALLOW_INSECURE_WEBHOOKS: always). */
  readonly refusalOf: (url: URL) => string | null;
}

/**
 * The use cases of webhook endpoints (docs/api/contract.md, "POST /v1/webhook_endpoints" and the following). All are
 * limited to the caller's tenant and environment.
 * @throws {ServiceError} resource_not_found for an endpoint that is unknown or belongs to another tenant or environment
 */
export const ENDPOINT_USE_CASES = {
  /**
   * @throws {ServiceError} invalid_request for a URL that the installation does not allow, such as http://;
   *   endpoint_limit_reached
   */
  createWebhookEndpoint: {
    scope: 'operate',
    audit: { action: 'webhook_endpoint.created', description: 'A webhook endpoint was created.' },
    async run(
      { endpoints, secretBox, refusalOf }: EndpointNeeds,
      { by: { tenant, environment }, record }: Change,
      input: CreateEndpointInput,
    ): Promise<CreatedEndpoint> {
      requireAllowedUrl(refusalOf, input.url, environment);
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
      await record({ subject: id, details: { host: hostOf(input.url) } });
      return { endpoint, secret };
    },
  },

  /** Newest first. */
  webhookEndpoints: {
    scope: 'read',
    run: ({ endpoints }: EndpointNeeds, { by: { tenant, environment } }: Call): Promise<WebhookEndpoint[]> =>
      endpoints.list(tenant.id, environment),
  },

  /** @param param the name of the client's argument for errors; default `id` */
  webhookEndpoint: {
    scope: 'read',
    run: async (
      { endpoints }: EndpointNeeds,
      { by }: Call,
      endpointId: string,
      param: EndpointParam = 'id',
    ): Promise<WebhookEndpoint> => (await found(endpoints, by, endpointId)) ?? missing(endpointId, param),
  },

  /** Changes the fields that the input contains. @throws {ServiceError} invalid_request as for a creation */
  updateWebhookEndpoint: {
    scope: 'operate',
    audit: { action: 'webhook_endpoint.updated', description: 'A webhook endpoint was changed, disabled or enabled.' },
    async run(
      { endpoints, deliveries, dispatcher, refusalOf }: EndpointNeeds,
      { by: { tenant, environment }, record }: Change,
      endpointId: string,
      input: UpdateEndpointInput,
    ): Promise<WebhookEndpoint> {
      const { url, events, description, active } = input;
      if (url !== undefined) requireAllowedUrl(refusalOf, url, environment);
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
      // Recorded before the next steps, which may fail: the change remains.
      await record({ subject: endpointId, details });
      dispatcher.endpointChanged(endpointId);
      if (active === false) await cancelDeliveries(deliveries, endpointId);
      return changed;
    },
  },

  /**
   * Makes a new secret, which is shown only in this answer. The former secrets also sign for another `overlapSeconds`,
   * from 0 to the maximum of {@link SECRET_OVERLAP}; null: its default.
   * @throws {ServiceError} invalid_request for an overlap outside this range
   */
  rotateWebhookSecret: {
    scope: 'operate',
    audit: { action: 'webhook_endpoint.secret_rotated', description: 'A webhook endpoint got a new secret.' },
    async run(
      { endpoints, dispatcher, secretBox }: EndpointNeeds,
      { by, record }: Change,
      endpointId: string,
      overlapSeconds: number | null,
    ): Promise<CreatedEndpoint> {
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
        const present = await found(endpoints, by, endpointId);
        if (!present) return missing(endpointId, 'endpointId');
        const secrets = rotated(present.secrets, sealed, new Date(), seconds * 1000);
        const endpoint = await endpoints.replaceSecrets(endpointId, present.secrets, secrets);
        // Another rotation came in between: the loop repeats on its result, so that both new secrets sign.
        if (!endpoint) continue;
        dispatcher.endpointChanged(endpointId);
        const details = { overlapSeconds: String(seconds) };
        await record({ subject: endpointId, details });
        return { endpoint, secret };
      }
    },
  },

  deleteWebhookEndpoint: {
    scope: 'operate',
    audit: { action: 'webhook_endpoint.deleted', description: 'A webhook endpoint was deleted.' },
    async run(
      { endpoints, deliveries, dispatcher }: EndpointNeeds,
      { by: { tenant, environment }, record }: Change,
      endpointId: string,
    ): Promise<void> {
      const deleted = isId('we', endpointId) && (await endpoints.delete(tenant.id, environment, endpointId));
      if (!deleted) missing(endpointId, 'id');
      await record({ subject: endpointId });
      dispatcher.endpointChanged(endpointId);
      await cancelDeliveries(deliveries, endpointId);
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

async function found(
  endpoints: Pick<EndpointRepository, 'find'>,
  { tenant, environment }: Member,
  endpointId: string,
): Promise<WebhookEndpoint | null> {
  return isId('we', endpointId) ? endpoints.find(tenant.id, environment, endpointId) : null;
}

/** Cancels pending deliveries. The dispatcher cancels deliveries that are stored meanwhile, see `timesDisabled`. */
async function cancelDeliveries(deliveries: EndpointNeeds['deliveries'], endpointId: string): Promise<void> {
  while ((await deliveries.cancelPending(endpointId, CANCEL_LIMIT)) === CANCEL_LIMIT);
}

function requireAllowedUrl(refusalOf: EndpointNeeds['refusalOf'], url: string, environment: Environment): void {
  const refusal = refusalOf(new URL(url));
  if (refusal === null) return;
  const hint =
    environment === 'test'
      ? ' To receive events on your own machine, run npm run -s cli -- listen --forward-to URL --key KEY, or start your own service with ALLOW_INSECURE_WEBHOOKS=true.'
      : '';
  throw serviceError('invalid_request', `url is not allowed: ${refusal}.${hint}`, 'url');
}

/** Returns the host of a URL. Its path may contain a secret of the receiver, which no audit entry shows. */
function hostOf(url: string): string {
  return new URL(url).host;
}

/** `whsec_` and standard base64 of 32 random bytes (docs/decisions/0025). */
function newEndpointSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Returns the secrets after a rotation, newest first. Former ones expire after the overlap, or earlier if that is
 * already set.
 */
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
