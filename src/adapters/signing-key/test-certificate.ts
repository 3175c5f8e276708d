import {
  createHash,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import type { SigningIdentity } from './software-key.ts';

/**
 * Makes a new key with a self-signed certificate, for test documents only, as its subject states. The key is ECDSA on
 * P-256: it is generated within a millisecond, while RSA-2048 takes up to a second, and signs several times as fast.
 * @param from start of the validity, which lasts ten years
 */
export async function makeTestIdentity(from: Date): Promise<SigningIdentity> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + 10);
  return { privateKey, certificateChain: [selfSignedCertificate({ privateKey, from, to })] };
}

/**
 * A self-signed certificate of a test key (RFC 5280), valid between `from` and `to`.
 * @param usage flags of `KeyUsageFlags`
 */
export function selfSignedCertificate({
  privateKey,
  from,
  to,
  usage = KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation,
}: {
  privateKey: KeyObject;
  from: Date;
  to: Date;
  usage?: number;
}): X509Certificate {
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const publicKey = AsnConvert.parse(spki, SubjectPublicKeyInfo);
  const name = new Name([
    attribute('2.5.4.6', { printableString: 'MA' }),
    attribute('2.5.4.10', { utf8String: 'Fatoura TEST' }),
    attribute('2.5.4.3', { utf8String: 'Fatoura TEST - no legal value' }),
  ]);
  const algorithm = privateKey.asymmetricKeyType === 'rsa' ? SHA256_WITH_RSA : ECDSA_WITH_SHA256;
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: newSerialNumber(),
    signature: algorithm,
    issuer: name,
    validity: new Validity({ notBefore: from, notAfter: to }),
    subject: name,
    subjectPublicKeyInfo: publicKey,
    extensions: new Extensions([
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extension(id_ce_keyUsage, new KeyUsage(usage), true),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(digestOf(publicKey)), false),
    ]),
  });
  const value = sign('sha256', Buffer.from(AsnConvert.serialize(body)), privateKey);
  const certificate = new Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(value),
  });
  return new X509Certificate(Buffer.from(AsnConvert.serialize(certificate)));
}

/** RFC 4055, section 5, requires NULL parameters for RSA; RFC 5758, section 3.2, requires that ECDSA has none. */
const SHA256_WITH_RSA = new AlgorithmIdentifier({
  algorithm: '1.2.840.113549.1.1.11',
  parameters: arrayBuffer(Uint8Array.of(5, 0)),
});
const ECDSA_WITH_SHA256 = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });

function attribute(
  type: string,
  value: { printableString: string } | { utf8String: string },
): RelativeDistinguishedName {
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue(value) })]);
}

function extension(extnID: string, value: object, critical: boolean): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

/** Positive, at most 20 octets (RFC 5280, section 4.1.2.2), and unpredictable. */
function newSerialNumber(): ArrayBuffer {
  const octets = randomBytes(16);
  octets[0] = 0x40 | (octets.readUInt8(0) & 0x3f);
  return arrayBuffer(octets);
}

/**
 * Subject key identifier: RFC 5280, section 4.2.1.2, method 1, with SHA-256 truncated to 160 bits instead of SHA-1 (RFC
 * 7093).
 */
function digestOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return arrayBuffer(createHash('sha256').update(new Uint8Array(subjectPublicKey)).digest().subarray(0, 20));
}

function arrayBuffer(octets: Uint8Array): ArrayBuffer {
  return new Uint8Array(octets).buffer;
}
