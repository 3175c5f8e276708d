import { serviceError } from '../errors.ts';
import { newId } from '../ids.ts';
import { MAX_KEYS, MAX_REVOKED_KEYS } from '../limits.ts';
import { type LiveConditions, ReplacedKeyInvalid, type TenantRepository, TooManyKeys } from '../tenant/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import { type ApiKey, hashToken, newToken } from './api-key.ts';
import type { KeyKind } from './key-kinds.ts';

/** A new key with its token, which is shown only in this answer. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly token: string;
}

export interface ManageKeys {
  /**
   * Creates a key.
   * @throws {ServiceError} resource_not_found for an unknown tenant; invalid_request for a live key, naming everything
   * that the tenant lacks for it; key_limit_reached
   */
  create(tenantId: string, kind: KeyKind, environment: Environment): Promise<IssuedKey>;
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
   * Makes a new key of the same tenant, kind and environment; the old one stays valid until it is revoked.
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
  tenants: TenantRepository,
  missingForLive: LiveConditions,
  installation: string | null,
): ManageKeys {
  async function requireLiveConditions(tenantId: string): Promise<void> {
    const tenant = await tenants.find(tenantId);
    if (!tenant) throw noTenant(tenantId);
    const missing = await missingForLive(tenant);
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
    replaces?: string,
  ): Promise<IssuedKey> {
    if (environment === 'live') await requireLiveConditions(tenantId);
    const token = newToken(kind, environment, installation);
    const key: ApiKey = {
      id: newId('key'),
      kind,
      environment,
      lastFour: token.slice(-4),
      createdAt: new Date(),
      revokedAt: null,
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
    create: (tenantId, kind, environment) => issue(tenantId, kind, environment),
    async list(tenantId) {
      if (!(await tenants.find(tenantId))) throw noTenant(tenantId);
      return tenants.keysOf(tenantId);
    },
    async revoke(keyId) {
      if (!(await tenants.revokeKey(keyId, new Date()))) throw noKey(keyId);
    },
    async tenantOf(keyId) {
      const { tenant, key } = await found(keyId);
      return { tenantId: tenant.id, environment: key.environment, isRevoked: key.revokedAt !== null };
    },
    async rotate(keyId) {
      const { tenant, key } = await found(keyId);
      return issue(tenant.id, key.kind, key.environment, keyId);
    },
  };
}

function noTenant(tenantId: string) {
  return serviceError('resource_not_found', `There is no tenant '${tenantId}'.`, 'tenant');
}

function noKey(keyId: string) {
  return serviceError('resource_not_found', `There is no key '${keyId}'.`, 'key');
}
