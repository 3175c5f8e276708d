import type { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  anyExtendedKeyUsage,
  Certificate,
  id_ce_keyUsage,
  id_kp_clientAuth,
  KeyUsage,
  KeyUsageFlags,
} from '@peculiar/asn1-x509';
import { DAY_MS } from '../../domain/durations.ts';
import type { SigningKey } from '../../domain/invoice/signing-key.ts';
import { moroccanDate } from '../../domain/morocco/time.ts';

/** A problem with a signing certificate, for operators. */
export interface CertificateFinding {
  /** `error`: a signature made now would not be valid. */
  readonly level: 'warn' | 'error';
  /** A sentence that ends with what to do. */
  readonly text: string;
  /**
   * The key under which this finding is reported only once: the certificate, and the threshold in days before its
   * expiry. Absent for a finding that is reported each time.
   */
  readonly period?: string;
}

/** An approaching expiry is reported this many days before it. */
const EXPIRY_WARNING_DAYS = [30, 7, 1] as const;

/**
 * Returns the problems of a key's certificates at the time `now`: validity, key usage (RFC 5280, section 4.2.1.3),
 * chain.
 */
export function certificateFindings({ certificateChain, testOnly }: SigningKey, now: Date): CertificateFinding[] {
  const [own] = certificateChain;
  const findings: CertificateFinding[] = [];
  const error = (text: string) => findings.push({ level: 'error', text });
  const warn = (text: string) => findings.push({ level: 'warn', text });

  for (const certificate of certificateChain) {
    const who = certificate === own ? 'The signing certificate' : `The issuer's certificate (${nameOf(certificate)})`;
    const finding = expiryFinding(who, certificate, now);
    if (finding) findings.push(finding);
  }
  if (!maySign(own)) {
    error('The signing certificate does not allow signing documents (key usage). Have one with nonRepudiation issued.');
  }
  const issuers = certificateChain.slice(1);
  if (issuers.some((issuer) => !issuer.ca)) {
    error(
      'The issuer of the signing certificate is not a certification authority (basic constraints). Have another certificate issued.',
    );
  }
  const top = certificateChain.at(-1) ?? own;
  if (!testOnly && !isSelfIssued(top)) {
    warn(
      `The chain ends at ${nameOf(top)}, whose issuer is missing. Add the issuer's certificate, so that receivers can verify signatures.`,
    );
  }
  if (!testOnly && issuers.length === 0 && isSelfIssued(own)) {
    warn(
      'The signing certificate is self-signed, which no authority trusts. Have one issued by a certification authority.',
    );
  }
  return findings;
}

/**
 * Returns an error if the certificate is not yet valid or has expired, a warning if it expires soon, otherwise null.
 * @param who the start of the text
 */
export function expiryFinding(who: string, certificate: X509Certificate, now: Date): CertificateFinding | null {
  const { validFromDate, validToDate, fingerprint256 } = certificate;
  const days = daysLeft(certificate, now);
  const until = moroccanDate(validToDate);
  if (now < validFromDate) {
    const text = `${who} is not valid before ${validFromDate.toISOString()}. Check the clock, or wait until then.`;
    return { level: 'error', text };
  }
  if (days < 0) {
    return { level: 'error', text: `${who} expired on ${until}. Install a new one; it is of no use until then.` };
  }
  const threshold = EXPIRY_WARNING_DAYS.findLast((each) => days < each);
  if (threshold === undefined) return null;
  const text = `${who} expires on ${until}, in ${days} days. Have a new one issued.`;
  return { level: 'warn', text, period: `${fingerprint256} ${threshold}` };
}

/** Returns the whole days until a certificate expires; negative after that. */
function daysLeft({ validToDate }: X509Certificate, now: Date): number {
  return Math.floor((validToDate.getTime() - now.getTime()) / DAY_MS);
}

function isSelfIssued(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey);
}

/**
 * Whether a certificate's key usage allows signing documents. A certificate without the extension is not restricted.
 */
export function maySign(certificate: X509Certificate): boolean {
  return allows(certificate, KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation);
}

/** Whether a certificate may identify a TLS client (RFC 5280, section 4.2.1.12). */
export function mayAuthenticate(certificate: X509Certificate): boolean {
  const purposes = certificate.keyUsage as readonly string[] | undefined;
  const isForClients = purposes?.some((oid) => oid === id_kp_clientAuth || oid === anyExtendedKeyUsage) ?? true;
  return isForClients && allows(certificate, KeyUsageFlags.digitalSignature);
}

/** Whether a certificate's key usage allows something. @param flags the usages, of which one is enough */
function allows({ raw }: X509Certificate, flags: number): boolean {
  const { tbsCertificate } = AsnConvert.parse(raw, Certificate);
  const extension = tbsCertificate.extensions?.find(({ extnID }) => extnID === id_ce_keyUsage);
  if (extension === undefined) return true;
  return (AsnConvert.parse(extension.extnValue.buffer, KeyUsage).toNumber() & flags) !== 0;
}

function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}
