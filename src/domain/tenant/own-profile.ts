import { serviceError } from '../errors.ts';
import { MAX_LOGOS } from '../limits.ts';
import { actorOf, type Member, type Principal, requireScope } from '../principal.ts';
import type { Audit } from './audit.ts';
import type { LogoStore, TenantRepository } from './ports.ts';
import { parseSellerProfile } from './seller-profile-input.ts';
import type { Tenant } from './tenant.ts';

/** A tenant's access to its own profile. Every method throws insufficient_scope (403) without its scope. */
export interface OwnProfile {
  /** The tenant as it was at authentication. */
  read(principal: Principal): Tenant;
  /** The logo of the tenant's own profile as a data URL, as `update` accepts it; null if there is none. */
  logo(principal: Principal, tenant: Tenant): Promise<string | null>;
  /**
   * Changes the given fields; later invoices use the new profile.
   * @param change as `parseSellerProfile` accepts it
   * @throws {ServiceError} invalid_request (400); logo_limit_reached (422); insufficient_scope (403) also in
   *   the test environment while the tenant has a valid live key: both environments share the profile, and whoever works
   *   in test must not change legal data
   */
  update(principal: Principal, change: unknown): Promise<Tenant>;
}

export function createOwnProfile(tenants: TenantRepository, logos: LogoStore, audit: Audit): OwnProfile {
  async function refuseTestMember({ environment, tenant }: Member): Promise<void> {
    if (environment === 'live') return;
    const keys = await tenants.keysOf(tenant.id);
    if (keys.some((key) => key.environment === 'live' && !key.revokedAt)) throw liveKeyNeeded();
  }

  return {
    read: (principal) => requireScope(principal, 'read').tenant,
    async logo(principal, { id, profile }) {
      const isOwn = requireScope(principal, 'read').tenant.id === id;
      const logo = isOwn && profile.logo ? await logos.find(profile.logo) : null;
      return logo && `data:${logo.contentType};base64,${Buffer.from(logo.content).toString('base64')}`;
    },
    async update(principal, input) {
      const owner = requireScope(principal, 'profile');
      const { tenant, environment } = owner;
      // Checked before anything is stored; the update checks it again atomically.
      await refuseTestMember(owner);
      const change = parseSellerProfile(input);
      const fields = Object.keys(change);
      if (fields.length === 0) return tenant;
      if (change.logo && !(await tenants.admitLogo(tenant.id, change.logo.sha256, MAX_LOGOS))) {
        throw serviceError('logo_limit_reached', `A tenant can store at most ${MAX_LOGOS} different logos.`, 'logo');
      }
      const changed = await tenants.changeProfile(tenant.id, change, environment === 'test');
      if (!changed) throw liveKeyNeeded();
      audit({ action: 'seller_profile.updated', tenantId: tenant.id, environment, ...actorOf(owner), fields });
      return changed;
    },
  };
}

function liveKeyNeeded() {
  return serviceError(
    'insufficient_scope',
    'Live invoices use this profile too, so only a live secret key (sk_live_…), or an owner in the live environment, can change it while a live key is valid.',
  );
}
