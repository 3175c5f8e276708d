import type { ApiKey } from '../api-key/api-key.ts';
import type { SellerProfile, Tenant } from './tenant.ts';

/** Where tenants and their keys are kept. A tenant's keys live in its document, so that a credential costs one indexed read. */
export interface TenantRepository {
  /** Stores a tenant together with its first keys. */
  insert(tenant: Tenant, keys?: readonly { key: ApiKey; hash: string }[]): Promise<void>;
  find(tenantId: string): Promise<Tenant | null>;
  /** @returns false when there is no such tenant */
  updateProfile(tenantId: string, profile: Partial<SellerProfile>): Promise<boolean>;
  /** The key with this hash and its tenant, revoked keys included. */
  findByKeyHash(hash: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  findByKeyId(keyId: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  /** @returns false when there is no such tenant */
  insertKey(tenantId: string, key: ApiKey, hash: string): Promise<boolean>;
  keysOf(tenantId: string): Promise<ApiKey[]>;
  /** Marks it revoked unless it is already. @returns false when there is no such key */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  /** Whether there is no tenant at all: a new installation. */
  isEmpty(): Promise<boolean>;
}
