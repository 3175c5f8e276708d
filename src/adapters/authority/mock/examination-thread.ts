import type { Problem } from '../../../domain/authority/ports.ts';
import { faultOf } from './examine-invoice.ts';

export interface Examination {
  readonly document: Uint8Array;
  readonly customerIce: string;
}

/** Entry point of the thread of `createContentExaminer`. */
export default function examine({ document, customerIce }: Examination): Problem | null {
  return faultOf(document, customerIce);
}
