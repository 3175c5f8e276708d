import { MINUTE_MS } from '../../durations.ts';
import { creditReplaced } from '../credit-replaced.ts';
import type { Invoice } from '../invoice.ts';
import { confirmReplacement } from '../link-replacement.ts';
import {
  creditExceedsInvoice,
  creditNoteRejected,
  deductedOtherwise,
  replacedOtherwise,
} from '../rejection-reasons.ts';
import { confirmCredit } from '../take-credit.ts';
import { confirmDeposits } from '../take-deposits.ts';
import type { PipelineParts } from './stage.ts';

/**
 * Whether a document may get its number now:
 * - a credit note only if its invoice still covers it
 * - an invoice that replaces another one only if no other one does, and after the credit note for it is accepted
 * - a final invoice only if its deposits still cover what it deducts
 */
export type CheckCorrection = (document: Invoice) => Promise<
  | { readonly kind: 'issue' }
  | { readonly kind: 'reject'; readonly reason: string }
  /** The authority has not decided about the credit note; check again in `ms`. */
  | { readonly kind: 'wait'; readonly ms: number }
>;

const ISSUE = { kind: 'issue' } as const;

export function createCheckCorrection(parts: Pick<PipelineParts, 'invoices' | 'queue'>): CheckCorrection {
  const { invoices } = parts;
  const now = () => new Date();
  const reject = (reason: string) => ({ kind: 'reject', reason }) as const;

  async function checkReplacement(document: Invoice): ReturnType<CheckCorrection> {
    if (document.replaces === null) return ISSUE;
    if ((document.replaces.credited?.creditNoteId ?? null) === null)
      return (await confirmReplacement(invoices, document, now)) ? ISSUE : reject(replacedOtherwise(document));
    const note = await creditReplaced(parts, document, now);
    if (note === null) return reject(replacedOtherwise(document));
    if (note.status === 'accepted') return ISSUE;
    return note.status === 'rejected' ? reject(creditNoteRejected(document)) : { kind: 'wait', ms: pause(document) };
  }

  return async (document) => {
    if (!(await confirmCredit(invoices, document, now))) return reject(creditExceedsInvoice());
    const checked = await checkReplacement(document);
    if (checked.kind !== 'issue' || (await confirmDeposits(invoices, document, now))) return checked;
    return reject(deductedOtherwise(document));
  };
}

/** Grows with the age, so that an invoice waits at most a tenth longer than necessary, and few look-ups are made. */
function pause({ createdAt }: Invoice): number {
  const age = Date.now() - createdAt.getTime();
  return Math.min(5 * MINUTE_MS, Math.max(1000, age / 10));
}
