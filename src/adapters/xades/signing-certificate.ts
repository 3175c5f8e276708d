import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, id_ce_keyUsage, KeyUsage, KeyUsageFlags } from '@peculiar/asn1-x509';
import { Refused } from './refused.ts';

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

function parse(encoded: string | undefined): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(encoded ?? '', 'base64'));
  } catch (cause) {
    throw new Refused('certificate', 'The signature has no readable certificate.', { cause });
  }
}

/** A certificate without the extension is not restricted. */
function maySign({ raw }: X509Certificate): boolean {
  const { tbsCertificate } = AsnConvert.parse(raw, Certificate);
  const extension = tbsCertificate.extensions?.find(({ extnID }) => extnID === id_ce_keyUsage);
  if (extension === undefined) return true;
  const usage = AsnConvert.parse(extension.extnValue.buffer, KeyUsage).toNumber();
  return (usage & (KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation)) !== 0;
}

function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('certificate', reason);
}
