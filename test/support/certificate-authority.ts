import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { issue } from '../../scripts/authority-simulator/certificates.ts';

const DAY_MS = 86_400_000;

/** A certification authority for TLS certificates that only the test trusts. */
export interface CertificateAuthority {
  /** The authority's certificate, PEM. */
  readonly certificate: string;
  /**
   * Issues a key and certificate, PEM.
   * @param expired whether the validity ended yesterday
   * @param tls the side of TLS that it is for, by default a server
   */
  issue(host: string, expired?: boolean, tls?: 'server' | 'client'): Promise<{ key: string; cert: string }>;
}

export async function createCertificateAuthority(name: string): Promise<CertificateAuthority> {
  const day = (days: number) => new Date(Date.now() + days * DAY_MS);
  const authority = issue(name, null, { from: day(-5), to: day(5) });
  return {
    certificate: String(authority.certificate),
    async issue(host, expired = false, tls = 'server') {
      const until = expired ? -1 : 5;
      const { privateKey, certificate } = issue(host, authority, {
        ca: false,
        usage: KeyUsageFlags.digitalSignature,
        tls,
        hosts: [host],
        from: day(until - 10),
        to: day(until),
      });
      return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert: String(certificate) };
    },
  };
}
