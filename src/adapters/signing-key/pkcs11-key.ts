import { createHash, verify, X509Certificate } from 'node:crypto';
import { SigningFailed, type SigningKey } from '../../domain/invoice/signing-key.ts';
import { chainFrom } from './certificate-chain.ts';
import { type KeySession, openPkcs11Token, type Pkcs11Token } from './pkcs11-token.ts';
import type { Pkcs11Address } from './pkcs11-uri.ts';
import { signatureAlgorithm } from './software-key.ts';

/** Number of sessions; each makes one signature at a time. */
const SESSIONS = 4;
const TIME_LIMIT_MS = 10_000;
/** DER prefix of a SHA-256 DigestInfo, up to the digest (RFC 8017, section 9.2, note 1). */
const SHA256_DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/**
 * Opens a key that never leaves its HSM (PKCS #11). Only digests are sent to the HSM. Signatures share a small pool of
 * sessions; a session that failed is reopened for the next signature, so the key works again after a restart of the
 * HSM.
 * @param certificates the signer's certificate followed by its issuers; if empty, the certificates on the token are
 * used
 * @throws with what to do when the token cannot be opened, when there is no certificate for the key, or when the key
 * does not match it
 */
export async function loadPkcs11Key(
  address: Pkcs11Address,
  certificates: readonly X509Certificate[] = [],
): Promise<SigningKey> {
  const token = await openPkcs11Token(address);
  const known = certificates.length > 0 ? certificates : token.certificates().map((der) => new X509Certificate(der));
  const [own] = known;
  if (own === undefined) {
    throw new Error('The HSM holds no certificate for the signing key: provide it as a file (SIGNING_CERTIFICATES).');
  }
  const algorithm = signatureAlgorithm(own);
  const inSession = sessionPool(token);
  const key: SigningKey = {
    certificateChain: chainFrom(own, known),
    algorithm,
    testOnly: false,
    async sign(octets) {
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
    },
  };
  const probe = Buffer.from('Does the key go with its certificate?');
  const signature = await key.sign(probe);
  if (!verify('sha256', probe, { key: own.publicKey, dsaEncoding: 'ieee-p1363' }, signature)) {
    throw new Error("The signing certificate does not match the HSM's private key.");
  }
  return key;
}

/** Returns a function that runs work in a session of its own and queues it while all sessions are busy. */
function sessionPool(token: Pkcs11Token): <T>(work: (session: KeySession) => Promise<T>) => Promise<T> {
  const idle: (KeySession | null)[] = Array.from({ length: SESSIONS }, () => null);
  const waiting: ((session: KeySession | null) => void)[] = [];
  const take = () => {
    const session = idle.pop();
    if (session !== undefined) return session;
    const turn = Promise.withResolvers<KeySession | null>();
    waiting.push(turn.resolve);
    return turn.promise;
  };
  const release = (session: KeySession | null) => {
    const next = waiting.shift();
    if (next) next(session);
    else idle.push(session);
  };

  return async (work) => {
    let session = await take();
    let succeeded = false;
    try {
      session ??= token.open();
      const result = await withinLimit(work(session));
      succeeded = true;
      return result;
    } finally {
      if (!succeeded) {
        closeQuietly(session);
        session = null;
      }
      release(session);
    }
  };
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
    // The session or the HSM is gone.
  }
}
