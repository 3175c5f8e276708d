import type { X509Certificate } from 'node:crypto';
import type { PaperParts } from '../adapters/authority/receipt-reader.ts';
import { trustOfSignature } from '../adapters/xades/certificate-trust.ts';
import type { DocumentVerifier } from '../adapters/xades/document-verifier.ts';
import { verifyCanonical } from '../adapters/xades/verify-canonical.ts';

/**
 * Returns the parts that readers of an authority's receipts and cleared documents need.
 * @param anchors returns the authority's certificates, or those of their issuers; called for each document, so they may
 * change
 */
export function composePapers(
  verifier: Pick<DocumentVerifier, 'verify'>,
  anchors: () => readonly X509Certificate[],
): PaperParts {
  return {
    // A receipt is small and is verified on this thread. An invoice of a thousand lines would block the event loop too
    // long.
    verify: async (document, form) =>
      (form === 'receipt' ? verifyCanonical(document, form) : null) ?? verifier.verify(document, form),
    trust: (signature) => trustOfSignature(signature, anchors()),
  };
}
