import type { Environment, Tenant } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { DeliveryLedger, EndpointRepository } from './ports.ts';

/** How long an endpoint may fail everything before its tenant is told. */
export const FAILING_AFTER_MS = 86_400_000;
/** After how long a notice that could not be sent is tried again. */
const TRY_AGAIN_MS = 600_000;
const SWEEP_LIMIT = 20;
/** Of how many endpoints this process remembers how their last attempt went, and how long: another process may have noted the contrary. */
const REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

/** What a tenant is told of an endpoint that fails. */
export interface FailingEndpointNotice {
  readonly to: string;
  readonly tenantName: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly url: string;
  readonly failingSince: Date;
}

/** Writes to tenants. */
export interface EndpointNotifier {
  /** Resolves when the mail is in the care of a mail server, or on disk in the outbox. @throws when it was not taken */
  endpointFails(notice: FailingEndpointNotice): Promise<void>;
}

/** Notices endpoints that have failed everything for a day. They are marked, their tenants are told, and they stay active. */
export interface EndpointHealth {
  /** Tells how an attempt went. Returns at once, never throws. */
  noted(endpointId: string, delivered: boolean): void;
  /** Marks and tells of endpoints whose day is over. */
  sweep(): Promise<void>;
}

export interface HealthParts {
  readonly endpoints: Pick<EndpointRepository, 'noteFailure' | 'noteSuccess' | 'takeFailing' | 'toldOfFailing'>;
  readonly deliveries: Pick<DeliveryLedger, 'page'>;
  readonly tenants: { find(tenantId: string): Promise<Tenant | null> };
  readonly notifier: EndpointNotifier;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

export function createEndpointHealth({
  endpoints,
  deliveries,
  tenants,
  notifier,
  now,
  report,
}: HealthParts): EndpointHealth {
  /** Whether the last attempt was a success, and when that was written: only a change is, mostly. */
  const last = new Map<string, { delivered: boolean; at: number }>();

  /** Another process may have delivered while this one failed. */
  async function hasDelivered({ id, tenantId, environment, failingSince }: WebhookEndpoint): Promise<boolean> {
    const query = { tenantId, environment, endpointId: id, state: 'delivered', limit: 1, cursor: null } as const;
    const { rows } = await deliveries.page({ ...query, from: failingSince?.getTime() ?? 0, until: null });
    return rows.length > 0;
  }

  async function tell(endpoint: WebhookEndpoint): Promise<void> {
    const { id, tenantId, environment, url, failingSince } = endpoint;
    if (await hasDelivered(endpoint)) return endpoints.noteSuccess(id);
    const tenant = await tenants.find(tenantId);
    const to = tenant?.profile.email;
    if (tenant && to !== undefined && failingSince) {
      const notice = { to, tenantName: tenant.name, environment, endpointId: id, url, failingSince };
      await notifier.endpointFails(notice);
    }
    await endpoints.toldOfFailing(id);
  }

  return {
    noted(endpointId, delivered) {
      const at = now().getTime();
      const known = last.get(endpointId);
      if (known?.delivered === delivered && at - known.at < REMEMBERED_MS) return;
      last.delete(endpointId);
      last.set(endpointId, { delivered, at });
      const [oldest] = last.keys();
      if (last.size > REMEMBERED && oldest !== undefined) last.delete(oldest);
      const written = delivered
        ? endpoints.noteSuccess(endpointId)
        : endpoints.noteFailure(endpointId, now(), new Date(now().getTime() + FAILING_AFTER_MS));
      written.catch((error) => {
        last.delete(endpointId);
        report(`the health of ${endpointId} could not be noted`, error);
      });
    },
    async sweep() {
      const again = new Date(now().getTime() + TRY_AGAIN_MS);
      for (const endpoint of await endpoints.takeFailing(now(), again, SWEEP_LIMIT)) {
        await tell(endpoint).catch((error) =>
          report(`the tenant of ${endpoint.id} could not be told that it fails`, error),
        );
      }
    },
  };
}
