import type { AuthorityStatus } from '../authority/status.ts';
import type { Condition } from '../conditions/condition.ts';
import type { InstallationFacts } from '../conditions/installation-conditions.ts';
import type { Lane } from '../invoice/lanes.ts';
import type { InvoiceAttention, ListAttention } from '../invoice/list-attention.ts';
import type { Backlog } from '../invoice/repository.ts';
import { MOST_WAITING } from '../limits.ts';
import type { SignersCertificate } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { WebhookEndpoint } from '../webhook/endpoint.ts';

/** Maximum number of tenants with waiting live invoices that are shown. */
export const MOST_TENANTS = 50;
/** Maximum number of failing webhook endpoints that are shown. */
const MOST_ENDPOINTS = 50;

/** Sizes in bytes of the service's data and of the disk that holds it. */
export interface Storage {
  readonly dataBytes: number;
  readonly freeBytes: number;
  readonly diskBytes: number;
}

/** The state of the whole service at one time. Counts go up to {@link MOST_WAITING}. */
export interface Survey {
  readonly at: Date;
  /** Number of processes that do the background work. Without any, all queued work waits. */
  readonly workers: number;
  /** Due work by lane, in the order of the lanes. */
  readonly queues: readonly (Backlog & { readonly lane: Lane })[];
  /** Due deliveries of webhooks. */
  readonly webhooks: Backlog;
  /** Live invoices that wait for the authority, by tenant. */
  readonly transmissions: readonly { readonly tenantId: string; readonly name: string; readonly waiting: number }[];
  readonly attention: readonly (InvoiceAttention & { readonly tenantName: string })[];
  /** The active webhook endpoints that count as failing, those that have failed longest first. */
  readonly endpoints: readonly {
    readonly endpointId: string;
    readonly tenantId: string;
    readonly tenantName: string;
    readonly environment: Environment;
    /** The host of its URL. The rest of the URL may contain secrets of the tenant. */
    readonly host: string;
    readonly since: Date;
  }[];
  /** Whether a live authority is configured. */
  readonly hasAuthority: boolean;
  readonly authority: AuthorityStatus;
  /** The certificates that workers reported within the last day. */
  readonly certificates: readonly SignersCertificate[];
  readonly storage: Storage;
  /** What is wrong now. */
  readonly conditions: readonly Condition[];
}

export interface SurveyParts {
  readonly lanes: readonly Lane[];
  readonly backlog: (lane: Lane, limit: number) => Promise<Backlog>;
  readonly webhooks: (limit: number, now: Date) => Promise<Backlog>;
  readonly transmissions: (
    tenants: number,
    limit: number,
  ) => Promise<readonly { readonly tenantId: string; readonly waiting: number }[]>;
  readonly attention: ListAttention;
  readonly failingEndpoints: (now: Date, limit: number) => Promise<readonly WebhookEndpoint[]>;
  readonly hasAuthority: boolean;
  readonly authority: (now: Date) => Promise<AuthorityStatus>;
  readonly certificates: (now: Date) => Promise<readonly SignersCertificate[]>;
  readonly storage: () => Promise<Storage>;
  readonly namesOf: (tenantIds: readonly string[]) => Promise<Map<string, string>>;
  readonly workers: () => Promise<number>;
  readonly conditions: (facts: InstallationFacts, now: Date) => readonly Condition[];
  readonly now: () => Date;
}

/**
 * Creates the overview that operators see first. Everything is read again at each call. The number of reads does not
 * grow with the data.
 */
export function createSurvey(parts: SurveyParts): () => Promise<Survey> {
  return async () => {
    const at = parts.now();
    const [queues, webhooks, transmissions, attention, authority, certificates, storage, workers, failing] =
      await Promise.all([
        Promise.all(
          parts.lanes.map(async (lane) => {
            const { waiting, oldest } = await parts.backlog(lane, MOST_WAITING);
            return { lane, waiting, oldest };
          }),
        ),
        parts.webhooks(MOST_WAITING, at),
        parts.transmissions(MOST_TENANTS, MOST_WAITING),
        parts.attention(),
        parts.authority(at),
        parts.certificates(at),
        parts.storage(),
        parts.workers(),
        parts.failingEndpoints(at, MOST_ENDPOINTS),
      ]);
    const names = await parts.namesOf([
      ...new Set([...transmissions, ...attention, ...failing].map(({ tenantId }) => tenantId)),
    ]);
    const nameOf = (tenantId: string) => names.get(tenantId) ?? tenantId;
    return {
      at,
      workers,
      queues,
      webhooks,
      authority,
      certificates,
      storage,
      hasAuthority: parts.hasAuthority,
      conditions: parts.conditions({ authority, attention, endpoints: failing, certificates, workers }, at),
      transmissions: transmissions.map((each) => ({ ...each, name: nameOf(each.tenantId) })),
      endpoints: failing.map(({ id, tenantId, environment, url, failingSince }) => ({
        endpointId: id,
        tenantId,
        tenantName: nameOf(tenantId),
        environment,
        host: URL.parse(url)?.host ?? '',
        since: failingSince ?? at,
      })),
      attention: attention.map((each) => ({ ...each, tenantName: nameOf(each.tenantId) })),
    };
  };
}
