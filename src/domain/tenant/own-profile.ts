import type { KeyRepository } from '../api-key/ports.ts';
import { serviceError } from '../errors.ts';
import { type Previews, previewUrl } from '../preview.ts';
import type { Member } from '../principal.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
import { admitLogo } from './admit-logo.ts';
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

export interface ProfileNeeds {
  readonly tenants: Pick<TenantRepository, 'find' | 'changeProfile' | 'admitLogo'> & Pick<KeyRepository, 'keysOf'>;
  readonly logos: LogoStore;
  readonly liveConditions: LiveConditions;
  readonly certificates: Pick<SignersCertificates, 'of'>;
  /** Returns the function that reads a tenant's logos. */
  readonly readLogo: (tenantId: string) => ReadLogo;
  /** Draws a sample invoice of the seller as a PDF. @throws when it cannot be drawn */
  readonly drawSample: (tenantId: string, profile: Partial<SellerProfile>, logo: Logo | null) => Promise<Uint8Array>;
  readonly previews: Previews;
}

/** A tenant's access to its own profile. */
export const PROFILE_USE_CASES = {
  /** Returns the tenant as it was at authentication. */
  tenant: { scope: 'read', run: (_needs: object, { by }: Call): Tenant => by.tenant },

  /**
   * Returns the logo of the tenant's own profile as a data URL, in the form that `updateSellerProfile` accepts; null if
   * there is none.
   */
  tenantLogo: {
    scope: 'read',
    async run({ logos }: ProfileNeeds, { by }: Call, { id, profile }: Tenant): Promise<string | null> {
      const logo = by.tenant.id === id && profile.logo ? await logos.find(profile.logo) : null;
      return logo && `data:${logo.contentType};base64,${Buffer.from(logo.content).toString('base64')}`;
    },
  },

  /**
   * Changes the given fields. Later invoices use the new profile.
   * @param input as `parseSellerProfile` accepts it
   * @throws {ServiceError} invalid_request (400); logo_limit_reached (422); the errors of `readLogo`;
   * insufficient_scope (403), also in the test environment while the tenant has a valid live key, because both
   * environments share the profile and a caller in test must not change legal data
   */
  updateSellerProfile: {
    scope: 'profile',
    audit: 'seller_profile.updated',
    async run({ tenants, readLogo }: ProfileNeeds, { by: owner, record }: Change, input: unknown): Promise<Tenant> {
      const { tenant, environment } = owner;
      // Checked before the logo is stored; the update checks it again atomically.
      await refuseTestMember(tenants, owner);
      const change = await parseSellerProfile(input, readLogo(tenant.id));
      // Read again, because authentication may have used one cached for some milliseconds.
      const present = (await tenants.find(tenant.id)) ?? tenant;
      const fields = changedFields(present.profile, change);
      if (fields.length === 0) return present;
      await admitLogo(tenants, tenant.id, change);
      const changed = await tenants.changeProfile(tenant.id, change, environment === 'test');
      if (!changed) throw liveKeyNeeded();
      const details = { fields: fields.join(', '), environment };
      await record({ subject: tenant.id, details });
      return changed;
    },
  },

  /**
   * Returns the PDF of a sample invoice with the changed profile, as a data URL. Nothing is stored.
   * @param input as `updateSellerProfile` accepts it
   * @throws {ServiceError} invalid_request; rate_limit_exceeded while too many previews of the tenant wait;
   * internal_error (503) if no PDF can be drawn; the errors of `readLogo`
   */
  sellerProfilePreview: {
    scope: 'profile',
    async run(
      { logos, readLogo, drawSample, previews }: ProfileNeeds,
      { by: { tenant } }: Call,
      input: unknown,
    ): Promise<string> {
      const { logo: given, ...change } = await parseSellerProfile(input, readLogo(tenant.id));
      const stored = tenant.profile.logo ?? null;
      const logo =
        given === undefined ? stored && (await logos.find(stored)) : given && 'content' in given ? given : null;
      return previewUrl(previews, tenant.id, () => drawSample(tenant.id, { ...tenant.profile, ...change, logo }, logo));
    },
  },

  /** Returns the certificate that signs the tenant's documents; null if it is unknown. */
  tenantCertificate: {
    scope: 'read',
    run: ({ certificates }: ProfileNeeds, { by }: Call): Promise<SignersCertificate | null> =>
      certificates.of(by.tenant.id, new Date()),
  },

  /** Returns the conditions of live keys that the tenant does not meet. */
  missingForLive: {
    scope: 'read',
    run: ({ liveConditions }: ProfileNeeds, { by }: Call): Promise<readonly MissingForLive[]> =>
      liveConditions(by.tenant),
  },
} as const satisfies Readonly<Record<string, UseCase>>;

async function refuseTestMember(
  tenants: Pick<KeyRepository, 'keysOf'>,
  { environment, tenant }: Member,
): Promise<void> {
  if (environment === 'live') return;
  const keys = await tenants.keysOf(tenant.id);
  if (keys.some((key) => key.environment === 'live' && !key.revokedAt)) throw liveKeyNeeded();
}

function liveKeyNeeded() {
  return serviceError(
    'insufficient_scope',
    'Live invoices use this profile too, so only a live secret key (sk_live_…), or an owner in the live environment, can change it while a live key is valid.',
  );
}
