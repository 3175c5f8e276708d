import type { ApiKey } from '../api-key/api-key.ts';
import type { Logo, LogoReference } from './logo.ts';
import type { Environment, SellerProfile, Tenant } from './tenant.ts';

/** A profile to be stored: a new logo comes with its octets. */
export type SellerProfileChange = Omit<Partial<SellerProfile>, 'logo'> & {
  readonly logo?: Logo | LogoReference | null;
};

/** A tenant in a list: `environments` are those that it has valid keys of. */
export type ListedTenant = Pick<Tenant, 'id' | 'name' | 'createdAt'> & {
  readonly environments: readonly Environment[];
};

/** There are as many valid keys as there may be. Nothing was stored. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
}

/** The key to be replaced is revoked or gone. Nothing was stored. */
export class ReplacedKeyInvalid extends Error {
  override readonly name = 'ReplacedKeyInvalid';
}

/** Where tenants and their keys are kept. A tenant's keys live in its document, so that a credential costs one indexed read. */
export interface TenantRepository {
  /** Stores a tenant together with its first keys. */
  insert(
    tenant: Tenant & { readonly profile: SellerProfileChange },
    keys?: readonly { key: ApiKey; hash: string }[],
  ): Promise<void>;
  find(tenantId: string): Promise<Tenant | null>;
  /** All tenants, oldest first. */
  list(): Promise<ListedTenant[]>;
  /** Replaces the whole profile. @returns false when there is no such tenant */
  updateProfile(tenantId: string, profile: SellerProfileChange): Promise<boolean>;
  /**
   * Changes these fields of the profile.
   * @param unlessLive does nothing while the tenant has a valid live key
   * @returns the changed tenant; null when nothing was done
   */
  changeProfile(tenantId: string, change: SellerProfileChange, unlessLive: boolean): Promise<Tenant | null>;
  /** Whether a tenant may store this logo: it has had it before, or has had fewer than `most`. */
  admitLogo(tenantId: string, sha256: string, most: number): Promise<boolean>;
  /** The key with this hash and its tenant, revoked keys included. */
  findByKeyHash(hash: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  findByKeyId(keyId: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  /**
   * Of the environment's revoked keys the last `mostRevoked` are kept.
   * @param replaces the id of a key that must be valid at the moment of the insertion
   * @returns false when there is no such tenant
   * @throws {TooManyKeys} when its environment has `mostValid` valid keys
   * @throws {ReplacedKeyInvalid} when the tenant has no valid key `replaces`
   */
  insertKey(
    tenantId: string,
    key: ApiKey,
    hash: string,
    mostValid: number,
    mostRevoked: number,
    replaces?: string,
  ): Promise<boolean>;
  /** Newest last. */
  keysOf(tenantId: string): Promise<ApiKey[]>;
  /** Which of these keys exist and are not revoked. */
  validKeys(keyIds: readonly string[]): Promise<Set<string>>;
  /** Marks it revoked unless it is already. @returns false when there is no such key */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  /**
   * The same for a key of this tenant.
   * @param evenIfLast also when no other valid secret key of its environment is left; a publishable key is never the last
   * @returns null when nothing was done
   */
  revokeOwnKey(tenantId: string, key: ApiKey, at: Date, evenIfLast: boolean): Promise<ApiKey | null>;
  /** Whether there is no tenant at all: a new installation. */
  isEmpty(): Promise<boolean>;
}

/** Where the logos of profiles are kept. */
export interface LogoStore {
  find(reference: LogoReference): Promise<Logo | null>;
}
