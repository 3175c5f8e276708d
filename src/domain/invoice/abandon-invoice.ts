import type { LedgerCopy } from '../authority/reconciliation.ts';
import { attentionOf } from './attention.ts';
import { MOST_ATTEMPTS } from './authority-attempts.ts';
import { rejection } from './changes.ts';
import type { Invoice } from './invoice.ts';
import { calledById } from './kinds.ts';
import { isFinal } from './lifecycle.ts';
import { abandonedByOperator, isAbandonment } from './rejection-reasons.ts';
import type { InvoiceReading, InvoiceTransitions } from './repository.ts';

/**
 * A decision made at least this long before an invoice's creation certainly precedes it, even if clocks differ.
 * Milliseconds.
 */
const CLOCKS_MS = 60_000;

/** The document may not be abandoned; nothing was written. The message says why and what to do. */
export class NotAbandoned extends Error {
  override readonly name = 'NotAbandoned';
}

export interface Abandonment {
  /** The rejected invoice or credit note. */
  readonly invoice: Invoice;
  /** False if an operator had already abandoned it; nothing was written then. */
  readonly isNew: boolean;
}

/**
 * Ends an invoice or credit note that would wait forever because the authority holds another document under its id, as
 * after a restore of older data (docs/decisions/0043). It becomes `rejected` like any other one. Allowed only if the
 * authority's document is certainly not this one; otherwise a legal document would be shown as rejected.
 * @param reason the operator's reason, one line, which clients see
 * @throws {NotAbandoned}
 */
export type AbandonInvoice = (invoiceId: string, reason: string) => Promise<Abandonment>;

export function createAbandonInvoice(
  invoices: Pick<InvoiceReading, 'findEvenWithheld'> & Pick<InvoiceTransitions, 'changeWaiting'>,
  ledger: Pick<LedgerCopy, 'find'>,
  now: () => Date,
): AbandonInvoice {
  return async (invoiceId, reason) => {
    const invoice = await invoices.findEvenWithheld(invoiceId);
    const called = calledById(invoiceId);
    if (invoice === null) throw new NotAbandoned(`There is no ${called} '${invoiceId}'.`);
    if (isAbandonment(invoice.rejectionReason)) return { invoice, isNew: false };
    if (isFinal(invoice.status)) throw new NotAbandoned(`The ${called} is ${invoice.status}, which is final.`);
    const attention = attentionOf(invoice, now());
    if (attention === null)
      throw new NotAbandoned(`The ${called} waits for nobody: the service goes on with it by itself.`);
    if (attention.reason !== 'digest_mismatch')
      throw new NotAbandoned(
        `The ${called} waits because of ${attention.reason}, so the authority may hold or still accept it, and it would be a legal ` +
          `${called} that is shown as rejected. docs/operations.md, "The tax authority", says what to do.`,
      );
    if (!hasTakenNothing(invoice) && !(await isOlder(invoice)))
      throw new NotAbandoned(
        `A transmission of the ${called} may have reached the authority, and what the authority holds may be this ${called} itself. Ask the ` +
          `authority. If it decided on that document before the ${called} was created here, run authority reconcile, then repeat this.`,
      );
    const changed = await invoices.changeWaiting(invoice, rejection(invoice, abandonedByOperator(invoice, reason)));
    if (changed === null)
      throw new NotAbandoned(
        `A worker is processing the ${called}, or it has just changed. See invoices attention, then repeat this.`,
      );
    return { invoice: changed, isNew: true };
  };

  /**
   * Whether the authority decided on another document with the invoice's id before this invoice was created. A decision
   * is final, so it cannot be about this invoice.
   */
  async function isOlder({ id, heldAs, xml, createdAt }: Invoice): Promise<boolean> {
    if (heldAs !== null) return false;
    const [entry] = await ledger.find([id]);
    if (!entry || entry.sha256 === xml?.sha256) return false;
    return entry.decision.decidedAt.getTime() < createdAt.getTime() - CLOCKS_MS;
  }
}

/**
 * Whether the authority answered each submission of the invoice and accepted none. A look-up is made only after a lost
 * answer, so its presence means that a submission may have arrived. A full record may have dropped calls, so it proves
 * nothing.
 */
function hasTakenNothing({ work, authorityAttempts }: Invoice): boolean {
  if (work?.blocked !== 'digest_mismatch' || work.outcomeUnknown) return false;
  if (authorityAttempts.length === 0 || authorityAttempts.length >= MOST_ATTEMPTS) return false;
  return authorityAttempts.every(
    ({ purpose, outcome }) => purpose === 'submit' && (outcome === 'conflict' || outcome === 'not_received'),
  );
}
