import { faultOf, type InvoiceIdentity, identityOf } from '../../src/adapters/authority/mock/examine-invoice.ts';
import type { Problem } from '../../src/domain/authority/ports.ts';

/** The findings about the content of a document. */
export interface Content {
  readonly invoice: InvoiceIdentity | null;
  /** Why it is rejected, or null. */
  readonly fault: Problem | null;
}

/** Entry point of the thread of `createExaminer`. */
export default function examine(document: Uint8Array): Content {
  const invoice = identityOf(document);
  return { invoice, fault: faultOf(document, invoice?.customerIce ?? null) };
}
