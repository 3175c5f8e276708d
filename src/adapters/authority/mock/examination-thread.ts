import type { Problem } from '../../../domain/authority/ports.ts';
import { verifyCanonical } from '../../xades/verify-canonical.ts';
import { faultOf } from './examine-invoice.ts';

export interface Examination {
  readonly document: Uint8Array;
  readonly customerIce: string;
}

export interface Examined {
  /** Whether its signature was found valid. Otherwise it is in another form than ours, or not valid. */
  readonly isVerified: boolean;
  /** The first problem of its content; null if there is none. */
  readonly fault: Problem | null;
}

/** Entry point of the thread of `createContentExaminer`. */
export default function examine({ document, customerIce }: Examination): Examined {
  return { isVerified: verifyCanonical(document, 'ubl') !== null, fault: faultOf(document, customerIce) };
}
