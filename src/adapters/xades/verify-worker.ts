import type { Verification } from '../../domain/verification/verification.ts';
import { verifySignedDocument } from './verify-document.ts';

/**
 * Entry point of the thread of `createDocumentVerifier`.
 * @param document null only confirms that the thread has loaded
 */
export default async function verify(document: Uint8Array | null): Promise<Verification | null> {
  return document && verifySignedDocument(document);
}
