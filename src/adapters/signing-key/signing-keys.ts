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

/** The settings that name the signing keys. */
export interface SigningSettings {
  readonly p12: { readonly file: string; readonly passphrase: string } | null;
  readonly pkcs11: { readonly uri: string; readonly certificates: string | null } | null;
  /**
   * A JSON file: `{"ten_…": {"p12": FILE, "passphrase": …} | {"pkcs11": URI, "certificates": FILE}}`. Paths of files
   * are relative to its folder.
   */
  readonly tenants: string | null;
}

/** The keys for signing documents, as last read. */
export interface SigningKeys {
  /** The platform's key, for every tenant without its own key. */
  readonly platform: SigningKey;
  /** The tenants' own keys by tenant id. */
  readonly tenants: ReadonlyMap<string, SigningKey>;
  /** Returns the key that signs for a tenant. */
  of(tenantId: string): SigningKey;
  /**
   * Reads changed PKCS #12 files again. If a file is missing, half-written or wrong, the old key stays in use and the
   * problem is reported once. @returns whether there is a new key
   */
  refresh(): Promise<boolean>;
}

/** Reports a problem of a key. @param setting names the key, and the tenant if it is a tenant's own key */
type Tell = (setting: string, reason: string) => void;

/** Callbacks for problems of keys; default: ignored. */
export interface KeyReports {
  /** Called when a changed file cannot be used. */
  readonly onRejected?: Tell;
  /** Called when a key can be used, but operators should act on something. */
  readonly onWarning?: Tell;
}

const tenantsFile = z.record(
  z.string().startsWith('ten_', { error: 'must be a tenant id (ten_…)' }),
  z.union([
    z.strictObject({ p12: z.string(), passphrase: z.string().default('') }),
    z.strictObject({ pkcs11: z.string(), certificates: z.string().optional() }),
  ]),
);

/** The location of a key. File paths are absolute, or relative to the process's folder. */
type Place =
  | { readonly p12: { readonly file: string; readonly passphrase: string } }
  | { readonly pkcs11: { readonly uri: string; readonly certificates: string | null } };

/**
 * Loads every key and checks that it is usable for signing documents.
 * @param dataDir folder of the self-signed test identity, which is the platform's key when the settings name none
 * @throws naming the setting or the tenant whose key cannot be loaded, and the reason; {@link SetupError} where only a
 * person can fix it
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

/**
 * Loads a key and watches its file. A key in an HSM is not watched: its URI names it, so it does not change. @throws as
 * {@link openSigningKeys}
 */
async function watch(place: Place, setting: string, reports: KeyReports): Promise<WatchedFile<SigningKey>> {
  const { onRejected, onWarning } = reports;
  try {
    if ('pkcs11' in place) return unchanging(await load(place, (text) => onWarning?.(setting, text)));
    const rejected = ({ message }: Error) => onRejected?.(setting, message);
    // Loading a missing file throws a better error than watching it, so that error is preferred.
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
 * Returns all problems of the key files that the settings name, each with its setting; empty if there are none. Of a
 * key in an HSM, checks the URI and the file of its certificates, but does not call the HSM.
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

/** Returns the tenants that have keys of their own, without opening the keys. @throws as {@link openSigningKeys} */
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
 * Refuses a certificate whose key usage does not allow signing. Unlike validity, this does not change with time, and
 * every validator rejects such a signature.
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
  // The message contains no values, because one of them may be a passphrase.
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
