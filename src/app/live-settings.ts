import { tenantsWithOwnKeys } from '../adapters/signing-key/signing-keys.ts';
import { isSafeAddress } from '../config/dgi.ts';
import type { Config } from '../config.ts';
import { firstDifference, isOlder, type TimeZoneData } from '../domain/morocco/compare-offsets.ts';
import type { MissingForLive } from '../domain/tenant/ports.ts';
import { NODE_TIME_ZONE } from './time-zone-data.ts';

/** The settings that decide whether live keys can exist. */
export type LiveSettings = Pick<Config, 'authority' | 'signing' | 'publicUrl' | 'host' | 'role'>;

/** What an installation may lack for live keys and live invoices. */
export const LACKS = {
  authority: { condition: 'authority', text: 'a connection to the tax authority (the operator sets DGI_URL)' },
  certificate: {
    condition: 'certificate',
    text: 'a signing certificate other than the self-made one (the operator sets SIGNING_P12, SIGNING_PKCS11, or a key of the tenant in SIGNING_TENANTS)',
  },
  address: {
    condition: 'address',
    text: 'an address with HTTPS (the operator sets PUBLIC_URL to an https:// URL)',
  },
  clock: {
    condition: 'clock',
    text: "a version of the service that knows Morocco's time as newer time zone data has it (the operator installs it; doctor says more)",
  },
} as const satisfies Readonly<Record<string, MissingForLive>>;

/**
 * Returns the conditions of a tenant's live keys that the settings do not meet, each with what to do. A process that
 * only serves requests (ROLE=api) has no signing keys, so their absence is not reported there.
 * @param timeZone data to check whether this version's offsets of Morocco will be right for a year
 * @throws when the file of SIGNING_TENANTS cannot be read
 */
export async function missingInstallation(
  settings: LiveSettings,
  tenantId: string,
  timeZone: TimeZoneData = NODE_TIME_ZONE,
): Promise<MissingForLive[]> {
  const missing: MissingForLive[] = [];
  if (settings.authority === null) missing.push(LACKS.authority);
  if (settings.role !== 'api') {
    const signed = await tenantsWithCertificate(settings);
    if (signed !== null && !signed.has(tenantId)) missing.push(LACKS.certificate);
  }
  if (!isSafeAddress(settings.publicUrl, settings.host)) missing.push(LACKS.address);
  if (!isOlder(timeZone) && firstDifference(timeZone, new Date()) !== null) missing.push(LACKS.clock);
  return missing;
}

/**
 * Returns the ids of the tenants that have a certificate for live documents; null if one certificate serves all.
 * @throws when the file of SIGNING_TENANTS cannot be read
 */
export async function tenantsWithCertificate({
  signing,
}: Pick<LiveSettings, 'signing'>): Promise<ReadonlySet<string> | null> {
  return signing.p12 !== null || signing.pkcs11 !== null ? null : tenantsWithOwnKeys(signing);
}
