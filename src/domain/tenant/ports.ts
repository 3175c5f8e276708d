import type { ApiKey } from '../api-key/api-key.ts';
import type { SigningCertificate } from '../verification/verification.ts';
import type { Logo, LogoReference } from './logo.ts';
import type { Environment, SellerProfile, Tenant } from './tenant.ts';

/** A profile to store. A new logo includes its octets. */
export type SellerProfileChange = Omit<Partial<SellerProfile>, 'logo'> & {
  readonly logo?: Logo | LogoReference | null;
};

/** The conditions of live keys. */
export const LIVE_CONDITIONS = {
  profile: 'The seller’s profile has every mandatory field.',
  certificate: 'The installation has a signing certificate of the tenant, other than the self-made one.',
  authority: 'The installation is connected to the tax authority.',
  address: 'The service has an address with HTTPS.',
  clock: 'The service knows Morocco’s time for a year ahead.',
} as const;
export type LiveCondition = keyof typeof LIVE_CONDITIONS;
export const LIVE_CONDITION_NAMES = Object.keys(LIVE_CONDITIONS) as LiveCondition[];

/** A condition of live keys that is not met. */
export interface MissingForLive {
  readonly condition: LiveCondition;
  /** The end of a sentence, which says what is missing and what to do. */
  readonly text: string;
}

/**
 * Returns the conditions of live keys that a tenant does not meet; empty if it may have live keys.
 * @throws when they cannot be determined
 */
export type LiveConditions = (tenant: Tenant) => Promise<readonly MissingForLive[]>;

/** A certificate that signs documents, as last reported by a worker. */
export interface SignersCertificate extends SigningCertificate {
  /** `platform`, or the id of the tenant that has its own certificate. */
  readonly signer: string;
  /** Whether it is the generated certificate, whose documents have no legal value. */
  readonly testOnly: boolean;
  /** The certificate's present or coming faults, each a sentence for operators. */
  readonly findings: readonly string[];
}

/**
 * Stores the certificates of the workers' signing keys, because processes that only serve requests have no keys. A
 * certificate that no worker has reported for a day is unknown.
 */
export interface SignersCertificates {
  /** Replaces the certificates of these signers, and removes outdated ones. */
  tell(certificates: readonly SignersCertificate[], now: Date): Promise<void>;
  /** Lists all certificates by signer, at most 1,000. */
  list(now: Date): Promise<SignersCertificate[]>;
  /** Returns the certificate that signs this tenant's documents, its own or the platform's; null if it is unknown. */
  of(tenantId: string, now: Date): Promise<SignersCertificate | null>;
}

/** A tenant in a list. `environments` are those in which it has valid keys. */
export type ListedTenant = Pick<Tenant, 'id' | 'name' | 'createdAt' | 'suspendedAt'> & {
  readonly environments: readonly Environment[];
};

/** Stores tenants. An erased tenant is not found and cannot be changed. */
export interface TenantRepository {
  /** Stores a new tenant, which is not suspended, together with its first keys. */
  insert(
    tenant: Omit<Tenant, 'suspendedAt'> & { readonly profile: SellerProfileChange },
    keys?: readonly { key: ApiKey; hash: string }[],
  ): Promise<void>;
  find(tenantId: string): Promise<Tenant | null>;
  /**
   * Sets the tenant's own limit of requests per minute, or removes it (null).
   * @returns false if there is no such tenant
   */
  limitRequests(tenantId: string, limit: number | null): Promise<boolean>;
  /** Returns the names of these tenants, by id. */
  namesOf(tenantIds: readonly string[]): Promise<Map<string, string>>;
  /** Lists all tenants, oldest first. */
  list(): Promise<ListedTenant[]>;
  /**
   * Returns up to `limit` tenants, newest first.
   * @param after the id of the tenant before the first one; null: from the newest. An unknown id returns none
   */
  page(after: string | null, limit: number): Promise<ListedTenant[]>;
  /**
   * Suspends a tenant that is not suspended, or ends the suspension (`at` is null).
   * @returns false if nothing was changed
   */
  setSuspended(tenantId: string, at: Date | null): Promise<boolean>;
  /** Returns those of these tenants that exist and are not being erased. */
  presentAmong(tenantIds: readonly string[]): Promise<Set<string>>;
  /** Replaces the whole profile. @returns false if there is no such tenant */
  updateProfile(tenantId: string, profile: SellerProfileChange): Promise<boolean>;
  /**
   * Changes these fields of the profile.
   * @param unlessLive changes nothing if the tenant has a valid live key
   * @returns the changed tenant; null if nothing was changed
   */
  changeProfile(tenantId: string, change: SellerProfileChange, unlessLive: boolean): Promise<Tenant | null>;
  /** Admits a logo if the tenant has used it before, or has used fewer than `most`. @returns whether it is admitted */
  admitLogo(tenantId: string, sha256: string, most: number): Promise<boolean>;
  /** Whether the tenant is erased while some of its documents are still stored. */
  isErased(tenantId: string): Promise<boolean>;
  /** Whether there is no tenant, as in a new installation. */
  isEmpty(): Promise<boolean>;
}

/** The store of logos. */
export interface LogoStore {
  find(reference: LogoReference): Promise<Logo | null>;
}
