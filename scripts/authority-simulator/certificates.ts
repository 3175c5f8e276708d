import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** Signature algorithm by type of the issuer's key. */
const ALGORITHMS = {
  ec: { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' },
  rsa: { sha256: '1.2.840.113549.1.1.11', sha1: '1.2.840.113549.1.1.5' },
} as const;

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
  readonly hash?: 'sha256' | 'sha1';
  /** Object identifier of a further extension, which nobody knows. */
  readonly critical?: string;
  /** Whose certificate it is on a TLS connection. */
  readonly tls?: 'server' | 'client';
  /** Host names and IP addresses of a TLS server. */
  readonly hosts?: readonly string[];
  readonly privateKey?: KeyObject;
}

/** A certificate issued by another one, or self-signed; by default that of an authority, valid from 2026 to 2036. */
export function issue(name: string, by: Issuer | null, form: CertificateForm = {}): Issuer {
  const { ca = true, pathLength, hash = 'sha256', from = new Date('2026-01-01'), to = new Date('2036-01-01') } = form;
  const usage = form.usage ?? (ca ? KeyUsageFlags.keyCertSign : KeyUsageFlags.nonRepudiation);
  const privateKey = form.privateKey ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const signingKey = by?.privateKey ?? privateKey;
  const { [hash]: oid } = ALGORITHMS[signingKey.asymmetricKeyType as keyof typeof ALGORITHMS];
  const algorithm = new AlgorithmIdentifier({ algorithm: oid });
  const constraints = new BasicConstraints({
    cA: ca,
    ...(pathLength !== undefined && { pathLenConstraint: pathLength }),
  });
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBuffer(createHash('sha256').update(randomBytes(8)).digest().subarray(0, 8).fill(1, 0, 1)),
    signature: algorithm,
    issuer: nameOf(by?.name ?? name),
    validity: new Validity({ notBefore: from, notAfter: to }),
    subject: nameOf(name),
    subjectPublicKeyInfo: AsnConvert.parse(
      createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
      SubjectPublicKeyInfo,
    ),
    extensions: new Extensions([
      extension(id_ce_basicConstraints, constraints),
      extension(id_ce_keyUsage, new KeyUsage(usage)),
      ...(form.tls === undefined ? [] : [extension(id_ce_extKeyUsage, new ExtendedKeyUsage([TLS_PURPOSE[form.tls]]))]),
      ...(form.hosts === undefined ? [] : [extension(id_ce_subjectAltName, namesOf(form.hosts))]),
      ...(form.critical === undefined ? [] : [extension(form.critical, new BasicConstraints())]),
    ]),
  });
  const value = sign(hash, Buffer.from(AsnConvert.serialize(body)), signingKey);
  const signed = new Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(value),
  });
  return { name, privateKey, certificate: new X509Certificate(Buffer.from(AsnConvert.serialize(signed))) };
}

function extension(extnID: string, value: object): Extension {
  return new Extension({ extnID, critical: true, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])]);
}

function namesOf(hosts: readonly string[]): SubjectAlternativeName {
  return new SubjectAlternativeName(
    hosts.map((host) => new GeneralName(isIP(host) > 0 ? { iPAddress: host } : { dNSName: host })),
  );
}

function arrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
