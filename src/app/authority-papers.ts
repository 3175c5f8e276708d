import type { X509Certificate } from 'node:crypto';
import type { PaperParts } from '../adapters/authority/receipt-reader.ts';
import { trustOfSignature } from '../adapters/xades/certificate-trust.ts';
import type { DocumentVerifier } from '../adapters/xades/document-verifier.ts';

/**
 * What readers of an authority's receipts and cleared documents need.
 * @param anchors the authority's certificates, or those that issue them; called for each document, so they may change
 */
export function composePapers(
  verifier: Pick<DocumentVerifier, 'verify'>,
  anchors: () => readonly X509Certificate[],
): PaperParts {
  return { verify: verifier.verify, trust: (signature) => trustOfSignature(signature, anchors()) };
}
