import { createHash } from 'node:crypto';
import type { SigningKey } from '../../domain/invoice/signing-key.ts';
import {
  elementsOf,
  NULL,
  objectIdentifier,
  octetString,
  sequence,
  set,
  smallInteger,
  tagged,
  unsignedInteger,
} from '../der.ts';

const DATA = objectIdentifier('1.2.840.113549.1.7.1');
const SIGNED_DATA = objectIdentifier('1.2.840.113549.1.7.2');
const CONTENT_TYPE = objectIdentifier('1.2.840.113549.1.9.3');
const MESSAGE_DIGEST = objectIdentifier('1.2.840.113549.1.9.4');
const SIGNING_CERTIFICATE_V2 = objectIdentifier('1.2.840.113549.1.9.16.2.47');
const SHA256 = sequence(objectIdentifier('2.16.840.1.101.3.4.2.1'));
const SIGNATURE_ALGORITHM = {
  'RSA-SHA256': sequence(objectIdentifier('1.2.840.113549.1.1.11'), NULL),
  'ECDSA-SHA256': sequence(objectIdentifier('1.2.840.10045.4.3.2')),
} as const;

/**
 * Makes a detached CMS signature (RFC 5652) with the attributes that PAdES baseline B-B requires (ETSI EN 319 142-1,
 * section 6.3): the digest and the signing certificate. The signing time is not an attribute; it is in the PDF's
 * signature dictionary.
 * @param contentDigest SHA-256 of the signed content
 * @returns DER, at most {@link cadesSignatureLimit} octets
 * @throws {SigningFailed} when the key cannot be used
 */
export async function cadesSignature(key: SigningKey, contentDigest: Uint8Array): Promise<Buffer> {
  const attributes = signedAttributes(key, contentDigest);
  const value = await key.sign(set(...attributes));
  return signedData(key, attributes, key.algorithm === 'RSA-SHA256' ? value : derSignature(value));
}

/** Returns the maximum length of a signature by this key, in octets. */
export function cadesSignatureLimit(key: SigningKey): number {
  const { modulusLength = 512 } = key.certificateChain[0].publicKey.asymmetricKeyDetails ?? {};
  return signedData(key, signedAttributes(key, new Uint8Array(32)), new Uint8Array(modulusLength / 8 + 16)).length;
}

function signedAttributes({ certificateChain: [certificate] }: SigningKey, contentDigest: Uint8Array): Buffer[] {
  const certificateDigest = createHash('sha256').update(certificate.raw).digest();
  return [
    sequence(CONTENT_TYPE, set(DATA)),
    sequence(MESSAGE_DIGEST, set(octetString(contentDigest))),
    // One ESSCertIDv2 with the default digest algorithm, SHA-256 (RFC 5035, section 3).
    sequence(SIGNING_CERTIFICATE_V2, set(sequence(sequence(sequence(octetString(certificateDigest)))))),
  ];
}

function signedData({ certificateChain, algorithm }: SigningKey, attributes: Buffer[], value: Uint8Array): Buffer {
  // The attributes and the certificates are encoded as SETs with a context-specific tag (IMPLICIT).
  const [tagOfSet, contextTag] = [set(...attributes), Buffer.of(0xa0)];
  const signerInfo = sequence(
    smallInteger(1),
    issuerAndSerialNumber(certificateChain[0].raw),
    SHA256,
    Buffer.concat([contextTag, tagOfSet.subarray(1)]),
    SIGNATURE_ALGORITHM[algorithm],
    octetString(value),
  );
  return sequence(
    SIGNED_DATA,
    tagged(
      0,
      sequence(
        smallInteger(1),
        set(SHA256),
        sequence(DATA),
        Buffer.concat([contextTag, set(...certificateChain.map(({ raw }) => raw)).subarray(1)]),
        set(signerInfo),
      ),
    ),
  );
}

/**
 * Returns issuer and serial number, copied octet by octet from the certificate (RFC 5280, section 4.1), where a version
 * may precede them.
 */
function issuerAndSerialNumber(certificate: Uint8Array): Buffer {
  const VERSION = 0xa0;
  const body = elementsOf(elementsOf(certificate)[0]!);
  const [serialNumber, , issuer] = body[0]![0] === VERSION ? body.slice(1) : body;
  return sequence(issuer!, serialNumber!);
}

/** Converts r and s, concatenated, into an Ecdsa-Sig-Value (RFC 3279, section 2.2.3). */
function derSignature(value: Uint8Array): Buffer {
  const half = value.byteLength / 2;
  return sequence(unsignedInteger(value.subarray(0, half)), unsignedInteger(value.subarray(half)));
}
