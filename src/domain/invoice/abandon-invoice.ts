import type { LedgerCopy } from '../authority/reconciliation.ts';
import { attentionOf } from './attention.ts';
import { MOST_ATTEMPTS } from './authority-attempts.ts';
import { rejection } from './changes.ts';
import type { Invoice } from './invoice.ts';
import { isFinal } from './lifecycle.ts';
import { abandonedByOperator, isAbandonment } from './rejection-reasons.ts';
import type { InvoiceRepository } from './repository.ts';

/** A decision of this long before an invoice's creation is certainly older, whichever clock is right, milliseconds. */
const CLOCKS_MS = 60_000;

/** The invoice may not be abandoned; the message says why and what to do. Nothing was written. */
export class NotAbandoned extends Error {
  override readonly name = 'NotAbandoned';
}

export interface Abandonment {
  /** The invoice, rejected. */
  readonly invoice: Invoice;
  /** False if an operator had abandoned it before; then nothing was written. */
  readonly isNew: boolean;
}

/**
 * Ends an invoice that waits for ever because the authority holds another document under its id, as after a restore of
 * older data (docs/decisions/0043). It becomes `rejected`, like any other. Only where that document is certainly not this
 * invoice's: otherwise a legal invoice would be shown as rejected.
 * @param reason of the operator, one line, which clients see
 * @throws {NotAbandoned}
 */
export type AbandonInvoice = (invoiceId: string, reason: string) => Promise<Abandonment>;

export function createAbandonInvoice(
  invoices: Pick<InvoiceRepository, 'findEvenWithheld' | 'changeWaiting'>,
  ledger: Pick<LedgerCopy, 'find'>,
  now: () => Date,
): AbandonInvoice {
  return async (invoiceId, reason) => {
    const invoice = await invoices.findEvenWithheld(invoiceId);
    if (invoice === null) throw new NotAbandoned(`There is no invoice '${invoiceId}'.`);
    if (isAbandonment(invoice.rejectionReason)) return { invoice, isNew: false };
    if (isFinal(invoice.status)) throw new NotAbandoned(`The invoice is ${invoice.status}, which is final.`);
    const attention = attentionOf(invoice, now());
    if (attention === null)
      throw new NotAbandoned('The invoice waits for nobody: the service goes on with it by itself.');
    if (attention.reason !== 'digest_mismatch')
      throw new NotAbandoned(
        `The invoice waits because of ${attention.reason}, so the authority may hold or still accept it, and it would be a legal ` +
          'invoice that is shown as rejected. docs/operations.md, "The tax authority", says what to do.',
      );
    if (!hasTakenNothing(invoice) && !(await isOlder(invoice)))
      throw new NotAbandoned(
        'A transmission of the invoice may have reached the authority, and what the authority holds may be this invoice itself. Ask the ' +
          'authority. If it decided on that document before the invoice was created here, run authority reconcile, then repeat this.',
      );
    const changed = await invoices.changeWaiting(invoice, rejection(invoice, abandonedByOperator(invoice, reason)));
    if (changed === null)
      throw new NotAbandoned(
        'A worker is processing the invoice, or it has just changed. See invoices attention, then repeat this.',
      );
    return { invoice: changed, isNew: true };
  };

  /** Whether the authority decided on another document under the invoice's id before there was this invoice: a decision is final. */
  async function isOlder({ id, heldAs, xml, createdAt }: Invoice): Promise<boolean> {
    if (heldAs !== null) return false;
    const [entry] = await ledger.find([id]);
    if (!entry || entry.sha256 === xml?.sha256) return false;
    return entry.decision.decidedAt.getTime() < createdAt.getTime() - CLOCKS_MS;
  }
}

/**
 * Whether the authority answered each submission of the invoice, and took none. A look-up is made only after an answer
 * that was lost, so that one says that a submission may have arrived. Of a full record it is not known what it has lost.
 */
function hasTakenNothing({ work, authorityAttempts }: Invoice): boolean {
  if (work?.blocked !== 'digest_mismatch' || work.outcomeUnknown) return false;
  if (authorityAttempts.length === 0 || authorityAttempts.length >= MOST_ATTEMPTS) return false;
  return authorityAttempts.every(
    ({ purpose, outcome }) => purpose === 'submit' && (outcome === 'conflict' || outcome === 'not_received'),
  );
}
