import { newCreationMoment } from '../order-key.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import type { Invoice } from './invoice.ts';
import { newDocument } from './issuing.ts';
import { confirmReplacement } from './link-replacement.ts';
import { isAccepted, originalOf } from './original.ts';
import type { InvoiceCreation, InvoiceReading } from './repository.ts';
import type { StageQueue } from './stage-queue.ts';
import { takeRest } from './take-credit.ts';
import { NO_TERMS } from './terms.ts';

/** The ports that the credit note of a replacement needs. */
export interface CreditReplacedNeeds {
  readonly invoices: Pick<InvoiceCreation, 'insert'> & Pick<InvoiceReading, 'find'> & CreditKeeping;
  readonly queue: StageQueue;
}

/**
 * Stores the credit note that a stored invoice waits for, unless it exists. The request that creates the invoice does
 * so immediately; if its process dies, the invoice's first stage does.
 * @param replacing an invoice with a `replaces.credited.creditNoteId`
 * @returns the credit note; null if the invoice cannot be issued, because another one replaces the same invoice, or the
 *   credited invoice was credited in another way
 */
export async function creditReplaced(
  { invoices, queue }: CreditReplacedNeeds,
  replacing: Invoice,
  now: () => Date,
): Promise<Invoice | null> {
  const { replaces, tenantId, environment, seller, traceparent } = replacing;
  const credited = replaces?.credited ?? null;
  const id = credited?.creditNoteId ?? null;
  if (replaces === null || credited === null || id === null)
    throw new Error(`invoice ${replacing.id} waits for no credit note`);
  const stored = await invoices.find(id);
  if (stored !== null) return stored;
  if (!(await confirmReplacement(invoices, replacing, now))) return null;
  const read = async () => {
    const invoice = await invoices.find(credited.invoiceId);
    if (invoice && isAccepted(invoice)) return invoice;
    throw new Error(`invoice ${credited.invoiceId}, which ${replacing.id} credits, is not there or not accepted`);
  };
  const share = { creditNoteId: id, replacingId: replacing.id, language: seller.documentLanguage };
  const taken = await takeRest(invoices, read, share, now);
  if ('why' in taken) return null;
  const { original, lines, share: credit } = taken;
  const { createdAt, order } = newCreationMoment();
  const note = newDocument(
    { tenantId, environment, seller },
    {
      id,
      kind: 'credit_note',
      amount: credit.amount,
      currency: original.currency,
      ownNumber: null,
      customer: original.customer,
      lines,
      discount: null,
      charge: null,
      terms: NO_TERMS,
      metadata: {},
      credit: { ...credit, original: originalOf(original), reason: replaces.reason, note: replaces.note },
      replaces: null,
      createdAt,
      traceparent,
    },
  );
  // The key makes a second insertion return the credit note that the first one stored.
  const { invoice } = await invoices.insert(note, order, { key: replacing.id, fingerprint: REPLACEMENT });
  void queue.enqueue(invoice, 0);
  return invoice;
}

const REPLACEMENT = 'replacement';
