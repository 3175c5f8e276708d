import { createHash, verify, X509Certificate } from 'node:crypto';
import { SigningFailed, type SigningKey } from '../../domain/invoice/signing-key.ts';
import { createFairQueue } from '../../domain/kit/fair-queue.ts';
import { SetupError } from '../../domain/setup-error.ts';
import { chainFrom } from './certificate-chain.ts';
import { chooseCertificate } from './choose-certificate.ts';
import { type KeySession, openPkcs11Token, type Pkcs11Parts, type Pkcs11Token } from './pkcs11-token.ts';
import type { Pkcs11Address } from './pkcs11-uri.ts';
import { signatureAlgorithm } from './software-key.ts';

/** Number of sessions. Each makes one signature at a time. */
const SESSIONS = 4;
const TIME_LIMIT_MS = 10_000;
/** DER prefix of a SHA-256 DigestInfo, up to the digest (RFC 8017, section 9.2, note 1). */
const SHA256_DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/**
 * Opens a key that never leaves its HSM (PKCS #11). Only digests are sent to the HSM. Signatures share a small pool of
 * sessions; a session that failed is reopened for the next signature, so the key works again after a restart of the
 * HSM.
 * @param certificates the signer's and those of its issuers; if empty, the certificates on the token are used. If there
 * are several for the key, {@link chooseCertificate} selects one
 * @throws when the token cannot be opened; the message says what to do; {@link SetupError} when its PIN is wrong, or
 * when there is no certificate for the key
 */
export async function loadPkcs11Key(
  address: Pkcs11Address,
  certificates: readonly X509Certificate[] = [],
  parts: Pkcs11Parts = {},
): Promise<SigningKey> {
  const token = await openPkcs11Token(address, parts);
  // Opened once here, so that a wrong PIN is reported as such, and not as a failed signature.
  token.open().close();
  const { own, others } = certificates.length > 0 ? { own: certificates, others: [] } : onToken(token);
  if (own.length === 0)
    throw new SetupError(
      'The HSM holds no certificate for the signing key: provide it as a file (SIGNING_CERTIFICATES).',
    );
  const inSession = sessionPool(token);
  async function signDigest(algorithm: SigningKey['algorithm'], octets: Uint8Array): Promise<Buffer> {
    const digest = createHash('sha256').update(octets).digest();
    try {
      return await inSession((session) =>
        algorithm === 'RSA-SHA256'
          ? session.sign('CKM_RSA_PKCS', Buffer.concat([SHA256_DIGEST_INFO, digest]))
          : session.sign('CKM_ECDSA', digest),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SigningFailed(`The HSM did not sign: ${reason.replace(/\.?$/, '.')}`, { cause: error });
    }
  }
  const chosen = await chooseByProbe(own, signDigest);
  const algorithm = signatureAlgorithm(chosen);
  return {
    certificateChain: chainFrom(chosen, [...own, ...others]),
    algorithm,
    testOnly: false,
    sign: (octets) => signDigest(algorithm, octets),
  };
}

function onToken(token: Pkcs11Token): { own: X509Certificate[]; others: X509Certificate[] } {
  const { own, others } = token.certificates();
  const parsed = (ders: readonly Buffer[]) => ders.map((der) => new X509Certificate(der));
  // If no certificate belongs to the key, other certificates do not help.
  return { own: parsed(own), others: own.length === 0 ? [] : parsed(others) };
}

/**
 * Finds the certificate of the key among several, by making a signature and verifying it with each. An HSM need not
 * reveal its public key.
 */
async function chooseByProbe(
  certificates: readonly X509Certificate[],
  sign: (algorithm: SigningKey['algorithm'], octets: Uint8Array) => Promise<Buffer>,
): Promise<X509Certificate> {
  const probe = Buffer.from('Does the key go with its certificate?');
  let failure: unknown = null;
  const isOwn = new Map<string, boolean>();
  const own: X509Certificate[] = [];
  for (const certificate of certificates) {
    const spki = certificate.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    let matches = isOwn.get(spki);
    if (matches === undefined) {
      try {
        const signature = await sign(signatureAlgorithm(certificate), probe);
        matches = verify('sha256', probe, { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
      } catch (error) {
        // A key of another kind cannot sign for this certificate: no match. An unavailable HSM proves nothing.
        if (isAway(error)) throw error;
        failure ??= error;
        matches = false;
      }
      isOwn.set(spki, matches);
    }
    if (matches) own.push(certificate);
  }
  const chosen = chooseCertificate(own, new Date());
  if (chosen) return chosen;
  const what = certificates.length > 1 ? 'None of the certificates matches' : 'The signing certificate does not match';
  throw new SetupError(`${what} the HSM's private key.`, { cause: failure });
}

/** CKR_KEY_FUNCTION_NOT_PERMITTED, CKR_KEY_SIZE_RANGE, CKR_KEY_TYPE_INCONSISTENT, CKR_MECHANISM_INVALID */
const OTHER_KIND_OF_KEY: readonly (number | undefined)[] = [0x68, 0x62, 0x63, 0x70];

/** Whether a signature failed for a reason other than the kind of the key: the HSM is then considered unavailable. */
function isAway(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: number } };
  return cause !== undefined && !OTHER_KIND_OF_KEY.includes(cause.code);
}

/** Returns a function that runs work in a session, and queues it while all sessions are busy. */
function sessionPool(token: Pkcs11Token): <T>(work: (session: KeySession) => Promise<T>) => Promise<T> {
  /** The idle sessions, of which the last is used next. Null: the session failed and must be opened again. */
  const idle: (KeySession | null)[] = [];
  const queue = createFairQueue({ places: SESSIONS });
  return (work) =>
    queue.run('all', async () => {
      let session = idle.pop() ?? null;
      try {
        session ??= token.open();
        const result = await withinLimit(work(session));
        idle.push(session);
        return result;
      } catch (error) {
        closeQuietly(session);
        idle.push(null);
        throw error;
      }
    });
}

async function withinLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIME_LIMIT_MS / 1000} s`)), TIME_LIMIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function closeQuietly(session: KeySession | null): void {
  try {
    session?.close();
  } catch {
    // Ignored: the session or the HSM no longer exists.
  }
}
