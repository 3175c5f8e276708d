import { createHash } from 'node:crypto';
import type { DocumentSigner } from '../../domain/invoice/ports.ts';
import { expectValidity, type SigningKey } from '../../domain/invoice/signing-key.ts';
import {
  type SignaturePolicy,
  type SignatureScope,
  signature,
  signedInfo,
  signedProperties,
} from './signature-template.ts';
import { stampedOctets } from './time-stamp.ts';
import type { StampTime } from './time-stamp-authority.ts';
import { ECDSA_SHA256, RSA_SHA256 } from './vocabulary.ts';

const METHOD = { 'RSA-SHA256': RSA_SHA256, 'ECDSA-SHA256': ECDSA_SHA256 } as const;

/** Options beyond baseline B-B. */
export interface SignatureForm {
  /** The signature policy to reference, or null. */
  readonly policy?: SignaturePolicy | null;
  /** Adds a time stamp to each signature (baseline B-T), or null. */
  readonly stampTime?: StampTime | null;
  /** The signed part; by default the whole document. */
  readonly scope?: SignatureScope;
}

/**
 * Signs documents with XAdES baseline B-B, or B-T with a time stamp (ETSI EN 319 132-1). The caller provides the digest
 * of the document, so the work here does not depend on its length: it signs some hundred octets and inserts the
 * signature.
 */
export function createDocumentSigner(
  key: SigningKey,
  { policy = null, stampTime = null, scope }: SignatureForm = {},
): DocumentSigner {
  const [certificate] = key.certificateChain;
  const chain = key.certificateChain.map(({ raw }) => raw.toString('base64'));
  const certificateDigest = sha256(certificate.raw);

  return {
    async sign({ octets, signatureAt, sha256: documentDigest }, signingTime) {
      expectValidity(key, signingTime);
      const properties = signedProperties(signingTime, certificateDigest, policy, scope);
      const info = signedInfo(METHOD[key.algorithm], documentDigest, sha256(properties), scope);
      const value = Buffer.from(await key.sign(Buffer.from(info))).toString('base64');
      const stamp = stampTime && Buffer.from(await stampTime(stampedOctets(value))).toString('base64');
      return Buffer.concat([
        octets.subarray(0, signatureAt),
        Buffer.from(signature(info, value, chain, properties, stamp, scope)),
        octets.subarray(signatureAt),
      ]);
    },
  };
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64');
}
