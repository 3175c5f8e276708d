import type { ApiKey } from '../api-key/api-key.ts';
import type { KeyRepository } from '../api-key/ports.ts';
import { foundTenant, noTenant } from '../found-tenant.ts';
import { newId } from '../ids.ts';
import { OPERATOR_PAGE } from '../limits.ts';
import type { OperatorCall, OperatorChange, OperatorUseCase } from '../use-case.ts';
import { admitLogo } from './admit-logo.ts';
import type { ListedTenant, LiveConditions, MissingForLive, SellerProfileChange, TenantRepository } from './ports.ts';
import type { ReadLogo } from './read-logo.ts';
import { parseSellerProfile } from './seller-profile-input.ts';
import { changedFields, type Tenant } from './tenant.ts';

interface Needs {
  readonly tenants: Pick<
    TenantRepository,
    'page' | 'find' | 'insert' | 'setSuspended' | 'limitRequests' | 'changeProfile' | 'updateProfile' | 'admitLogo'
  > &
    Pick<KeyRepository, 'keysOf'>;
  readonly liveConditions: LiveConditions;
  /** Returns the function that reads a tenant's logos. */
  readonly readLogo: (tenantId: string) => ReadLogo;
  readonly now: () => Date;
}

/** A tenant as an operator sees it, without its invoices. */
export interface TenantDetails {
  readonly tenant: Tenant;
  readonly missingForLive: readonly MissingForLive[];
  /** The keys, newest last, including revoked ones. */
  readonly keys: readonly ApiKey[];
}

/** What operators do with tenants. An unknown tenant is a {ServiceError} resource_not_found. */
export const TENANT_OPERATIONS = {
  /** Lists tenants, newest first. @param after the id of the last tenant of the previous page */
  tenants: {
    async run(
      { tenants }: Needs,
      _call: OperatorCall,
      after: string | null,
    ): Promise<{ readonly tenants: readonly ListedTenant[]; readonly hasMore: boolean }> {
      const rows = await tenants.page(after, OPERATOR_PAGE + 1);
      return { tenants: rows.slice(0, OPERATOR_PAGE), hasMore: rows.length > OPERATOR_PAGE };
    },
  },

  tenant: {
    async run({ tenants, liveConditions }: Needs, _call: OperatorCall, tenantId: string): Promise<TenantDetails> {
      const tenant = await foundTenant(tenants, tenantId);
      const [missingForLive, keys] = await Promise.all([liveConditions(tenant), tenants.keysOf(tenantId)]);
      return { tenant, missingForLive, keys };
    },
  },

  /** Creates a tenant. @param name one line */
  createTenant: {
    audit: 'tenant.created',
    async run(
      { tenants, now }: Needs,
      { record }: OperatorChange,
      name: string,
      profile: SellerProfileChange = {},
    ): Promise<Pick<Tenant, 'id' | 'createdAt'>> {
      const [id, createdAt] = [newId('ten'), now()];
      await tenants.insert({ id, name, profile, createdAt });
      await record({ tenantId: id }, { subject: id });
      return { id, createdAt };
    },
  },

  /**
   * Changes the given fields of the seller's profile. Later invoices use the new one.
   * @param input as `parseSellerProfile` accepts it
   * @throws {ServiceError} invalid_request; logo_limit_reached; the errors of `readLogo`
   */
  changeProfile: {
    audit: 'seller_profile.updated',
    async run(
      { tenants, readLogo }: Needs,
      { record }: OperatorChange,
      tenantId: string,
      input: unknown,
    ): Promise<void> {
      const { profile } = await foundTenant(tenants, tenantId);
      const change = await parseSellerProfile(input, readLogo(tenantId));
      const fields = changedFields(profile, change);
      if (fields.length === 0) return;
      await admitLogo(tenants, tenantId, change);
      if ((await tenants.changeProfile(tenantId, change, false)) === null) throw noTenant(tenantId);
      await record({ tenantId }, updateOf(tenantId, fields));
    },
  },

  /**
   * Replaces the whole profile of the seller: fields that the new one lacks are removed.
   * @throws {ServiceError} logo_limit_reached
   */
  replaceProfile: {
    audit: 'seller_profile.updated',
    async run(
      { tenants }: Needs,
      { record }: OperatorChange,
      tenantId: string,
      profile: SellerProfileChange,
    ): Promise<void> {
      const before = (await foundTenant(tenants, tenantId)).profile;
      const gone = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
      const fields = changedFields(before, { ...gone, ...profile });
      if (fields.length === 0) return;
      await admitLogo(tenants, tenantId, profile);
      if (!(await tenants.updateProfile(tenantId, profile))) throw noTenant(tenantId);
      await record({ tenantId }, updateOf(tenantId, fields));
    },
  },

  /** Suspends a tenant, which can then only read. Work under way continues. A suspended tenant is not changed. */
  suspendTenant: {
    audit: 'tenant.suspended',
    run: (needs: Needs, call: OperatorChange, tenantId: string): Promise<void> =>
      setSuspended(needs, call, tenantId, needs.now()),
  },

  resumeTenant: {
    audit: 'tenant.resumed',
    run: (needs: Needs, call: OperatorChange, tenantId: string): Promise<void> =>
      setSuspended(needs, call, tenantId, null),
  },

  /** Sets how many requests per minute the tenant may send in an environment. @param requests null: the default */
  limitTenant: {
    audit: 'tenant.limited',
    async run(
      { tenants }: Needs,
      { record }: OperatorChange,
      tenantId: string,
      requests: number | null,
    ): Promise<void> {
      const { requestsPerMinute = null } = await foundTenant(tenants, tenantId);
      if (requestsPerMinute === requests) return;
      if (!(await tenants.limitRequests(tenantId, requests))) throw noTenant(tenantId);
      const details = { requests: requests === null ? 'default' : String(requests) };
      await record({ tenantId }, { subject: tenantId, details });
    },
  },
} as const satisfies Readonly<Record<string, OperatorUseCase>>;

async function setSuspended(
  { tenants }: Needs,
  { record }: OperatorChange,
  tenantId: string,
  at: Date | null,
): Promise<void> {
  await foundTenant(tenants, tenantId);
  if (await tenants.setSuspended(tenantId, at)) await record({ tenantId }, { subject: tenantId });
}

function updateOf(tenantId: string, fields: readonly string[]) {
  return { subject: tenantId, details: { fields: fields.join(', ') } };
}
