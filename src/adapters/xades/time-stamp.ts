import { createHash } from 'node:crypto';
import { type AsnType, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import { type Certificate, ContentInfo, ExtKeyUsage, SignedData, TSTInfo } from 'pkijs';
import { Refused } from './refused.ts';
import { DS } from './vocabulary.ts';

/** A third party's confirmation (RFC 3161) that the signature existed at this time. */
export interface TimeStamp {
  readonly time: Date;
  /** Distinguished name in the authority's certificate. */
  readonly authority: string;
}

const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/**
 * Returns the octets that a signature time stamp covers: the ds:SignatureValue element in exclusive canonical form (EN
 * 319 132-1, section 5.3).
 * @param value the element's text, unchanged
 */
export function stampedOctets(value: string, prefix = 'ds', id: string | null = null): Uint8Array {
  const name = prefix === '' ? 'SignatureValue' : `${prefix}:SignatureValue`;
  const declaration = prefix === '' ? `xmlns="${DS}"` : `xmlns:${prefix}="${DS}"`;
  return Buffer.from(`<${name} ${declaration}${id === null ? '' : ` Id="${id}"`}>${value}</${name}>`);
}

/**
 * Checks a time-stamp token: it covers `stamped`, its signature is valid, and the authority's certificate is for time
 * stamping and was valid at the time. It does not check whether the authority is trusted.
 * @param token DER of the CMS SignedData
 * @throws {Refused} with `timestamp`
 */
export async function readTimeStamp(token: Uint8Array, stamped: Uint8Array): Promise<TimeStamp & { info: TSTInfo }> {
  const { signed, info } = parse(token);
  const octets = new Uint8Array(stamped).buffer;
  const { certificate, valid } = await signed
    .verify({ signer: 0, data: octets, checkChain: false, extendedMode: true })
    .then(({ signerCertificate, signatureVerified }) => ({ certificate: signerCertificate, valid: signatureVerified }))
    .catch((cause: unknown) => {
      throw new Refused(
        'timestamp',
        'The time stamp belongs to another signature, or its own signature is not valid.',
        {
          cause,
        },
      );
    });
  demand(valid === true && certificate != null, 'The signature of the time stamp is not valid.');
  demand(
    isNamed(certificate, signed),
    'The certificate of the time stamp is not the one that its signature refers to.',
  );
  demand(isForTimeStamping(certificate), 'The certificate of the time stamp is not intended for time stamping.');
  const { notBefore, notAfter } = certificate;
  const time = info.genTime;
  demand(
    time >= notBefore.value && time <= notAfter.value,
    'The certificate of the time stamp was not valid at the time of the time stamp.',
  );
  return { time, authority: nameOf(certificate), info };
}

function parse(token: Uint8Array): { signed: SignedData; info: TSTInfo } {
  try {
    const signed = new SignedData({ schema: ContentInfo.fromBER(new Uint8Array(token)).content });
    const content = signed.encapContentInfo.eContent?.getValue();
    if (content === undefined || signed.signerInfos.length !== 1)
      throw new Error('the token does not have exactly one signer and content');
    return { signed, info: TSTInfo.fromBER(content) };
  } catch (cause) {
    throw new Refused('timestamp', 'The time stamp cannot be read.', { cause });
  }
}

/**
 * Whether the signed attributes contain the digest of this certificate, as ESSCertID (SHA-1) or ESSCertIDv2 (RFC 3161,
 * section 2.4.2, and RFC 5816). Without it, another certificate for the same key could be substituted.
 */
function isNamed(certificate: Certificate, { signerInfos: [signer] }: SignedData): boolean {
  for (const { type, values } of signer?.signedAttrs?.attributes ?? []) {
    const defaultHash = ESS_CERTIFICATE[type];
    if (defaultHash === undefined) continue;
    const [named] = itemsOf(itemsOf(values[0])[0]);
    const parts = itemsOf(named);
    const [algorithm] = itemsOf(parts[0]);
    const hash = algorithm instanceof ObjectIdentifier ? HASHES[algorithm.getValue()] : defaultHash;
    const digest = parts.find((part) => part instanceof OctetString)?.getValue();
    if (hash === undefined || digest === undefined) return false;
    const der = new Uint8Array(certificate.toSchema().toBER());
    return createHash(hash).update(der).digest().equals(new Uint8Array(digest));
  }
  return false;
}

/** Default hash algorithm by attribute type (ESSCertID, ESSCertIDv2). */
const ESS_CERTIFICATE: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.9.16.2.12': 'sha1',
  '1.2.840.113549.1.9.16.2.47': 'sha256',
};
const HASHES: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

function itemsOf(sequence: unknown): AsnType[] {
  return sequence instanceof Sequence ? sequence.valueBlock.value : [];
}

/**
 * Whether a certificate is for time stamping: this must be its only extended key usage, and the extension critical (RFC
 * 3161, section 2.3).
 */
function isForTimeStamping({ extensions = [] }: Certificate): boolean {
  const usage = extensions.find(({ parsedValue }) => parsedValue instanceof ExtKeyUsage);
  return usage?.critical === true && (usage.parsedValue as ExtKeyUsage).keyPurposes.join() === TIME_STAMPING;
}

const ATTRIBUTES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
};

function nameOf({ subject }: Certificate): string {
  return subject.typesAndValues
    .map(({ type, value }) => `${ATTRIBUTES[type] ?? type}=${value.valueBlock.value}`)
    .join(', ');
}

function demand(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Refused('timestamp', reason);
}
