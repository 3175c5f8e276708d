import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { moroccanDate } from '../../../domain/morocco/time.ts';
import { type WatchedFile, watchFile } from '../../watched-file.ts';

/** The files that identify both sides of the connection. */
export interface CredentialSettings {
  /** DGI_CA: PEM file of the roots of the authority; null for the roots of the system. */
  readonly ca: string | null;
  /** DGI_CLIENT_P12: the certificate of this service for mutual TLS. */
  readonly clientP12: { readonly file: string; readonly passphrase: string } | null;
  /** DGI_CLIENT_KEY: PEM file of the key that signs the requests for tokens. */
  readonly clientKey: string | null;
}

/** A private key with its certificate and that certificate's issuers. */
export interface ClientIdentity {
  readonly privateKey: KeyObject;
  readonly certificateChain: readonly X509Certificate[];
}

export interface AssertionKey {
  readonly key: KeyObject;
  readonly algorithm: 'ES256' | 'RS256';
}

/** The content of the files at one point in time. */
export interface Credentials {
  /** A new object whenever `ca` or `identity` has changed. */
  readonly tls: { readonly context: SecureContext; readonly identity: ClientIdentity | null };
  /** The certificates of DGI_CA; null for the roots of the system. */
  readonly anchors: readonly X509Certificate[] | null;
  readonly assertionKey: AssertionKey | null;
}

/** Reads the files at the start, and again whenever they change, so that a rotation needs no restart. */
export interface CredentialStore {
  /** Returns the latest usable content. Checks the files for changes, at most every {@link CHECK_MS} milliseconds. */
  current(): Promise<Credentials>;
  /** Returns the content as last read, without checking the files. */
  latest(): Credentials;
  /**
   * Checks the files immediately, then returns what `current` returns. To be called after the other side refused a
   * certificate or key.
   */
  recheck(): Promise<Credentials>;
}

export interface CredentialParts {
  /** Reads a PKCS#12 file. @throws when it cannot be used; the message says what to do */
  readonly readP12: (file: string, passphrase: string) => Promise<ClientIdentity>;
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void };
  readonly now?: () => Date;
  /** Minimum time between two checks of the files, milliseconds. */
  readonly checkMs?: number;
}

/** Thrown when the settings name files that cannot be used. `message` has a line for each problem. */
export class CredentialProblems extends Error {
  override readonly name = 'CredentialProblems';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const CHECK_MS = 3000;

/** Opens the credentials. @throws {CredentialProblems} naming every file that cannot be used */
export async function openCredentials(
  { ca, clientP12, clientKey }: CredentialSettings,
  { readP12, log, now = () => new Date(), checkMs = CHECK_MS }: CredentialParts,
): Promise<CredentialStore> {
  const problems: string[] = [];
  async function watched<T>(
    setting: string,
    file: string | undefined | null,
    parse: (content: Buffer) => T | Promise<T>,
  ) {
    if (!file) return null;
    const rejected = (error: Error) =>
      log.warn({ setting, reason: error.message }, 'a changed file of the authority cannot be used: the old one stays');
    try {
      return await watchFile(file, parse, rejected);
    } catch (error) {
      problems.push(`${setting}: ${reasonOf(error, file)}`);
      return null;
    }
  }
  const files = {
    ca: await watched('DGI_CA', ca, (pem) => readAnchors(pem, now())),
    identity: await watched('DGI_CLIENT_P12', clientP12?.file, async () =>
      requireValid(await readP12(clientP12?.file ?? '', clientP12?.passphrase ?? ''), now()),
    ),
    key: await watched('DGI_CLIENT_KEY', clientKey, readAssertionKey),
  };
  if (problems.length > 0) throw new CredentialProblems(problems);
  try {
    return storeOf(files, log, checkMs);
  } catch (error) {
    // OpenSSL refuses certificates that are too weak, among others.
    throw new CredentialProblems([`DGI_CLIENT_P12, DGI_CA: they cannot be used for TLS: ${(error as Error).message}.`]);
  }
}

interface Files {
  readonly ca: WatchedFile<X509Certificate[]> | null;
  readonly identity: WatchedFile<ClientIdentity> | null;
  readonly key: WatchedFile<AssertionKey> | null;
}

function storeOf({ ca, identity, key }: Files, log: CredentialParts['log'], checkMs: number): CredentialStore {
  let tls = tlsOf(ca?.value ?? null, identity?.value ?? null);
  let checkedAt = performance.now();
  let checking: Promise<void> | null = null;

  async function check(): Promise<void> {
    const changed = async (setting: string, file: WatchedFile<unknown> | null) => {
      if (!(await file?.refresh())) return false;
      log.info({ setting }, 'a changed file of the authority is used from now on');
      return true;
    };
    const [newCa, newIdentity] = await Promise.all([
      changed('DGI_CA', ca),
      changed('DGI_CLIENT_P12', identity),
      changed('DGI_CLIENT_KEY', key),
    ]);
    if (newCa || newIdentity) {
      try {
        tls = tlsOf(ca?.value ?? null, identity?.value ?? null);
      } catch (err) {
        log.warn({ err }, 'the changed certificates cannot be used for TLS: the old ones stay');
      }
    }
    checkedAt = performance.now();
  }

  const content = (): Credentials => ({ tls, anchors: ca?.value ?? null, assertionKey: key?.value ?? null });
  const recheck = async () => {
    checking ??= check().finally(() => {
      checking = null;
    });
    await checking;
    return content();
  };
  return {
    latest: content,
    recheck,
    current: async () => (performance.now() - checkedAt < checkMs ? content() : recheck()),
  };
}

function tlsOf(anchors: readonly X509Certificate[] | null, identity: ClientIdentity | null): Credentials['tls'] {
  const context = createSecureContext({
    minVersion: 'TLSv1.2',
    ca: anchors ? anchors.map(String) : [...new Set([...getCACertificates('default'), ...getCACertificates('system')])],
    ...(identity && {
      key: String(identity.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      cert: identity.certificateChain.join(''),
    }),
  });
  return { context, identity };
}

/** Reads the roots of the authority. @throws when a certificate is incomplete, or when all of them have expired */
function readAnchors(content: Buffer, now: Date): X509Certificate[] {
  const pem = content.toString('latin1');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it contains no certificate in PEM format.');
  // A file that is still being written may end within a certificate.
  if (blocks.length !== pem.split('-----BEGIN CERTIFICATE-----').length - 1)
    throw new Error('its last certificate is incomplete.');
  const anchors = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new Error(`its certificate ${index + 1} cannot be read.`, { cause });
    }
  });
  if (anchors.every(({ validToDate }) => validToDate < now)) throw new Error('all its certificates have expired.');
  return anchors;
}

function requireValid(identity: ClientIdentity, now: Date): ClientIdentity {
  const [own] = identity.certificateChain;
  if (own === undefined) throw new Error('it contains no certificate.');
  if (own.validToDate < now) {
    throw new Error(`its certificate expired on ${moroccanDate(own.validToDate)}. Install a new one.`);
  }
  return identity;
}

function readAssertionKey(content: Buffer): AssertionKey {
  const pem = content.toString('latin1');
  if (/ENCRYPTED/.test(pem)) {
    throw new Error(
      'the key has a passphrase, which is not supported: decrypt it with "openssl pkey -in OLD -out NEW".',
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new Error('it contains no private key in PEM format.', { cause });
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type === 'ec' && details.namedCurve === 'prime256v1') return { key, algorithm: 'ES256' };
  if (type === 'rsa' && (details.modulusLength ?? 0) >= 2048) return { key, algorithm: 'RS256' };
  throw new Error('the key must be ECDSA on P-256 or RSA of 2048 bits or more.');
}

function reasonOf(error: unknown, file: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `the file ${file} does not exist.`;
  if (code === 'EACCES') return `the file ${file} may not be read by this user.`;
  if (code === 'EISDIR') return `${file} is a folder.`;
  return message.includes(file) ? message : `${file}: ${message}`;
}
