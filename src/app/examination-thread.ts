import type { Examination, Examined } from '../adapters/authority/mock/content-examiner.ts';
import { faultOf } from '../adapters/authority/mock/examine-invoice.ts';
import { verifyCanonical } from '../adapters/xades/verify-canonical.ts';

/** The module of the thread of `createContentExaminer`. */
export const EXAMINATION_THREAD = new URL(import.meta.url);

/** Entry point of the thread: verifies our own documents and examines their content. */
export default function examine({ document, customerIce }: Examination): Examined {
  return { isVerified: verifyCanonical(document, 'ubl') !== null, fault: faultOf(document, customerIce) };
}
