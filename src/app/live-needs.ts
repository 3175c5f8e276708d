import type { InvoiceRepository } from '../domain/invoice/repository.ts';
import { MOST_WAITING } from '../domain/limits.ts';
import type { MissingForLive, SignersCertificates, TenantRepository } from '../domain/tenant/ports.ts';
import { LACKS, type LiveSettings, tenantsWithCertificate } from './live-settings.ts';
import type { Signing } from './signing.ts';

/** What this process has for live invoices. */
export interface LiveMeans {
  readonly hasAuthority: boolean;
  /** Whether live documents of the tenant can be signed; null: this process has no keys. */
  readonly signsLive: Signing['signsLive'];
}

/** A condition of live invoices that is not met although the data has some, or has live keys. */
export interface LiveNeed {
  readonly condition: 'authority' | 'certificate';
  /** Unfinished live invoices, counted up to {@link MOST_WAITING}. */
  readonly waiting: number;
  /** Tenants with valid live keys. */
  readonly tenants: number;
}

type LiveData = {
  readonly tenants: Pick<TenantRepository, 'list'>;
  readonly invoices: Pick<InvoiceRepository, 'unfinishedLive'>;
};

/** What live invoices and live keys of this data need and do not have. @throws what the store throws */
export async function findLiveNeeds(
  { hasAuthority, signsLive }: LiveMeans,
  { tenants, invoices }: LiveData,
): Promise<LiveNeed[]> {
  const waiting = await invoices.unfinishedLive(MOST_WAITING);
  const keyed = (await tenants.list()).filter(({ environments }) => environments.includes('live'));
  const unsigned = (tenantId: string) => signsLive(tenantId) === false;
  const needs: LiveNeed[] = [
    { condition: 'authority', ...(hasAuthority ? NONE : { waiting: waiting.length, tenants: keyed.length }) },
    {
      condition: 'certificate',
      waiting: waiting.filter(unsigned).length,
      tenants: keyed.filter(({ id }) => unsigned(id)).length,
    },
  ];
  return needs.filter(({ waiting, tenants }) => waiting + tenants > 0);
}

const NONE = { waiting: 0, tenants: 0 } as const;

/** What the settings have for live invoices. @throws when the file of SIGNING_TENANTS cannot be read */
export async function meansOf(settings: LiveSettings): Promise<LiveMeans> {
  const signed = await tenantsWithCertificate(settings);
  return {
    hasAuthority: settings.authority !== null,
    signsLive: (tenantId) => signed === 'all' || signed.has(tenantId),
  };
}

/** Number of unfinished live invoices that nothing can finish with these means, counted up to {@link MOST_WAITING}. */
export async function strandedCount(
  { hasAuthority, signsLive }: LiveMeans,
  invoices: LiveData['invoices'],
): Promise<number> {
  const waiting = await invoices.unfinishedLive(MOST_WAITING);
  return hasAuthority ? waiting.filter((tenantId) => signsLive(tenantId) === false).length : waiting.length;
}

/**
 * Why a live invoice of a tenant cannot be issued at the moment; empty if it can. A process without keys goes by what the
 * workers told of theirs, and assumes a certificate if none has.
 */
export function createMissingForIssue(
  { hasAuthority, signsLive }: LiveMeans,
  certificates: Pick<SignersCertificates, 'of'>,
): (tenantId: string) => Promise<readonly MissingForLive[]> {
  return async (tenantId) => {
    const signs = signsLive(tenantId) ?? !(await certificates.of(tenantId, new Date()))?.testOnly;
    return [...(hasAuthority ? [] : [LACKS.authority]), ...(signs ? [] : [LACKS.certificate])];
  };
}
