import type { Environment } from './tenant.ts';

/** Something that a tenant changed in its own account, as operators find it in the log. Never holds a secret. */
export interface AuditEntry {
  readonly action: 'api_key.created' | 'api_key.rotated' | 'api_key.revoked' | 'seller_profile.updated';
  readonly tenantId: string;
  readonly environment: Environment;
  /** The key that asked for it. */
  readonly byKeyId: string;
  /** The key that was made or revoked. */
  readonly keyId?: string;
  /** Of a rotation: the key that the new one is to replace. */
  readonly replacesKeyId?: string;
  /** Names of the changed fields. */
  readonly fields?: readonly string[];
}

/** Writes an entry down; never throws. */
export type Audit = (entry: AuditEntry) => void;
