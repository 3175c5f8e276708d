import type { Logger } from 'pino';
import type { ManageKeys } from '../domain/api-key/manage-keys.ts';
import { createOwnKeys, type OwnKeys } from '../domain/api-key/own-keys.ts';
import type { AuditEntry } from '../domain/tenant/audit.ts';
import { createOwnProfile, type OwnProfile } from '../domain/tenant/own-profile.ts';
import type { LogoStore, TenantRepository } from '../domain/tenant/ports.ts';

/** What a tenant does with its own account: its keys and its profile. Each change is an entry in the log. */
export function accountOf(
  tenants: TenantRepository,
  manageKeys: ManageKeys,
  logos: LogoStore,
  log: Logger,
): { readonly apiKeys: OwnKeys; readonly sellerProfile: OwnProfile } {
  const audit = (entry: AuditEntry) => log.info({ audit: entry }, entry.action);
  return {
    apiKeys: createOwnKeys(tenants, manageKeys, audit),
    sellerProfile: createOwnProfile(tenants, logos, audit),
  };
}
