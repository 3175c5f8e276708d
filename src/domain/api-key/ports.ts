import type { Tenant } from '../tenant/tenant.ts';
import type { ApiKey } from './api-key.ts';

/** The tenant has the maximum number of valid keys. Nothing was stored. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
}

/** The key to be replaced is revoked or does not exist. Nothing was stored. */
export class ReplacedKeyInvalid extends Error {
  override readonly name = 'ReplacedKeyInvalid';
}

/**
 * Stores the keys of tenants, each in the document of its tenant, so that authentication takes one indexed read. An
 * erased tenant has no keys.
 */
export interface KeyRepository {
  /** Finds the key with this hash, possibly revoked, and its tenant. */
  findByKeyHash(hash: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  findByKeyId(keyId: string): Promise<{ tenant: Tenant; key: ApiKey } | null>;
  /**
   * Stores a key, and keeps only the last `mostRevoked` revoked keys of its environment.
   * @param replaces id of a key that must be valid at the moment of the insertion
   * @returns false if there is no such tenant
   * @throws {TooManyKeys} if the environment has `mostValid` valid keys
   * @throws {ReplacedKeyInvalid} if the tenant has no valid key `replaces`
   */
  insertKey(
    tenantId: string,
    key: ApiKey,
    hash: string,
    mostValid: number,
    mostRevoked: number,
    replaces?: string,
  ): Promise<boolean>;
  /** Lists the keys, newest last. */
  keysOf(tenantId: string): Promise<ApiKey[]>;
  /** Returns those of these keys that exist and are not revoked. */
  validKeys(keyIds: readonly string[]): Promise<Set<string>>;
  /** Gives a key another name, or none. @returns the changed key; null if there is no such key */
  renameKey(keyId: string, name: string | null): Promise<ApiKey | null>;
  /** Keeps the latest use of each of these keys that exists. Takes one round trip. */
  keepKeyUses(uses: readonly { readonly keyId: string; readonly at: Date }[]): Promise<void>;
  /** Revokes a key unless it is already revoked. @returns false if there is no such key */
  revokeKey(keyId: string, at: Date): Promise<boolean>;
  /**
   * Revokes a key of this tenant.
   * @param evenIfLast also revokes the last valid secret key of its environment; publishable keys do not count
   * @returns null if nothing was changed
   */
  revokeOwnKey(tenantId: string, key: ApiKey, at: Date, evenIfLast: boolean): Promise<ApiKey | null>;
}
