import type { X509Certificate } from 'node:crypto';

/**
 * Returns the chain of `own`: the certificate, its issuer, and so on, as far as `certificates` contains the issuers.
 */
export function chainFrom(
  own: X509Certificate,
  certificates: readonly X509Certificate[],
): [X509Certificate, ...X509Certificate[]] {
  const chain: [X509Certificate, ...X509Certificate[]] = [own];
  for (let last = own; ; ) {
    const issuer = certificates.find(
      (each) =>
        !chain.some((known) => known.raw.equals(each.raw)) && last.checkIssued(each) && last.verify(each.publicKey),
    );
    if (issuer === undefined) return chain;
    chain.push(issuer);
    last = issuer;
  }
}
