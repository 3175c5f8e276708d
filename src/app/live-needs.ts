import type { WaitingInvoices } from '../domain/invoice/repository.ts';
import { MOST_WAITING } from '../domain/limits.ts';
import { isOutdated, type TimeZoneData } from '../domain/morocco/compare-offsets.ts';
import type { MissingForLive, TenantRepository } from '../domain/tenant/ports.ts';
import { LACKS, type LiveSettings, tenantsWithCertificate } from './live-settings.ts';
import { NODE_TIME_ZONE } from './time-zone-data.ts';

/**
 * The only tenants whose live documents can be signed; null: all tenants' can. A process without keys (ROLE=api)
 * assumes that the workers have all keys; if they do not, invoices wait.
 */
export type LiveSigners = ReadonlySet<string> | null;

/** What this process has available for live invoices. */
export interface LiveMeans {
  readonly hasAuthority: boolean;
  /** Returns the tenants with a signing key at the moment. */
  readonly signers: () => LiveSigners;
  /** Time zone data to check this version's offsets of Morocco against; default: Node's. */
  readonly timeZone?: TimeZoneData;
}

/** A condition of live invoices that is not met, although the data has live invoices that wait or live keys. */
export interface LiveNeed {
  readonly condition: 'authority' | 'certificate';
  /** Live invoices that wait for the condition, counted up to {@link MOST_WAITING}. */
  readonly waiting: number;
  /** Tenants with valid live keys that lack the condition. */
  readonly tenants: number;
}

type LiveData = {
  readonly tenants: Pick<TenantRepository, 'list'>;
  readonly invoices: Pick<WaitingInvoices, 'unfinishedLive' | 'unsignedLive'>;
};

/** Returns what live invoices and live keys of this data need but do not have. @throws what the store throws */
export async function findLiveNeeds(means: LiveMeans, { tenants, invoices }: LiveData): Promise<LiveNeed[]> {
  const keyed = (await tenants.list()).filter(({ environments }) => environments.includes('live'));
  const signers = means.signers();
  const needs: LiveNeed[] = [];
  if (!means.hasAuthority)
    needs.push({ condition: 'authority', waiting: await invoices.unfinishedLive(MOST_WAITING), tenants: keyed.length });
  if (signers !== null) {
    const waiting = await invoices.unsignedLive(signers, MOST_WAITING);
    needs.push({ condition: 'certificate', waiting, tenants: keyed.filter(({ id }) => !signers.has(id)).length });
  }
  return needs.filter(({ waiting, tenants: count }) => waiting + count > 0);
}

/** Returns what the settings provide for live invoices. @throws when the file of SIGNING_TENANTS cannot be read */
export async function meansOf(settings: LiveSettings): Promise<LiveMeans> {
  const signers = settings.role === 'api' ? null : await tenantsWithCertificate(settings);
  return { hasAuthority: settings.authority !== null, signers: () => signers };
}

/** Counts the live invoices that nothing can finish with these means, up to {@link MOST_WAITING}. */
export async function strandedCount(
  { hasAuthority, signers }: LiveMeans,
  invoices: LiveData['invoices'],
): Promise<number> {
  if (!hasAuthority) return invoices.unfinishedLive(MOST_WAITING);
  const signed = signers();
  return signed === null ? 0 : invoices.unsignedLive(signed, MOST_WAITING);
}

/** Returns a function that lists why a live invoice of a tenant cannot be issued at the moment; empty if it can. */
export function createMissingForIssue({
  hasAuthority,
  signers,
  timeZone = NODE_TIME_ZONE,
}: LiveMeans): (tenantId: string) => readonly MissingForLive[] {
  return (tenantId) => {
    const signed = signers();
    const signs = signed?.has(tenantId) ?? true;
    // With outdated offsets, the invoice's date and the year of its number could be wrong, and they cannot be changed
    // later.
    const dates = !isOutdated(timeZone, new Date());
    return [
      ...(hasAuthority ? [] : [LACKS.authority]),
      ...(signs ? [] : [LACKS.certificate]),
      ...(dates ? [] : [LACKS.clock]),
    ];
  };
}
