import type { Environment, Tenant } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from './endpoint.ts';
import type { DeliveryLedger, EndpointRepository } from './ports.ts';

/** How long all attempts to an endpoint must fail before its tenant is notified, in milliseconds. */
const FAILING_AFTER_MS = 86_400_000;
/** Delay before a notice that could not be sent is tried again, in milliseconds. */
const TRY_AGAIN_MS = 600_000;
const SWEEP_LIMIT = 20;
/**
 * Maximum number of endpoints whose last result this process remembers, and for how long (milliseconds): another
 * process may have recorded the opposite.
 */
const REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

/** The notice to a tenant about a failing endpoint. */
export interface FailingEndpointNotice {
  readonly to: string;
  readonly tenantName: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly url: string;
  readonly failingSince: Date;
}

/** Sends notices to tenants. */
export interface EndpointNotifier {
  /**
   * Resolves when a mail server has accepted the mail, or it is in the outbox on disk. @throws when neither succeeded
   */
  endpointFails(notice: FailingEndpointNotice): Promise<void>;
}

/** Marks endpoints whose attempts have all failed for a day, and notifies their tenants. They stay active. */
export interface EndpointHealth {
  /** Notes the result of an attempt. Returns at once, never throws. */
  noteResult(endpointId: string, delivered: boolean): void;
  /** Marks the endpoints that have failed for a day and notifies their tenants. */
  sweep(): Promise<void>;
}

export interface HealthParts {
  readonly endpoints: Pick<EndpointRepository, 'noteFailure' | 'noteSuccess' | 'takeFailing' | 'markNotified'>;
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
  /** Last recorded result of each endpoint. The same result is recorded again only after {@link REMEMBERED_MS}. */
  const last = new Map<string, { delivered: boolean; at: number; written: Promise<void> }>();

  /**
   * Whether any process has delivered since the failures began: another one may have succeeded while this one failed.
   */
  async function hasDelivered({ id, tenantId, environment, failingSince }: WebhookEndpoint): Promise<boolean> {
    const query = { tenantId, environment, endpointId: id, state: 'delivered', limit: 1, cursor: null } as const;
    const { rows } = await deliveries.page({ ...query, from: failingSince?.getTime() ?? 0, until: null });
    return rows.length > 0;
  }

  async function notify(endpoint: WebhookEndpoint): Promise<void> {
    const { id, tenantId, environment, url, failingSince } = endpoint;
    if (await hasDelivered(endpoint)) return endpoints.noteSuccess(id);
    const tenant = await tenants.find(tenantId);
    const to = tenant?.profile.email;
    if (tenant && to !== undefined && failingSince) {
      const notice = { to, tenantName: tenant.name, environment, endpointId: id, url, failingSince };
      await notifier.endpointFails(notice);
    }
    await endpoints.markNotified(id);
  }

  return {
    noteResult(endpointId, delivered) {
      const at = now().getTime();
      const known = last.get(endpointId);
      if (known?.delivered === delivered && at - known.at < REMEMBERED_MS) return;
      const write = () =>
        delivered
          ? endpoints.noteSuccess(endpointId)
          : endpoints.noteFailure(endpointId, new Date(at), new Date(at + FAILING_AFTER_MS));
      // After what is being written of it: the store could take up the later result first.
      const written = (known ? known.written.then(write) : write()).catch((error) => {
        if (last.get(endpointId) === entry) last.delete(endpointId);
        report(`the health of the endpoint ${endpointId} could not be recorded`, error);
      });
      const entry = { delivered, at, written };
      last.delete(endpointId);
      last.set(endpointId, entry);
      const [oldest] = last.keys();
      if (last.size > REMEMBERED && oldest !== undefined) last.delete(oldest);
    },
    async sweep() {
      const again = new Date(now().getTime() + TRY_AGAIN_MS);
      for (const endpoint of await endpoints.takeFailing(now(), again, SWEEP_LIMIT)) {
        await notify(endpoint).catch((error) =>
          report(`the tenant could not be notified that the endpoint ${endpoint.id} fails`, error),
        );
      }
    },
  };
}
