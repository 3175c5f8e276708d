import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type Member, type Principal, requireScope } from '../principal.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { ApiKey } from './api-key.ts';
import type { KeyKind } from './key-kinds.ts';
import type { IssuedKey, ManageKeys } from './manage-keys.ts';

/**
 * Key management by the tenant itself (docs/api/contract.md, "API keys"). A key manages only the keys of its tenant and
 * environment, so a leaked test key gives no access to live keys. Every method throws insufficient_scope (403) without
 * the scope to read; methods that change something also require the scope of keys.
 */
export interface OwnKeys {
  /** Lists the keys, newest first, including the last revoked ones. */
  list(principal: Principal): Promise<ApiKey[]>;
  /** Finds a key. @throws {ServiceError} resource_not_found */
  find(principal: Principal, keyId: string): Promise<ApiKey>;
  /**
   * Creates a key.
   * @throws {ServiceError} key_limit_reached; invalid_request for a live key whose conditions are no longer met
   */
  create(principal: Principal, kind: KeyKind): Promise<IssuedKey>;
  /**
   * Makes a new key of the same kind; the old one stays valid until it is revoked.
   * @throws {ServiceError} resource_not_found; invalid_request for a revoked key, and as `create`; key_limit_reached
   */
  rotate(principal: Principal, keyId: string): Promise<IssuedKey>;
  /**
   * Revokes a key, possibly the calling one. A revoked key is not changed.
   * @param evenIfLast also revokes the last valid secret key; afterwards only an operator can create one
   * @throws {ServiceError} resource_not_found; last_secret_key
   */
  revoke(principal: Principal, keyId: string, evenIfLast: boolean): Promise<ApiKey>;
}

export function createOwnKeys(tenants: TenantRepository, manageKeys: ManageKeys, audit: Audit): OwnKeys {
  async function keysOf({ tenant, environment }: Member): Promise<ApiKey[]> {
    return (await tenants.keysOf(tenant.id)).filter((key) => key.environment === environment).reverse();
  }

  async function found(owner: Member, keyId: string): Promise<ApiKey> {
    const key = isId('key', keyId) && (await keysOf(owner)).find(({ id }) => id === keyId);
    if (key) return key;
    throw serviceError(
      'resource_not_found',
      `There is no key '${keyId.slice(0, 80)}' in this tenant and environment.`,
      'id',
    );
  }

  return {
    async list(principal) {
      return keysOf(requireScope(principal, 'read'));
    },
    async find(principal, keyId) {
      return found(requireScope(principal, 'read'), keyId);
    },
    async create(principal, kind) {
      const owner = requireScope(principal, 'keys');
      const issued = await manageKeys.create(owner.tenant.id, kind, owner.environment);
      await audit(entryBy(owner, 'api_key.created', { subject: issued.key.id, details: { kind } }));
      return issued;
    },
    async rotate(principal, keyId) {
      const owner = requireScope(principal, 'keys');
      const old = await found(owner, keyId);
      const issued = await manageKeys.rotate(old.id);
      await audit(entryBy(owner, 'api_key.rotated', { subject: issued.key.id, details: { replaces: old.id } }));
      return issued;
    },
    async revoke(principal, keyId, evenIfLast) {
      const owner = requireScope(principal, 'keys');
      const key = await found(owner, keyId);
      if (key.revokedAt) return key;
      const revoked = await tenants.revokeOwnKey(owner.tenant.id, key, new Date(), evenIfLast);
      if (!revoked) {
        throw serviceError(
          'last_secret_key',
          `${keyId} is the last valid secret key of the ${owner.environment} environment, and it is needed to create another. Rotate it first, or set evenIfLast: true.`,
          'id',
        );
      }
      await audit(entryBy(owner, 'api_key.revoked', { subject: keyId }));
      return revoked;
    },
  };
}
