import { createHash, generateKeyPair, type KeyObject, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import {
  BasicConstraints,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  SubjectKeyIdentifier,
  type SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import { arrayBuffer, extension, makeCertificate, publicKeyOf } from './make-certificate.ts';
import type { SigningIdentity } from './software-key.ts';

const NAME = { country: 'MA', organization: 'Fatoura TEST', commonName: 'Fatoura TEST - no legal value' };

/**
 * Makes a new key with a self-signed certificate, which is for test documents only, as its subject states. The key is
 * ECDSA on P-256: it is generated within a millisecond, while RSA-2048 takes up to a second, and signs several times as
 * fast.
 * @param from start of the validity, which lasts ten years
 */
export async function makeTestIdentity(from: Date): Promise<SigningIdentity> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + 10);
  return { privateKey, certificateChain: [selfSignedCertificate({ privateKey, from, to })] };
}

/**
 * Makes a self-signed certificate for a test key (RFC 5280), valid between `from` and `to`.
 * @param usage flags of `KeyUsageFlags`
 */
export function selfSignedCertificate({
  privateKey,
  from,
  to,
  usage = KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation,
}: {
  privateKey: KeyObject;
  from: Date;
  to: Date;
  usage?: number;
}): X509Certificate {
  const publicKey = publicKeyOf(privateKey);
  return makeCertificate({
    subject: NAME,
    issuer: { name: NAME, privateKey },
    publicKey,
    from,
    to,
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false })),
      extension(id_ce_keyUsage, new KeyUsage(usage)),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(digestOf(publicKey)), false),
    ],
  });
}

/**
 * Computes the subject key identifier: RFC 5280, section 4.2.1.2, method 1, with SHA-256 truncated to 160 bits instead
 * of SHA-1 (RFC 7093).
 */
function digestOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return arrayBuffer(createHash('sha256').update(new Uint8Array(subjectPublicKey)).digest().subarray(0, 20));
}
