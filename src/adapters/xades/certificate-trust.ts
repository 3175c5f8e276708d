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

/** Whether a certificate is one of those that are trusted, or was issued under one. */
export type Trust =
  | { readonly trusted: true; readonly by: X509Certificate }
  | { readonly trusted: false; readonly reason: string };

/** Issuers between a certificate and a trusted one; real chains have one or two. */
const MAX_ISSUERS = 8;

/**
 * Builds the shortest path from a certificate to a trusted one and validates it (RFC 5280, section 6.1): each certificate is signed by the
 * next, which was valid at that time, is an authority (basic constraints and key usage) and may have so many authorities below it. SHA-1
 * and RSA below 2048 bits are not taken, nor what would need more than that: name constraints, and critical extensions that are unknown.
 * Revocation is not checked. Each issuer is looked at once, so the work is bounded by the square of their number.
 * @param signer already checked itself: valid at that time, and fit for signing
 * @param others from anywhere: issuers between
 * @param anchors trusted by the caller; self-signed or not
 */
export function trustOf(
  signer: X509Certificate,
  others: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  time: Date,
): Trust {
  if (anchors.some((anchor) => same(anchor, signer))) return { trusted: true, by: signer };
  const unusual = unknownExtension(signer);
  if (unusual !== null) return { trusted: false, reason: `${nameOf(signer)} ${unusual}` };
  let reason = 'no trusted certificate issued its certificate, or an issuer between them is missing';
  const candidates = [...anchors, ...others];
  const seen: X509Certificate[] = [signer];
  let reached = [{ certificate: signer, authorities: 0 }];
  for (let step = 0; step <= MAX_ISSUERS && reached.length > 0; step++) {
    const above: typeof reached = [];
    for (const { certificate, authorities } of reached) {
      for (const issuer of candidates) {
        if (seen.some((each) => same(each, issuer)) || !hasIssued(issuer, certificate)) continue;
        const objection = objectionTo(issuer, certificate, authorities, time);
        if (objection !== null) {
          reason = objection;
          continue;
        }
        if (anchors.some((anchor) => same(anchor, issuer))) return { trusted: true, by: issuer };
        seen.push(issuer);
        // One that issued itself anew does not count (RFC 5280, section 4.2.1.9).
        above.push({ certificate: issuer, authorities: authorities + (issuer.subject === issuer.issuer ? 0 : 1) });
      }
    }
    reached = above;
  }
  return { trusted: false, reason };
}

/** @throws {Error} when the text holds no certificate in PEM form, or one that can't be read; the message says which */
export function readTrusted(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('there is no certificate in PEM form in it');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new Error(`certificate ${index + 1} in it can not be read`, { cause });
    }
  });
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    // A key that OpenSSL can't read.
    return false;
  }
}

/** Why a certificate that has issued the other one may not be relied on for it; null when it may. */
function objectionTo(issuer: X509Certificate, issued: X509Certificate, authorities: number, time: Date): string | null {
  const name = nameOf(issuer);
  const { validFromDate, validToDate } = issuer;
  if (time < validFromDate || time > validToDate) {
    return `${name} was valid from ${validFromDate.toISOString()} to ${validToDate.toISOString()}, and the signature says ${time.toISOString()}`;
  }
  const { tbsCertificate } = AsnConvert.parse(issuer.raw, Certificate);
  const constraints = extensionOf(tbsCertificate.extensions, id_ce_basicConstraints);
  if (!issuer.ca || constraints === undefined) return `${name} is no certification authority`;
  const { pathLenConstraint } = AsnConvert.parse(constraints.extnValue.buffer, BasicConstraints);
  if (pathLenConstraint !== undefined && authorities > pathLenConstraint) {
    return `${name} may have ${pathLenConstraint} authorities below it, and has ${authorities}`;
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = issuer.publicKey;
  if (asymmetricKeyType?.startsWith('rsa') && (asymmetricKeyDetails?.modulusLength ?? 0) < 2048) {
    return `the key of ${name} is too short`;
  }
  const { signatureAlgorithm } = AsnConvert.parse(issued.raw, Certificate);
  if (!STRONG.has(signatureAlgorithm.algorithm)) {
    return `${nameOf(issued)} was issued with an algorithm that is not taken (${signatureAlgorithm.algorithm})`;
  }
  const unusual = unknownExtension(issuer);
  return unusual === null ? null : `${name} ${unusual}`;
}

const KNOWN: ReadonlySet<string> = new Set([
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  // No policy is asked for.
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

function unknownExtension({ raw }: X509Certificate): string | null {
  const { extensions = [] } = AsnConvert.parse(raw, Certificate).tbsCertificate;
  const unknown = extensions.find(({ critical, extnID }) => critical && !KNOWN.has(extnID));
  if (extensions.some(({ extnID }) => extnID === id_ce_nameConstraints))
    return 'has name constraints, which are not taken';
  return unknown === undefined ? null : `has a critical extension that is not known (${unknown.extnID})`;
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
