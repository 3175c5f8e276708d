import { createHash, verify, X509Certificate } from 'node:crypto';
import { SigningFailed, type SigningKey } from '../../domain/invoice/signing-key.ts';
import { chainFrom } from './certificate-chain.ts';
import { type KeySession, openPkcs11Token, type Pkcs11Token } from './pkcs11-token.ts';
import type { Pkcs11Address } from './pkcs11-uri.ts';
import { signatureAlgorithm } from './software-key.ts';

/** How many signatures are asked of a token at a time: one session does one. */
const SESSIONS = 4;
const TIME_LIMIT_MS = 10_000;
/** DER of a DigestInfo of SHA-256 (RFC 8017, section 9.2, note 1), up to the digest. */
const SHA256_DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/**
 * A key that never leaves its HSM (PKCS #11). Only digests go there; signatures wait for one of a few sessions, and a session that fails
 * is opened anew for the next one, so that an HSM which was restarted is taken up again.
 * @param certificates what the token does not hold of them, the signer's first; the token's own are used when there are none
 * @throws with what to do when the token can't be opened, has no certificate of the key, or signs with another key than the certificate's
 */
export async function loadPkcs11Key(
  address: Pkcs11Address,
  certificates: readonly X509Certificate[] = [],
): Promise<SigningKey> {
  const token = await openPkcs11Token(address);
  const known = certificates.length > 0 ? certificates : token.certificates().map((der) => new X509Certificate(der));
  const [own] = known;
  if (own === undefined) {
    throw new Error('The HSM holds no certificate of the signing key: give it as a file (SIGNING_CERTIFICATES).');
  }
  const algorithm = signatureAlgorithm(own);
  const inSession = sessionsOf(token);
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
    throw new Error("The signing certificate is not that of the HSM's private key.");
  }
  return key;
}

/** Runs each work in a session that nothing else uses meanwhile. */
function sessionsOf(token: Pkcs11Token): <T>(work: (session: KeySession) => Promise<T>) => Promise<T> {
  const idle: (KeySession | null)[] = Array.from({ length: SESSIONS }, () => null);
  const waiting: ((session: KeySession | null) => void)[] = [];
  const take = () => {
    const session = idle.pop();
    if (session !== undefined) return session;
    const turn = Promise.withResolvers<KeySession | null>();
    waiting.push(turn.resolve);
    return turn.promise;
  };
  const giveBack = (session: KeySession | null) => {
    const next = waiting.shift();
    if (next) next(session);
    else idle.push(session);
  };

  return async (work) => {
    let session = await take();
    let sound = false;
    try {
      session ??= token.open();
      const result = await withinLimit(work(session));
      sound = true;
      return result;
    } finally {
      if (!sound) {
        closeQuietly(session);
        session = null;
      }
      giveBack(session);
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
    // It failed because the session or the HSM is gone.
  }
}
