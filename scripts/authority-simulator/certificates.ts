import { generateKeyPairSync, type KeyObject, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraints,
  ExtendedKeyUsage,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509';
import {
  type CertificateContent,
  extension,
  makeCertificate,
  publicKeyOf,
} from '../../src/adapters/signing-key/make-certificate.ts';

const TLS_PURPOSE = { server: id_kp_serverAuth, client: id_kp_clientAuth } as const;

/** A key with its certificate, which can issue others. */
export interface Issuer {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly certificate: X509Certificate;
}

export interface CertificateForm {
  readonly ca?: boolean;
  readonly pathLength?: number;
  readonly usage?: number;
  readonly from?: Date;
  readonly to?: Date;
  readonly hash?: NonNullable<CertificateContent['hash']>;
  /** Object identifier of a further extension, which nobody knows. */
  readonly critical?: string;
  /** The side of a TLS connection that shows the certificate. */
  readonly tls?: 'server' | 'client';
  /** Host names and IP addresses of a TLS server. */
  readonly hosts?: readonly string[];
  readonly privateKey?: KeyObject;
}

/**
 * Makes a certificate, issued by another one or self-signed; by default that of an authority, valid from 2026 to 2036.
 */
export function issue(name: string, by: Issuer | null, form: CertificateForm = {}): Issuer {
  const { ca = true, pathLength, hash = 'sha256', from = new Date('2026-01-01'), to = new Date('2036-01-01') } = form;
  const usage = form.usage ?? (ca ? KeyUsageFlags.keyCertSign : KeyUsageFlags.nonRepudiation);
  const privateKey = form.privateKey ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const constraints = new BasicConstraints({
    cA: ca,
    ...(pathLength !== undefined && { pathLenConstraint: pathLength }),
  });
  const certificate = makeCertificate({
    subject: { commonName: name },
    issuer: { name: { commonName: by?.name ?? name }, privateKey: by?.privateKey ?? privateKey },
    publicKey: publicKeyOf(privateKey),
    from,
    to,
    hash,
    extensions: [
      extension(id_ce_basicConstraints, constraints),
      extension(id_ce_keyUsage, new KeyUsage(usage)),
      ...(form.tls === undefined ? [] : [extension(id_ce_extKeyUsage, new ExtendedKeyUsage([TLS_PURPOSE[form.tls]]))]),
      ...(form.hosts === undefined ? [] : [extension(id_ce_subjectAltName, namesOf(form.hosts))]),
      ...(form.critical === undefined ? [] : [extension(form.critical, new BasicConstraints())]),
    ],
  });
  return { name, privateKey, certificate };
}

function namesOf(hosts: readonly string[]): SubjectAlternativeName {
  return new SubjectAlternativeName(
    hosts.map((host) => new GeneralName(isIP(host) > 0 ? { iPAddress: host } : { dNSName: host })),
  );
}
