import { createHash, createPublicKey, generateKeyPair, randomBytes, sign, X509Certificate } from 'node:crypto';
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
import type { SigningIdentity } from './document-signer.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const VALID_YEARS = 10;

/**
 * A new key with a certificate that it signed itself (RFC 5280), for test documents only: its subject says so. The key is ECDSA on P-256:
 * made within a millisecond at the first start, where RSA-2048 takes up to a second, and several times as fast to sign with.
 * @param from start of its validity, which lasts ten years
 */
export async function makeTestIdentity(from: Date): Promise<SigningIdentity> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const publicKey = AsnConvert.parse(
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    SubjectPublicKeyInfo,
  );
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + VALID_YEARS);
  const name = new Name([
    attribute('2.5.4.6', { printableString: 'MA' }),
    attribute('2.5.4.10', { utf8String: 'Fatoura TEST' }),
    attribute('2.5.4.3', { utf8String: 'Fatoura TEST - no legal value' }),
  ]);
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
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
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation), true),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(digestOf(publicKey)), false),
    ]),
  });
  const signatureValue = sign('sha256', Buffer.from(AsnConvert.serialize(body)), privateKey);
  const certificate = new Certificate({
    tbsCertificate: body,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(signatureValue),
  });
  return { privateKey, certificateChain: [new X509Certificate(Buffer.from(AsnConvert.serialize(certificate)))] };
}

function attribute(
  type: string,
  value: { printableString: string } | { utf8String: string },
): RelativeDistinguishedName {
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue(value) })]);
}

function extension(extnID: string, value: object, critical: boolean): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

/** RFC 5280, section 4.1.2.2: positive, at most 20 octets, and not to be guessed. */
function newSerialNumber(): ArrayBuffer {
  const octets = randomBytes(16);
  octets[0] = 0x40 | (octets.readUInt8(0) & 0x3f);
  return arrayBuffer(octets);
}

/** RFC 5280, section 4.2.1.2, method 1, with SHA-256 cut to 160 bits in the place of SHA-1 (RFC 7093). */
function digestOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return arrayBuffer(createHash('sha256').update(new Uint8Array(subjectPublicKey)).digest().subarray(0, 20));
}

function arrayBuffer(octets: Uint8Array): ArrayBuffer {
  return new Uint8Array(octets).buffer;
}
