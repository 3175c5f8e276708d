import { X509Certificate } from 'node:crypto';
import type { SigningCertificate } from '../../domain/verification/verification.ts';
import { elementsOf, objectIdentifier } from '../der.ts';
import { Refused } from './refused.ts';

/** Tags of DER, and the object identifier of the key usage (RFC 5280, sections 4.1 and 4.2.1.3). */
const [EXTENSIONS, OCTET_STRING, BIT_STRING] = [0xa3, 0x04, 0x03];
const KEY_USAGE = objectIdentifier('2.5.29.15');
/** The key usage bits digitalSignature and nonRepudiation. */
const SIGNING_BITS = 0xc0;
const NONE = Buffer.alloc(0);

/**
 * Reads and checks the certificate of a signature: its digest is the signed one, it was valid at the signing time, it
 * allows signing documents (key usage digitalSignature or nonRepudiation, RFC 5280, section 4.2.1.3), and its key is
 * RSA of at least 2048 bits or P-256.
 * @param encoded DER, base64
 * @param signedDigest SHA-256 from the signed properties, base64
 * @throws {Refused} with `certificate`
 */
export function readSigningCertificate(
  encoded: string | undefined,
  signedDigest: string,
  signingTime: Date,
): X509Certificate {
  const certificate = parse(encoded);
  const digest = Buffer.from(certificate.fingerprint256.replaceAll(':', ''), 'hex').toString('base64');
  demand(digest === signedDigest, 'The certificate is not the one that the signature refers to.');
  const { validFromDate, validToDate } = certificate;
  demand(
    signingTime >= validFromDate && signingTime <= validToDate,
    `The certificate is valid from ${validFromDate.toISOString()} to ${validToDate.toISOString()}, but the signing time is ${signingTime.toISOString()}.`,
  );
  demand(maySign(certificate), 'The certificate does not allow signing documents (key usage).');
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  demand(
    (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) ||
      (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'),
    'The key of the certificate is neither RSA of 2048 bits or more nor ECDSA on P-256.',
  );
  return certificate;
}

/** Returns the facts that a verification states about the signer's certificate. */
export function describeCertificate(certificate: X509Certificate): SigningCertificate {
  return {
    subject: certificate.subject.replaceAll('\n', ', '),
    issuer: certificate.issuer.replaceAll('\n', ', '),
    serialNumber: certificate.serialNumber,
    validFrom: certificate.validFromDate,
    validTo: certificate.validToDate,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

function parse(encoded: string | undefined): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(encoded ?? '', 'base64'));
  } catch (cause) {
    throw new Refused('certificate', 'The signature has no readable certificate.', { cause });
  }
}

/**
 * Whether a certificate allows signing. Without the key usage extension it is not restricted; with one that cannot be
 * read it must not sign.
 */
function maySign({ raw }: X509Certificate): boolean {
  const [tbsCertificate = raw] = elementsOf(raw);
  const explicit = elementsOf(tbsCertificate).find(([tag]) => tag === EXTENSIONS);
  const [extensions] = explicit === undefined ? [] : elementsOf(explicit);
  if (extensions === undefined) return true;
  const usages = elementsOf(extensions)
    .map(elementsOf)
    .filter(([id]) => id?.equals(KEY_USAGE));
  return usages.every(([, ...values]) => {
    const value = values.at(-1) ?? NONE;
    // The OCTET STRING contains a BIT STRING: tag, length, number of unused bits, bits.
    const bits = value[0] === OCTET_STRING && value[2] === BIT_STRING && value.length >= 6 ? value.readUInt8(5) : 0;
    return (bits & SIGNING_BITS) !== 0;
  });
}

function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('certificate', reason);
}
