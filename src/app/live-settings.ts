import { tenantsWithOwnKeys } from '../adapters/signing-key/signing-keys.ts';
import { isSafeAddress } from '../config/dgi.ts';
import type { Config } from '../config.ts';
import type { LiveCondition, MissingForLive } from '../domain/tenant/ports.ts';

/** The settings that decide whether there can be live keys. */
export type LiveSettings = Pick<Config, 'authority' | 'signing' | 'publicUrl' | 'host' | 'role'>;

/**
 * The conditions of a tenant's live keys that the settings do not meet, each with what to do. A process that only
 * serves requests (ROLE=api) has no signing keys and does not look for them.
 * @throws when the file of SIGNING_TENANTS cannot be read
 */
export async function missingInstallation(settings: LiveSettings, tenantId: string): Promise<MissingForLive[]> {
  const missing: MissingForLive[] = [];
  const lacks = (condition: LiveCondition, text: string) => missing.push({ condition, text });
  if (settings.authority === null) lacks('authority', 'a connection to the tax authority (the operator sets DGI_URL)');
  if (settings.role !== 'api' && !(await hasCertificate(settings, tenantId))) {
    lacks(
      'certificate',
      'a signing certificate other than the self-made one (the operator sets SIGNING_P12, SIGNING_PKCS11, or a key of the tenant in SIGNING_TENANTS)',
    );
  }
  if (!isSafeAddress(settings.publicUrl, settings.host)) {
    lacks('address', 'an address with HTTPS (the operator sets PUBLIC_URL to an https:// URL)');
  }
  return missing;
}

async function hasCertificate({ signing }: LiveSettings, tenantId: string): Promise<boolean> {
  return signing.p12 !== null || signing.pkcs11 !== null || (await tenantsWithOwnKeys(signing)).has(tenantId);
}
