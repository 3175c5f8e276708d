import type { Environment } from '../tenant/tenant.ts';
import type { OperatorChange, OperatorUseCase } from '../use-case.ts';
import type { ApiKey } from './api-key.ts';
import type { KeyKind } from './key-kinds.ts';
import type { IssuedKey, ManageKeys } from './manage-keys.ts';

interface Needs {
  readonly manageKeys: ManageKeys;
}

/** What operators do with the API keys of all tenants. Each throws {ServiceError} as the method of `ManageKeys`. */
export const KEY_OPERATIONS = {
  createKey: {
    audit: 'api_key.created',
    async run(
      { manageKeys }: Needs,
      { record }: OperatorChange,
      tenantId: string,
      kind: KeyKind,
      environment: Environment,
      name: string | null = null,
    ): Promise<IssuedKey> {
      const issued = await manageKeys.create(tenantId, kind, environment, name);
      const details = { kind, ...(name !== null && { name: issued.key.name ?? '' }) };
      await record({ tenantId, environment }, { subject: issued.key.id, details });
      return issued;
    },
  },

  renameKey: {
    audit: 'api_key.renamed',
    async run({ manageKeys }: Needs, { record }: OperatorChange, keyId: string, name: string): Promise<ApiKey> {
      const { tenantId, environment } = await manageKeys.tenantOf(keyId);
      const renamed = await manageKeys.rename(keyId, name);
      await record({ tenantId, environment }, { subject: keyId, details: { name: renamed.name ?? '' } });
      return renamed;
    },
  },

  rotateKey: {
    audit: 'api_key.rotated',
    async run({ manageKeys }: Needs, { record }: OperatorChange, keyId: string): Promise<IssuedKey> {
      const { tenantId, environment } = await manageKeys.tenantOf(keyId);
      const issued = await manageKeys.rotate(keyId);
      await record({ tenantId, environment }, { subject: issued.key.id, details: { replaces: keyId } });
      return issued;
    },
  },

  /** Revokes a key. A revoked key is not changed. */
  revokeKey: {
    audit: 'api_key.revoked',
    async run({ manageKeys }: Needs, { record }: OperatorChange, keyId: string): Promise<void> {
      const { tenantId, environment, isRevoked } = await manageKeys.tenantOf(keyId);
      if (isRevoked) return;
      await manageKeys.revoke(keyId);
      await record({ tenantId, environment }, { subject: keyId });
    },
  },
} as const satisfies Readonly<Record<string, OperatorUseCase>>;
