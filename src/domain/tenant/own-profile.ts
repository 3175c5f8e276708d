import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { createFairQueue, QueueFull } from '../kit/fair-queue.ts';
import { MAX_LOGOS } from '../limits.ts';
import { type Member, type Principal, requireScope } from '../principal.ts';
import type { Logo } from './logo.ts';
import type {
  LiveConditions,
  LogoStore,
  MissingForLive,
  SignersCertificate,
  SignersCertificates,
  TenantRepository,
} from './ports.ts';
import type { ReadLogo } from './read-logo.ts';
import { parseSellerProfile } from './seller-profile-input.ts';
import { changedFields, type SellerProfile, type Tenant } from './tenant.ts';

/** A tenant's access to its own profile. Every method throws insufficient_scope (403) if the caller lacks its scope. */
export interface OwnProfile {
  /** Returns the tenant as it was at authentication. */
  read(principal: Principal): Tenant;
  /**
   * Returns the logo of the tenant's own profile as a data URL, in the form that `update` accepts; null if there is
   * none.
   */
  logo(principal: Principal, tenant: Tenant): Promise<string | null>;
  /**
   * Changes the given fields. Later invoices use the new profile.
   * @param change as `parseSellerProfile` accepts it
   * @throws {ServiceError} invalid_request (400); logo_limit_reached (422); the errors of `readLogo`;
   * insufficient_scope (403), also in the test environment while the tenant has a valid live key, because both
   * environments share the profile and a caller in test must not change legal data
   */
  update(principal: Principal, change: unknown): Promise<Tenant>;
  /**
   * Returns the PDF of a sample invoice with the changed profile, as a data URL. Nothing is stored.
   * @param change as `update` accepts it
   * @throws {ServiceError} invalid_request; rate_limit_exceeded while too many previews of the tenant wait;
   * internal_error (503) if no PDF can be drawn; the errors of `readLogo`
   */
  preview(principal: Principal, change: unknown): Promise<string>;
  /** Returns the certificate that signs the tenant's documents; null if it is unknown. */
  certificate(principal: Principal): Promise<SignersCertificate | null>;
  /** Returns the conditions of live keys that the tenant does not meet. */
  missingForLive(principal: Principal): Promise<readonly MissingForLive[]>;
}

/**
 * Limits of the queue of previews: drawn at once, waiting for one tenant, waiting in all, and milliseconds that one may
 * wait.
 */
const PREVIEWS = { places: 1, perKey: 2, total: 20, patienceMs: 20_000 } as const;

export interface OwnProfileParts {
  readonly tenants: TenantRepository;
  readonly logos: LogoStore;
  readonly audit: Audit;
  readonly liveConditions: LiveConditions;
  readonly certificates: Pick<SignersCertificates, 'of'>;
  /** Returns the function that reads a tenant's logos. */
  readonly readLogo: (tenantId: string) => ReadLogo;
  /** Draws a sample invoice of the seller as a PDF. @throws when it cannot be drawn */
  readonly drawSample: (tenantId: string, profile: Partial<SellerProfile>, logo: Logo | null) => Promise<Uint8Array>;
}

export function createOwnProfile(parts: OwnProfileParts): OwnProfile {
  const { tenants, logos, audit, liveConditions, certificates, readLogo, drawSample } = parts;
  const previews = createFairQueue(PREVIEWS);

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
      // Checked before the logo is stored; the update checks it again atomically.
      await refuseTestMember(owner);
      const change = await parseSellerProfile(input, readLogo(tenant.id));
      // Read again, because authentication may have used one cached for some milliseconds.
      const present = (await tenants.find(tenant.id)) ?? tenant;
      const fields = changedFields(present.profile, change);
      if (fields.length === 0) return present;
      if (change.logo && !(await tenants.admitLogo(tenant.id, change.logo.sha256, MAX_LOGOS))) {
        throw serviceError('logo_limit_reached', `A tenant can store at most ${MAX_LOGOS} different logos.`, 'logo');
      }
      const changed = await tenants.changeProfile(tenant.id, change, environment === 'test');
      if (!changed) throw liveKeyNeeded();
      const details = { fields: fields.join(', '), environment };
      await audit(entryBy(owner, 'seller_profile.updated', { subject: tenant.id, details }));
      return changed;
    },
    async preview(principal, input) {
      const { tenant } = requireScope(principal, 'profile');
      const { logo: given, ...change } = await parseSellerProfile(input, readLogo(tenant.id));
      const stored = tenant.profile.logo ?? null;
      const logo =
        given === undefined ? stored && (await logos.find(stored)) : given && 'content' in given ? given : null;
      try {
        const pdf = await previews.run(tenant.id, () =>
          drawSample(tenant.id, { ...tenant.profile, ...change, logo }, logo),
        );
        return `data:application/pdf;base64,${Buffer.from(pdf).toString('base64')}`;
      } catch (error) {
        if (error instanceof QueueFull)
          throw serviceError('rate_limit_exceeded', 'Too many previews are drawn at the moment. Try again in 5 s.');
        throw error;
      }
    },
    certificate: async (principal) => certificates.of(requireScope(principal, 'read').tenant.id, new Date()),
    async missingForLive(principal) {
      return liveConditions(requireScope(principal, 'read').tenant);
    },
  };
}

function liveKeyNeeded() {
  return serviceError(
    'insufficient_scope',
    'Live invoices use this profile too, so only a live secret key (sk_live_…), or an owner in the live environment, can change it while a live key is valid.',
  );
}
