import type { X509Certificate } from 'node:crypto';
import { maySign } from './certificate-findings.ts';

/**
 * Chooses one of several certificates for the same key: one that is valid at `now` and whose usage fits. If there is
 * none, one whose usage fits, so that the reported problem is its validity. Among equal ones, takes the one that is
 * valid for longest. So a renewed certificate is used as soon as it is present.
 * @param fits whether a certificate may be used for the purpose; default: for signing documents
 */
export function chooseCertificate(
  certificates: readonly X509Certificate[],
  now: Date,
  fits: (certificate: X509Certificate) => boolean = maySign,
): X509Certificate | undefined {
  const rank = (certificate: X509Certificate): readonly [number, number, number] => [
    fits(certificate) ? 1 : 0,
    certificate.validFromDate <= now && now <= certificate.validToDate ? 1 : 0,
    certificate.validToDate.getTime(),
  ];
  return certificates
    .map((certificate) => ({ certificate, rank: rank(certificate) }))
    .sort((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1] || b.rank[2] - a.rank[2])[0]?.certificate;
}
