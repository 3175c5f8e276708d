import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { Member } from '../principal.ts';
import type { Call, Change, UseCase } from '../use-case.ts';
import type { ApiKey } from './api-key.ts';
import type { KeyKind } from './key-kinds.ts';
import type { IssuedKey, ManageKeys } from './manage-keys.ts';
import type { KeyRepository } from './ports.ts';

type OwnKeys = Pick<KeyRepository, 'keysOf' | 'revokeOwnKey'>;

interface OwnKeysNeeds {
  readonly tenants: OwnKeys;
  readonly manageKeys: ManageKeys;
}

/**
 * Key management by the tenant itself (docs/api/contract.md, "API keys"). A key manages only the keys of its tenant and
 * environment, so a leaked test key gives no access to live keys.
 */
export const API_KEY_USE_CASES = {
  /** Lists the keys, newest first, including the last revoked ones. */
  apiKeys: {
    scope: 'read',
    run: ({ tenants }: OwnKeysNeeds, { by }: Call): Promise<ApiKey[]> => keysOf(tenants, by),
  },

  /** Finds a key. @throws {ServiceError} resource_not_found */
  apiKey: {
    scope: 'read',
    run: ({ tenants }: OwnKeysNeeds, { by }: Call, keyId: string): Promise<ApiKey> => found(tenants, by, keyId),
  },

  /**
   * Creates a key.
   * @throws {ServiceError} key_limit_reached; invalid_request for a wrong name, or a live key whose conditions are no
   *   longer met
   */
  createApiKey: {
    scope: 'keys',
    audit: 'api_key.created',
    async run(
      { manageKeys }: OwnKeysNeeds,
      { by, record }: Change,
      kind: KeyKind,
      name: string | null,
    ): Promise<IssuedKey> {
      const issued = await manageKeys.create(by.tenant.id, kind, by.environment, name);
      await record({
        subject: issued.key.id,
        details: { kind, ...(name !== null && { name: issued.key.name ?? '' }) },
      });
      return issued;
    },
  },

  /**
   * Gives a key another name, or none. A revoked one may be renamed, too.
   * @throws {ServiceError} resource_not_found; invalid_request for a wrong name
   */
  renameApiKey: {
    scope: 'keys',
    audit: 'api_key.renamed',
    async run(
      { tenants, manageKeys }: OwnKeysNeeds,
      { by, record }: Change,
      keyId: string,
      name: string | null,
    ): Promise<ApiKey> {
      const { id } = await found(tenants, by, keyId);
      const renamed = await manageKeys.rename(id, name);
      await record({ subject: id, details: { name: renamed.name ?? '' } });
      return renamed;
    },
  },

  /**
   * Makes a new key of the same kind and name; the old one stays valid until it is revoked.
   * @throws {ServiceError} resource_not_found; invalid_request for a revoked key, and as `createApiKey`;
   *   key_limit_reached
   */
  rotateApiKey: {
    scope: 'keys',
    audit: 'api_key.rotated',
    async run({ tenants, manageKeys }: OwnKeysNeeds, { by, record }: Change, keyId: string): Promise<IssuedKey> {
      const old = await found(tenants, by, keyId);
      const issued = await manageKeys.rotate(old.id);
      await record({ subject: issued.key.id, details: { replaces: old.id } });
      return issued;
    },
  },

  /**
   * Revokes a key, possibly the calling one. A revoked key is not changed.
   * @param evenIfLast also revokes the last valid secret key; afterwards only an operator can create one
   * @throws {ServiceError} resource_not_found; last_secret_key
   */
  revokeApiKey: {
    scope: 'keys',
    audit: 'api_key.revoked',
    async run({ tenants }: OwnKeysNeeds, { by, record }: Change, keyId: string, evenIfLast: boolean): Promise<ApiKey> {
      const key = await found(tenants, by, keyId);
      if (key.revokedAt) return key;
      const revoked = await tenants.revokeOwnKey(by.tenant.id, key, new Date(), evenIfLast);
      if (!revoked) {
        throw serviceError(
          'last_secret_key',
          `${keyId} is the last valid secret key of the ${by.environment} environment, and it is needed to create another. Rotate it first, or set evenIfLast: true.`,
          'id',
        );
      }
      await record({ subject: keyId });
      return revoked;
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

async function keysOf(tenants: OwnKeys, { tenant, environment }: Member): Promise<ApiKey[]> {
  return (await tenants.keysOf(tenant.id)).filter((key) => key.environment === environment).reverse();
}

async function found(tenants: OwnKeys, owner: Member, keyId: string): Promise<ApiKey> {
  const key = isId('key', keyId) && (await keysOf(tenants, owner)).find(({ id }) => id === keyId);
  if (key) return key;
  throw serviceError(
    'resource_not_found',
    `There is no key '${keyId.slice(0, 80)}' in this tenant and environment.`,
    'id',
  );
}
