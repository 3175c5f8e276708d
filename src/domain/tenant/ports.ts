import type { ApiKey } from '../api-key/api-key.ts';
import type { Logo, LogoReference } from './logo.ts';
import type { SellerProfile, Tenant } from './tenant.ts';

/** A profile to be stored: a new logo comes with its octets. */
export type SellerProfileChange = Omit<Partial<SellerProfile>, 'logo'> & {
  readonly logo?: Logo | LogoReference | null;
};

/** Where tenants and their keys are kept. A tenant's keys live in its document, so that a credential costs one indexed read. */
export interface TenantRepository {
  /** Stores a tenant together with its first keys. */
  insert(
    tenant: Tenant & { readonly profile: SellerProfileChange },
    keys?: readonly { key: ApiKey; hash: string }[],
  ): Promise<void>;
  find(tenantId: string): Promise<Tenant | null>;
  /** @returns false when there is no such tenant */
  updateProfile(tenantId: string, profile: SellerProfileChange): Promise<boolean>;
  /** The key with this hash and its tenant, revoked keys included. */
  findByKeyHash(hash: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  findByKeyId(keyId: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  /** @returns false when there is no such tenant */
  insertKey(tenantId: string, key: ApiKey, hash: string): Promise<boolean>;
  keysOf(tenantId: string): Promise<ApiKey[]>;
  /** Which of these keys exist and are not revoked. */
  validKeys(keyIds: readonly string[]): Promise<Set<string>>;
  /** Marks it revoked unless it is already. @returns false when there is no such key */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  /** Whether there is no tenant at all: a new installation. */
  isEmpty(): Promise<boolean>;
}

/** Where the logos of profiles are kept. */
export interface LogoStore {
  find(reference: LogoReference): Promise<Logo | null>;
}
