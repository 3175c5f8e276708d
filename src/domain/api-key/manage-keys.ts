import { serviceError } from '../errors.ts';
import { foundTenant, noTenant } from '../found-tenant.ts';
import { newId } from '../ids.ts';
import { LONGEST_KEY_NAME, MAX_KEYS, MAX_REVOKED_KEYS } from '../limits.ts';
import type { LiveConditions, TenantRepository } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import { type ApiKey, hashToken, newToken } from './api-key.ts';
import type { KeyKind } from './key-kinds.ts';
import { keyName } from './key-name.ts';
import { type KeyRepository, ReplacedKeyInvalid, TooManyKeys } from './ports.ts';

/** A new key with its token, which is shown only in this answer. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly token: string;
}

export interface ManageKeys {
  /**
   * Creates a key.
   * @param name see {@link keyName}
   * @throws {ServiceError} resource_not_found for an unknown tenant; invalid_request for a wrong name, and for a live
   *   key, naming everything that the tenant lacks for it; key_limit_reached
   */
  create(tenantId: string, kind: KeyKind, environment: Environment, name?: string | null): Promise<IssuedKey>;
  /**
   * Gives a key another name. @param name null for none
   * @throws {ServiceError} resource_not_found; invalid_request for a wrong name
   */
  rename(keyId: string, name: string | null): Promise<ApiKey>;
  /** Lists the keys, newest last, including revoked ones. @throws {ServiceError} resource_not_found */
  list(tenantId: string): Promise<ApiKey[]>;
  /**
   * Revokes a key, at once in this process and within 100 ms in every other. A revoked key is not changed.
   * @throws {ServiceError} resource_not_found
   */
  revoke(keyId: string): Promise<void>;
  /** Returns the tenant of a key, which may be revoked. @throws {ServiceError} resource_not_found */
  tenantOf(
    keyId: string,
  ): Promise<{ readonly tenantId: string; readonly environment: Environment; readonly isRevoked: boolean }>;
  /**
   * Makes a new key of the same tenant, kind, environment and name; the old one stays valid until it is revoked.
   * @throws {ServiceError} resource_not_found; invalid_request for a revoked key, and as `create` for a live one;
   *   key_limit_reached
   */
  rotate(keyId: string): Promise<IssuedKey>;
}

/**
 * Creates the use cases of API keys (docs/api/contract.md, "API keys").
 * @param missingForLive the conditions of live keys, which are checked whenever a live key is created
 * @param installation the name in new tokens; null for none
 */
export function createManageKeys(
  tenants: Pick<TenantRepository, 'find'> &
    Pick<KeyRepository, 'findByKeyId' | 'insertKey' | 'keysOf' | 'renameKey' | 'revokeKey'>,
  missingForLive: LiveConditions,
  installation: string | null,
): ManageKeys {
  async function requireLiveConditions(tenantId: string): Promise<void> {
    const missing = await missingForLive(await foundTenant(tenants, tenantId));
    if (missing.length === 0) return;
    throw serviceError(
      'invalid_request',
      `Live keys require ${missing.map(({ text }) => text).join('; ')}.`,
      'environment',
    );
  }

  async function found(keyId: string) {
    const both = await tenants.findByKeyId(keyId);
    if (!both) throw noKey(keyId);
    return both;
  }

  /** Issues a key. @param replaces the id of the key that is rotated */
  async function issue(
    tenantId: string,
    kind: KeyKind,
    environment: Environment,
    name: string | null,
    replaces?: string,
  ): Promise<IssuedKey> {
    if (environment === 'live') await requireLiveConditions(tenantId);
    const token = newToken(kind, environment, installation);
    const key: ApiKey = {
      id: newId('key'),
      kind,
      environment,
      lastFour: token.slice(-4),
      name,
      createdAt: new Date(),
      revokedAt: null,
      lastUsedAt: null,
    };
    try {
      if (!(await tenants.insertKey(tenantId, key, hashToken(token), MAX_KEYS, MAX_REVOKED_KEYS, replaces))) {
        throw noTenant(tenantId);
      }
      return { key, token };
    } catch (error) {
      if (error instanceof ReplacedKeyInvalid) {
        throw serviceError(
          'invalid_request',
          `The key '${replaces}' is revoked, so it cannot be rotated. Create a new key instead.`,
          'id',
        );
      }
      if (!(error instanceof TooManyKeys)) throw error;
      throw serviceError(
        'key_limit_reached',
        `There are already ${MAX_KEYS} valid keys in the ${environment} environment, which is the maximum. Revoke one first.`,
      );
    }
  }
  return {
    create: async (tenantId, kind, environment, name = null) => issue(tenantId, kind, environment, nameOf(name)),
    async list(tenantId) {
      await foundTenant(tenants, tenantId);
      return tenants.keysOf(tenantId);
    },
    async revoke(keyId) {
      if (!(await tenants.revokeKey(keyId, new Date()))) throw noKey(keyId);
    },
    async rename(keyId, name) {
      const renamed = await tenants.renameKey(keyId, nameOf(name));
      if (!renamed) throw noKey(keyId);
      return renamed;
    },
    async tenantOf(keyId) {
      const { tenant, key } = await found(keyId);
      return { tenantId: tenant.id, environment: key.environment, isRevoked: key.revokedAt !== null };
    },
    async rotate(keyId) {
      const { tenant, key } = await found(keyId);
      return issue(tenant.id, key.kind, key.environment, key.name, keyId);
    },
  };
}

/** Returns the name as it is stored. @throws {ServiceError} invalid_request */
function nameOf(name: string | null): string | null {
  if (name === null) return null;
  const { success, data } = keyName.safeParse(name);
  if (success) return data;
  const message = `name must be one line of 1 to ${LONGEST_KEY_NAME} characters.`;
  throw serviceError('invalid_request', message, 'name');
}

function noKey(keyId: string) {
  return serviceError('resource_not_found', `There is no key '${keyId}'.`, 'key');
}
