import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { SigningKey } from '../../domain/invoice/signing-key.ts';
import { maySign } from './certificate-findings.ts';
import { loadPkcs11Key } from './pkcs11-key.ts';
import { parsePkcs11Uri } from './pkcs11-uri.ts';
import { loadPkcs12 } from './pkcs12.ts';
import { softwareKey } from './software-key.ts';
import { loadTestIdentity } from './test-identity.ts';

/** The settings that tell where the signing keys are. */
export interface SigningSettings {
  readonly p12: { readonly file: string; readonly passphrase: string } | null;
  readonly pkcs11: { readonly uri: string; readonly certificates: string | null } | null;
  /**
   * A JSON file: `{"ten_…": {"p12": FILE, "passphrase": …} | {"pkcs11": URI, "certificates": FILE}}`, files relative to
   * its folder.
   */
  readonly tenants: string | null;
}

/** The keys for signing documents. */
export interface SigningKeys {
  /** The platform's key, for every tenant without a key of its own. */
  readonly platform: SigningKey;
  /** The tenants' own keys by tenant id. */
  readonly tenants: ReadonlyMap<string, SigningKey>;
}

const tenantsFile = z.record(
  z.string().startsWith('ten_', { error: 'must be a tenant id (ten_…)' }),
  z.union([
    z.strictObject({ p12: z.string(), passphrase: z.string().default('') }),
    z.strictObject({ pkcs11: z.string(), certificates: z.string().optional() }),
  ]),
);

/**
 * Loads every key once and checks that it is usable for signing documents.
 * @param dataDir folder of the self-signed test identity, which is the platform's key when the settings name none
 * @throws naming the setting or the tenant whose key cannot be loaded, and the reason
 */
export async function openSigningKeys(settings: SigningSettings, dataDir: string): Promise<SigningKeys> {
  const platform = await platformKey(settings, dataDir);
  const tenants = new Map<string, SigningKey>();
  if (settings.tenants !== null) {
    const folder = dirname(settings.tenants);
    for (const [tenantId, where] of Object.entries(await readTenants(settings.tenants))) {
      const key =
        'p12' in where
          ? fromPkcs12(resolve(folder, where.p12), where.passphrase)
          : fromPkcs11(where.pkcs11, where.certificates ? resolve(folder, where.certificates) : null);
      tenants.set(tenantId, await key.catch(named(`SIGNING_TENANTS, ${tenantId}`)));
    }
  }
  return { platform, tenants };
}

/** The tenants that have keys of their own, without opening the keys. @throws as {@link openSigningKeys} */
export async function tenantsWithOwnKeys({ tenants }: Pick<SigningSettings, 'tenants'>): Promise<ReadonlySet<string>> {
  return new Set(tenants === null ? [] : Object.keys(await readTenants(tenants)));
}

function platformKey({ p12, pkcs11 }: SigningSettings, dataDir: string): Promise<SigningKey> {
  if (p12) return fromPkcs12(p12.file, p12.passphrase).catch(named('SIGNING_P12'));
  if (pkcs11) return fromPkcs11(pkcs11.uri, pkcs11.certificates).catch(named('SIGNING_PKCS11'));
  return loadTestIdentity(dataDir).then((identity) => softwareKey(identity, true));
}

async function fromPkcs12(file: string, passphrase: string): Promise<SigningKey> {
  return requireSigningUsage(softwareKey(await loadPkcs12(file, passphrase)));
}

async function fromPkcs11(uri: string, certificates: string | null): Promise<SigningKey> {
  const known = certificates === null ? [] : await readCertificates(certificates);
  return requireSigningUsage(await loadPkcs11Key(parsePkcs11Uri(uri), known));
}

/**
 * Refuses a certificate whose key usage does not allow signing: unlike expiry, this never changes, and every validator
 * rejects it.
 */
function requireSigningUsage(key: SigningKey): SigningKey {
  if (!maySign(key.certificateChain[0])) {
    throw new Error(
      'The certificate does not allow signing documents (its key usage has neither digitalSignature nor nonRepudiation). Have another issued.',
    );
  }
  return key;
}

async function readCertificates(file: string): Promise<X509Certificate[]> {
  const blocks = (await readFile(file, 'utf8')).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (blocks === null) throw new Error(`${file} holds no certificate in PEM format.`);
  return blocks.map((pem) => new X509Certificate(pem));
}

async function readTenants(file: string): Promise<z.infer<typeof tenantsFile>> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new Error(`SIGNING_TENANTS: ${file} cannot be read as JSON.`, { cause });
  }
  const parsed = tenantsFile.safeParse(content);
  if (parsed.success) return parsed.data;
  // The message shows no values: one of them may be a passphrase.
  const where = parsed.error.issues.map(({ path }) => path.join('.') || 'the top level').join(', ');
  throw new Error(
    `SIGNING_TENANTS: ${file} must map tenant ids to {"p12", "passphrase"} or {"pkcs11", "certificates"}; wrong at ${where}.`,
  );
}

function named(setting: string): (error: unknown) => never {
  return (cause) => {
    throw new Error(`${setting}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  };
}
