import { createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Extension,
  Extensions,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

/** The parts of a distinguished name; `country` has two letters. */
export interface CertificateName {
  readonly country?: string;
  readonly organization?: string;
  readonly commonName: string;
}

/** The content of a certificate, and who signs it. */
export interface CertificateContent {
  readonly subject: CertificateName;
  readonly publicKey: SubjectPublicKeyInfo;
  /** The subject itself for a self-signed certificate. The key is RSA or ECDSA on P-256. */
  readonly issuer: { readonly name: CertificateName; readonly privateKey: KeyObject };
  /** Start and end of the validity. */
  readonly from: Date;
  readonly to: Date;
  readonly extensions: readonly Extension[];
  /** Hash algorithm of the signature. Every verifier refuses SHA-1. Default: SHA-256. */
  readonly hash?: 'sha256' | 'sha1';
}

/** Makes a certificate (RFC 5280) with a new serial number. */
export function makeCertificate({ issuer, hash = 'sha256', ...content }: CertificateContent): X509Certificate {
  const algorithm = algorithmOf(issuer.privateKey, hash);
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: newSerialNumber(),
    signature: algorithm,
    issuer: nameOf(issuer.name),
    validity: new Validity({ notBefore: content.from, notAfter: content.to }),
    subject: nameOf(content.subject),
    subjectPublicKeyInfo: content.publicKey,
    extensions: new Extensions([...content.extensions]),
  });
  const value = sign(hash, Buffer.from(AsnConvert.serialize(body)), issuer.privateKey);
  const signed = new Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(value),
  });
  return new X509Certificate(Buffer.from(AsnConvert.serialize(signed)));
}

/** Returns the public key of a pair, as a certificate states it. */
export function publicKeyOf(privateKey: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
}

/** Makes an extension. @param value one of the extension types of `@peculiar/asn1-x509` */
export function extension(extnID: string, value: object, critical = true): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

export function arrayBuffer(octets: Uint8Array): ArrayBuffer {
  return new Uint8Array(octets).buffer;
}

const ALGORITHMS = {
  ec: { sha256: '1.2.840.10045.4.3.2', sha1: '1.2.840.10045.4.1' },
  rsa: { sha256: '1.2.840.113549.1.1.11', sha1: '1.2.840.113549.1.1.5' },
} as const;

/**
 * Returns a signature algorithm. RFC 4055, section 5, requires NULL parameters for RSA; RFC 5758, section 3.2, forbids
 * parameters for ECDSA.
 */
function algorithmOf({ asymmetricKeyType }: KeyObject, hash: 'sha256' | 'sha1'): AlgorithmIdentifier {
  if (asymmetricKeyType === 'ec') return new AlgorithmIdentifier({ algorithm: ALGORITHMS.ec[hash] });
  return new AlgorithmIdentifier({ algorithm: ALGORITHMS.rsa[hash], parameters: arrayBuffer(Uint8Array.of(5, 0)) });
}

function nameOf({ country, organization, commonName }: CertificateName): Name {
  return new Name([
    ...(country === undefined ? [] : [attribute('2.5.4.6', { printableString: country })]),
    ...(organization === undefined ? [] : [attribute('2.5.4.10', { utf8String: organization })]),
    attribute('2.5.4.3', { utf8String: commonName }),
  ]);
}

function attribute(
  type: string,
  value: { printableString: string } | { utf8String: string },
): RelativeDistinguishedName {
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue(value) })]);
}

/** Returns a serial number: positive, at most 20 octets (RFC 5280, section 4.1.2.2), and unpredictable. */
function newSerialNumber(): ArrayBuffer {
  const octets = randomBytes(16);
  octets[0] = 0x40 | (octets.readUInt8(0) & 0x3f);
  return arrayBuffer(octets);
}
