import { createHash } from 'node:crypto';
import type { DocumentSigner } from '../../domain/invoice/ports.ts';

/** Namespace of the authority's receipts. */
export const RECEIPT_NAMESPACE = 'urn:authority:receipt:1';

/** The facts that a receipt states about a decision. */
export interface ReceiptFacts {
  readonly dgiId: string;
  readonly submissionId: string;
  /** SHA-256 of the submitted document, lower-case hex. */
  readonly digest: string;
  readonly status: 'accepted' | 'rejected';
  readonly decidedAt: Date;
}

/**
 * Writes the authority's signed receipt: `Receipt` with `DgiId`, `SubmissionId`, `Digest`, `Status` and `DecidedAt`,
 * and an enveloped XAdES signature over the whole of it as its last element.
 * @param signer signs with the authority's key
 * @param signingTime must be within the validity of the signer's certificate
 * @throws {SigningFailed}
 */
export async function writeReceipt(
  facts: ReceiptFacts,
  signer: DocumentSigner,
  signingTime: Date,
): Promise<Uint8Array> {
  const [start, end] = [`<Receipt xmlns="${RECEIPT_NAMESPACE}">${receiptElements(facts)}`, '</Receipt>'];
  const octets = new TextEncoder().encode(start + end);
  const sha256 = createHash('sha256').update(octets).digest('base64');
  return signer.sign({ octets, signatureAt: Buffer.byteLength(start), sha256 }, signingTime);
}

/** Writes the facts as elements of the default namespace, in exclusive canonical form. */
export function receiptElements({ dgiId, submissionId, digest, status, decidedAt }: ReceiptFacts): string {
  return Object.entries({
    DgiId: dgiId,
    SubmissionId: submissionId,
    Digest: digest,
    Status: status,
    DecidedAt: decidedAt.toISOString(),
  })
    .map(([name, value]) => `<${name}>${escapeText(value)}</${name}>`)
    .join('');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;');
}
