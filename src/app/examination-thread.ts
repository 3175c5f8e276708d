import type { Examination, Examined } from '../adapters/authority/mock/content-examiner.ts';
import { faultOf } from '../adapters/authority/mock/examine-invoice.ts';
import { verifyCanonical } from '../adapters/xades/verify-canonical.ts';

/** The module that the thread of `createContentExaminer` runs. */
export const EXAMINATION_THREAD = new URL(import.meta.url);

/** The task of the thread: verifies one of our own documents and examines its content. */
export default function examine({ document, customerIce }: Examination): Examined {
  return { isVerified: verifyCanonical(document, 'ubl') !== null, fault: faultOf(document, customerIce) };
}
