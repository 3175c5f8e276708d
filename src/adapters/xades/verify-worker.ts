import type { SignedForm, Verification } from '../../domain/verification/verification.ts';
import { verifySignedDocument } from './verify-document.ts';

export interface VerificationTask {
  readonly document: Uint8Array;
  readonly form: SignedForm;
}

/**
 * The task of the thread of `createDocumentVerifier`.
 * @param task null only confirms that the thread has loaded
 */
export default async function verify(task: VerificationTask | null): Promise<Verification | null> {
  return task && verifySignedDocument(task.document, task.form);
}
