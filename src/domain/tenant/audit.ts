import type { Environment } from './tenant.ts';

/** A change that a tenant made in its own account, logged for operators. Never contains a secret. */
export interface AuditEntry {
  readonly action:
    | 'api_key.created'
    | 'api_key.rotated'
    | 'api_key.revoked'
    | 'seller_profile.updated'
    | 'member.invited'
    | 'member.role_changed'
    | 'member.removed';
  readonly tenantId: string;
  readonly environment: Environment;
  /** The key or the person that made the change. */
  readonly byKeyId?: string;
  readonly byPersonId?: string;
  /** The key that was created or revoked. */
  readonly keyId?: string;
  /** For a rotation: the key that is to be replaced. */
  readonly replacesKeyId?: string;
  /** The person whose role was changed or removed. */
  readonly personId?: string;
  /** The role that was given. */
  readonly role?: string;
  /** Names of the changed fields. */
  readonly fields?: readonly string[];
}

/** Logs an entry; never throws. */
export type Audit = (entry: AuditEntry) => void;
