import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { SigningKey } from '../../domain/invoice/signing-key.ts';
import { SetupError } from '../../domain/setup-error.ts';
import { type WatchedFile, watchFile } from '../watched-file.ts';
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

/** The keys for signing documents, as last read. */
export interface SigningKeys {
  /** The platform's key, for every tenant without a key of its own. */
  readonly platform: SigningKey;
  /** The tenants' own keys by tenant id. */
  readonly tenants: ReadonlyMap<string, SigningKey>;
  /** The key that signs for a tenant. */
  of(tenantId: string): SigningKey;
  /**
   * Reads the PKCS #12 files again that have changed. A file that is missing, half-written or wrong leaves the old key in
   * place and is reported once. @returns whether there is a new key
   */
  refresh(): Promise<boolean>;
}

/** @param setting names the key, with the tenant if it is one's own */
type Tell = (setting: string, reason: string) => void;

/** Who is told what; default: nobody. */
export interface KeyReports {
  /** A changed file cannot be used. */
  readonly onRejected?: Tell;
  /** A key can be used, and something is to be done about it. */
  readonly onWarning?: Tell;
}

const tenantsFile = z.record(
  z.string().startsWith('ten_', { error: 'must be a tenant id (ten_…)' }),
  z.union([
    z.strictObject({ p12: z.string(), passphrase: z.string().default('') }),
    z.strictObject({ pkcs11: z.string(), certificates: z.string().optional() }),
  ]),
);

/** Where a key is. Files are absolute, or relative to the process's folder. */
type Place =
  | { readonly p12: { readonly file: string; readonly passphrase: string } }
  | { readonly pkcs11: { readonly uri: string; readonly certificates: string | null } };

/**
 * Loads every key and checks that it is usable for signing documents.
 * @param dataDir folder of the self-signed test identity, which is the platform's key when the settings name none
 * @throws naming the setting or the tenant whose key cannot be loaded, and the reason; {@link SetupError} where only a
 * person can mend it
 */
export async function openSigningKeys(
  settings: SigningSettings,
  dataDir: string,
  reports: KeyReports = {},
): Promise<SigningKeys> {
  const own = platformPlace(settings);
  const platform = own
    ? await watch(own.place, own.setting, reports)
    : unchanging(softwareKey(await loadTestIdentity(dataDir), true));
  const tenants = new Map<string, WatchedFile<SigningKey>>();
  for (const [tenantId, place] of await tenantPlaces(settings))
    tenants.set(tenantId, await watch(place, settingOf(tenantId), reports));
  return {
    get platform() {
      return platform.value;
    },
    get tenants() {
      return new Map([...tenants].map(([tenantId, { value }]) => [tenantId, value]));
    },
    of: (tenantId) => (tenants.get(tenantId) ?? platform).value,
    async refresh() {
      const changed = await Promise.all([platform, ...tenants.values()].map((key) => key.refresh()));
      return changed.includes(true);
    },
  };
}

/** A key in an HSM does not change, because its URI names it. @throws as {@link openSigningKeys} */
async function watch(place: Place, setting: string, reports: KeyReports): Promise<WatchedFile<SigningKey>> {
  const { onRejected, onWarning } = reports;
  try {
    if ('pkcs11' in place) return unchanging(await load(place, (text) => onWarning?.(setting, text)));
    const rejected = ({ message }: Error) => onRejected?.(setting, message);
    // A file that is not there has an error of its own.
    return await watchFile(place.p12.file, () => load(place), rejected).catch(async (error: unknown) => {
      await load(place);
      throw error;
    });
  } catch (error) {
    return named(setting)(error);
  }
}

function unchanging<T>(value: T): WatchedFile<T> {
  return { value, refresh: async () => false };
}

/**
 * Why files of the settings cannot be used, all of them, each with the setting; empty if they can. Of a key in an HSM the
 * URI and the file of its certificates are checked; the HSM is not called.
 */
export async function problemsOfKeyFiles(settings: SigningSettings): Promise<string[]> {
  const problems: string[] = [];
  const note = (error: unknown) => {
    problems.push((error as Error).message);
  };
  const own = platformPlace(settings);
  if (own) await checkFiles(own.place).catch(named(own.setting)).catch(note);
  try {
    for (const [tenantId, place] of await tenantPlaces(settings))
      await checkFiles(place)
        .catch(named(settingOf(tenantId)))
        .catch(note);
  } catch (error) {
    note(error);
  }
  return problems;
}

/** The tenants that have keys of their own, without opening the keys. @throws as {@link openSigningKeys} */
export async function tenantsWithOwnKeys({ tenants }: Pick<SigningSettings, 'tenants'>): Promise<ReadonlySet<string>> {
  return new Set(tenants === null ? [] : Object.keys(await readTenants(tenants)));
}

function platformPlace({ p12, pkcs11 }: SigningSettings): { setting: string; place: Place } | null {
  if (p12) return { setting: 'SIGNING_P12', place: { p12 } };
  return pkcs11 && { setting: 'SIGNING_PKCS11', place: { pkcs11 } };
}

async function tenantPlaces({ tenants }: Pick<SigningSettings, 'tenants'>): Promise<[tenantId: string, Place][]> {
  if (tenants === null) return [];
  const inFolder = (file: string) => resolve(dirname(tenants), file);
  return Object.entries(await readTenants(tenants)).map(([tenantId, where]) => [
    tenantId,
    'p12' in where
      ? { p12: { file: inFolder(where.p12), passphrase: where.passphrase } }
      : { pkcs11: { uri: where.pkcs11, certificates: where.certificates ? inFolder(where.certificates) : null } },
  ]);
}

function settingOf(tenantId: string): string {
  return `SIGNING_TENANTS, ${tenantId}`;
}

async function load(place: Place, onWarning?: (text: string) => void): Promise<SigningKey> {
  if ('p12' in place) return requireSigningUsage(softwareKey(await loadPkcs12(place.p12.file, place.p12.passphrase)));
  const { uri, certificates } = place.pkcs11;
  const known = await knownCertificates(certificates);
  return requireSigningUsage(await loadPkcs11Key(parsePkcs11Uri(uri), known, onWarning && { onWarning }));
}

async function checkFiles(place: Place): Promise<void> {
  if ('p12' in place) {
    await load(place);
    return;
  }
  parsePkcs11Uri(place.pkcs11.uri);
  await knownCertificates(place.pkcs11.certificates);
}

/**
 * Refuses a certificate whose key usage does not allow signing: unlike expiry, this never changes, and every validator
 * rejects it.
 */
function requireSigningUsage(key: SigningKey): SigningKey {
  if (!maySign(key.certificateChain[0])) {
    throw new SetupError(
      'The certificate does not allow signing documents (its key usage has neither digitalSignature nor nonRepudiation). Have another issued.',
    );
  }
  return key;
}

async function knownCertificates(file: string | null): Promise<X509Certificate[]> {
  if (file === null) return [];
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
    const Kind = cause instanceof SetupError ? SetupError : Error;
    throw new Kind(`${setting}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  };
}
