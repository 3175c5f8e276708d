import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../durations.ts';
import type { Environment, Tenant } from '../tenant/tenant.ts';
import { FAILING_AFTER_MS, type WebhookEndpoint } from './endpoint.ts';
import type { ReadStatistics } from './endpoint-statistics.ts';
import type { DeliveryLedger, EndpointRepository } from './ports.ts';

/** The shares of failed attempts of a day, in percent, at which the tenant gets a notice. */
const TOLD_SHARES = [50, 90, 100] as const;
/** Minimum number of failures for a notice. */
const LEAST_FAILURES = 3;
const DAY_HOURS = 24;
/** Delay between two judgements of an endpoint with failures within a day, milliseconds. */
const JUDGE_EVERY_MS = 30 * MINUTE_MS;
/** Delay before a notice that could not be sent is tried again, in milliseconds. */
const TRY_AGAIN_MS = 10 * MINUTE_MS;
const SWEEP_LIMIT = 20;
/**
 * Maximum number of endpoints whose last result this process remembers, and for how long (milliseconds): another
 * process may have recorded the opposite.
 */
const REMEMBERED = 10_000;
const REMEMBERED_MS = 10 * MINUTE_MS;

/** The notice to a person of a tenant about a failing endpoint. */
export interface FailingEndpointNotice {
  readonly to: string;
  readonly tenantName: string;
  readonly environment: Environment;
  readonly endpointId: string;
  readonly url: string;
  /** Attempts that failed within a day, and all of them. */
  readonly failed: number;
  readonly attempts: number;
  /** The share that this notice reports, percent. */
  readonly share: number;
  /** The first failure since the last success; null if the last attempt succeeded. */
  readonly failingSince: Date | null;
  /** When the attempts were counted. */
  readonly at: Date;
}

/** Sends notices to tenants. */
export interface EndpointNotifier {
  /**
   * Resolves when a mail server has accepted the mail, or it is in the outbox on disk. @throws when neither succeeded
   */
  endpointFails(notice: FailingEndpointNotice): Promise<void>;
}

/**
 * Notifies a tenant's owners when half, 90 % and all of the attempts of a day to one of its endpoints have failed, once
 * each until less than half of them fail. Endpoints stay active.
 */
export interface EndpointHealth {
  /** Notes the result of an attempt. Returns at once, never throws. */
  noteResult(endpointId: string, delivered: boolean): void;
  /** Judges the endpoints that are due, and sends notices. */
  sweep(): Promise<void>;
}

export interface HealthParts {
  readonly endpoints: Pick<EndpointRepository, 'noteFailure' | 'noteSuccess' | 'takeToJudge' | 'markJudged'>;
  readonly deliveries: Pick<DeliveryLedger, 'page'>;
  readonly statistics: ReadStatistics;
  readonly tenants: { find(tenantId: string): Promise<Tenant | null> };
  /** The mail addresses of the tenant's owners. */
  readonly ownersOf: (tenantId: string) => Promise<readonly string[]>;
  readonly notifier: EndpointNotifier;
  readonly now: () => Date;
  readonly report: (message: string, error: unknown) => void;
}

export function createEndpointHealth(parts: HealthParts): EndpointHealth {
  const { endpoints, deliveries, now, report } = parts;
  /** Last recorded result of each endpoint. The same result is recorded again only after {@link REMEMBERED_MS}. */
  const last = new LRUCache<string, { delivered: boolean; at: number; written: Promise<void> }>({
    max: REMEMBERED,
  });

  /**
   * Whether any process has delivered since the failures began: another one may have succeeded while this one failed.
   */
  async function hasDelivered({ id, tenantId, environment, failingSince }: WebhookEndpoint): Promise<boolean> {
    if (failingSince === null) return false;
    const query = { tenantId, environment, endpointId: id, state: 'delivered', limit: 1, cursor: null } as const;
    const { rows } = await deliveries.page({ ...query, from: failingSince.getTime(), until: null });
    return rows.length > 0;
  }

  async function judge(endpoint: WebhookEndpoint, toldShare: number): Promise<void> {
    const { id } = endpoint;
    if (await hasDelivered(endpoint)) await endpoints.noteSuccess(id);
    const { first, retries } = await parts.statistics(id, DAY_HOURS);
    const failed = first.failed + retries.failed;
    const attempts = failed + first.delivered + retries.delivered;
    const at = now();
    const share = attempts === 0 ? 0 : (100 * failed) / attempts;
    const reached = failed < LEAST_FAILURES ? 0 : Math.max(0, ...TOLD_SHARES.filter((each) => each <= share));
    if (reached > toldShare) await tell(endpoint, { failed, attempts, share: reached, at });
    await endpoints.markJudged(id, {
      toldShare: share < TOLD_SHARES[0] ? 0 : Math.max(reached, toldShare),
      judgeAt: failed > 0 ? new Date(at.getTime() + JUDGE_EVERY_MS) : null,
    });
  }

  /** @throws if nobody could be told */
  async function tell(
    { id, tenantId, environment, url, failingSince }: WebhookEndpoint,
    counted: Pick<FailingEndpointNotice, 'failed' | 'attempts' | 'share' | 'at'>,
  ): Promise<void> {
    const tenant = await parts.tenants.find(tenantId);
    if (tenant === null) return;
    const owners = await parts.ownersOf(tenantId);
    const addresses = owners.length > 0 ? owners : [tenant.profile.email].filter((email) => email !== undefined);
    const notice = { tenantName: tenant.name, environment, endpointId: id, url, failingSince, ...counted };
    const sent = await Promise.allSettled(addresses.map((to) => parts.notifier.endpointFails({ ...notice, to })));
    const failures = sent.filter((each) => each.status === 'rejected');
    if (failures.length > 0 && failures.length === sent.length) throw failures[0]?.reason;
    for (const { reason } of failures) report(`an owner could not be told that the endpoint ${id} fails`, reason);
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
      // After the pending write of this endpoint: otherwise the store could take up the later result first.
      const written = (known ? known.written.then(write) : write()).catch((error) => {
        if (last.peek(endpointId) === entry) last.delete(endpointId);
        report(`the health of the endpoint ${endpointId} could not be recorded`, error);
      });
      const entry = { delivered, at, written };
      last.set(endpointId, entry);
    },
    async sweep() {
      const again = new Date(now().getTime() + TRY_AGAIN_MS);
      for (const { endpoint, toldShare } of await endpoints.takeToJudge(now(), again, SWEEP_LIMIT)) {
        await judge(endpoint, toldShare).catch((error) =>
          report(`the tenant could not be told that the endpoint ${endpoint.id} fails`, error),
        );
      }
    },
  };
}
