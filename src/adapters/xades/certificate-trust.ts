import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  BasicConstraints,
  Certificate,
  type Extension,
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
} from '@peculiar/asn1-x509';
import type { ValidSignature } from '../../domain/verification/verification.ts';

/** Whether a certificate is trusted: it is one of the trust anchors, or was issued under a trust anchor. */
export type Trust =
  | { readonly trusted: true; readonly by: X509Certificate }
  | { readonly trusted: false; readonly reason: string };

/** Maximum number of intermediate certificates; real chains have one or two. */
const MAX_ISSUERS = 8;

/**
 * Builds the shortest path from a certificate to a trust anchor and validates it (RFC 5280, section 6.1): each
 * certificate is signed by the next one, which was valid at `time`, is a certification authority (basic constraints and
 * key usage) and respects its path length constraint. SHA-1, RSA keys below 2048 bits, name constraints and unknown
 * critical extensions are rejected. Revocation is not checked. Each issuer is visited once, so the work is bounded by
 * the square of their number.
 * @param signer the signer's certificate, already checked: valid at `time` and allowed to sign
 * @param others possible intermediate certificates from any source, not trusted
 * @param anchors trusted by the caller; they need not be self-signed
 */
export function trustOf(
  signer: X509Certificate,
  others: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  time: Date,
): Trust {
  if (anchors.some((anchor) => same(anchor, signer))) return { trusted: true, by: signer };
  const fault = extensionFault(signer);
  if (fault !== null) return { trusted: false, reason: `${nameOf(signer)} ${fault}` };
  let reason = "no trusted certificate issued the signer's certificate, or an intermediate certificate is missing";
  const candidates = [...anchors, ...others];
  const seen: X509Certificate[] = [signer];
  let reached = [{ certificate: signer, authorities: 0 }];
  for (let step = 0; step <= MAX_ISSUERS && reached.length > 0; step++) {
    const issuers: typeof reached = [];
    for (const { certificate, authorities } of reached) {
      for (const issuer of candidates) {
        if (seen.some((each) => same(each, issuer)) || !hasIssued(issuer, certificate)) continue;
        const issuerFault = faultOfIssuer(issuer, certificate, authorities, time);
        if (issuerFault !== null) {
          reason = issuerFault;
          continue;
        }
        if (anchors.some((anchor) => same(anchor, issuer))) return { trusted: true, by: issuer };
        seen.push(issuer);
        // Self-issued certificates do not count for the path length (RFC 5280, section 4.2.1.9).
        issuers.push({ certificate: issuer, authorities: authorities + (issuer.subject === issuer.issuer ? 0 : 1) });
      }
    }
    reached = issuers;
  }
  return { trusted: false, reason };
}

/**
 * Whether the signer of a verified document is one of the anchors or was issued under an anchor. See {@link trustOf}.
 */
export function trustOfSignature(
  { certificates, signingTime }: Pick<ValidSignature, 'certificates' | 'signingTime'>,
  anchors: readonly X509Certificate[],
): Trust {
  const [first] = certificates;
  // If the signer is itself an anchor, its certificate and the others need not be parsed again.
  const anchor = first && anchors.find(({ raw }) => raw.equals(first));
  if (anchor) return { trusted: true, by: anchor };
  const [signer, ...others] = certificates.flatMap(readable);
  if (signer === undefined) throw new Error('the verifier gave no certificate');
  return trustOf(signer, others, anchors, signingTime);
}

function readable(der: Uint8Array): X509Certificate[] {
  try {
    return [new X509Certificate(der)];
  } catch {
    return [];
  }
}

/**
 * Reads trusted certificates.
 * @throws {Error} when the text contains no certificate in PEM format, or one that cannot be read; the message names it
 * by position
 */
export function readTrusted(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('it contains no certificate in PEM format');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new Error(`certificate ${index + 1} in it cannot be read`, { cause });
    }
  });
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    // OpenSSL cannot read the key.
    return false;
  }
}

/** Returns why an issuer is not accepted for the certificate that it issued; null when it is. */
function faultOfIssuer(
  issuer: X509Certificate,
  issued: X509Certificate,
  authorities: number,
  time: Date,
): string | null {
  const name = nameOf(issuer);
  const { validFromDate, validToDate } = issuer;
  if (time < validFromDate || time > validToDate) {
    return `${name} was valid from ${validFromDate.toISOString()} to ${validToDate.toISOString()}, but the signing time is ${time.toISOString()}`;
  }
  const { tbsCertificate } = AsnConvert.parse(issuer.raw, Certificate);
  const constraints = extensionOf(tbsCertificate.extensions, id_ce_basicConstraints);
  if (!issuer.ca || constraints === undefined) return `${name} is not a certification authority`;
  const { pathLenConstraint } = AsnConvert.parse(constraints.extnValue.buffer, BasicConstraints);
  if (pathLenConstraint !== undefined && authorities > pathLenConstraint) {
    return `${name} allows ${pathLenConstraint} authorities below it, but has ${authorities}`;
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = issuer.publicKey;
  if (asymmetricKeyType?.startsWith('rsa') && (asymmetricKeyDetails?.modulusLength ?? 0) < 2048) {
    return `the key of ${name} is too short`;
  }
  const { signatureAlgorithm } = AsnConvert.parse(issued.raw, Certificate);
  if (!STRONG.has(signatureAlgorithm.algorithm)) {
    return `${nameOf(issued)} was issued with an algorithm that is not accepted (${signatureAlgorithm.algorithm})`;
  }
  const fault = extensionFault(issuer);
  return fault === null ? null : `${name} ${fault}`;
}

const KNOWN: ReadonlySet<string> = new Set([
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  // Certificate policies are ignored.
  id_ce_certificatePolicies,
]);

/** RSA, RSA-PSS and ECDSA with SHA-2, Ed25519 and Ed448. */
const STRONG: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.10',
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
  '1.3.101.113',
]);

function extensionFault({ raw }: X509Certificate): string | null {
  const { extensions = [] } = AsnConvert.parse(raw, Certificate).tbsCertificate;
  const unknown = extensions.find(({ critical, extnID }) => critical && !KNOWN.has(extnID));
  if (extensions.some(({ extnID }) => extnID === id_ce_nameConstraints))
    return 'has name constraints, which are not supported';
  return unknown === undefined ? null : `has an unknown critical extension (${unknown.extnID})`;
}

function extensionOf(extensions: Iterable<Extension> | undefined, id: string): Extension | undefined {
  return [...(extensions ?? [])].find(({ extnID }) => extnID === id);
}

function same(one: X509Certificate, other: X509Certificate): boolean {
  return one.raw.equals(other.raw);
}

function nameOf({ subject }: X509Certificate): string {
  return `“${subject.replaceAll('\n', ', ')}”`;
}
