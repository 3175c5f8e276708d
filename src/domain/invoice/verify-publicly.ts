import type { Centimes } from '../money.ts';
import { moroccanDate } from '../morocco/time.ts';
import { withheldOf } from '../net-to-pay.ts';
import { completedProfile, type Environment } from '../tenant/tenant.ts';
import type { Original } from './credit.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { FindPresentInvoice } from './find-present.ts';
import type { Invoice, StoredDocument } from './invoice.ts';
import type { Kind } from './kinds.ts';
import { namedReplaced } from './legal-invoice.ts';
import { type AcceptedCredit, createAcceptedCredits } from './read-credits.ts';
import { totalsOfInvoice } from './totals.ts';

/**
 * The facts of an accepted invoice or credit note that are shown to anyone who has its verification URL, which is
 * printed on the PDF: that this service issued it, its seller, date, amount and the authority's decision, and how
 * corrections changed it or what it corrects. Neither the buyer nor any line is public. The URL contains the invoice's
 * id, which has 122 random bits and cannot be guessed.
 */
export interface PublicFacts {
  readonly invoiceId: string;
  readonly kind: Kind;
  readonly isDeposit: boolean;
  readonly environment: Environment;
  readonly number: string;
  /** Calendar date in Africa/Casablanca, `YYYY-MM-DD`. */
  readonly issueDate: string;
  /** The invoice that a credit note corrects, or that an invoice replaces; null if there is none. */
  readonly original: Pick<Original, 'number' | 'issueDate'> | null;
  /** The amounts of an invoice that accepted credit notes credit; null if none. */
  readonly credited: (AcceptedCredit & { readonly isWhole: boolean }) | null;
  /** The accepted invoice that replaces this one; null if there is none. */
  readonly replacedBy: Pick<Original, 'number' | 'issueDate'> | null;
  readonly seller: { readonly name: string; readonly ice: string };
  /** The total including tax with its rounding. The kind gives the sign. */
  readonly amount: Centimes;
  /** The VAT that the buyer withholds; null if none. */
  readonly withheld: Centimes | null;
  readonly dgiId: string;
  readonly acceptedAt: Date;
  /** The authority's verified receipt; null while there is none. */
  readonly receipt: { readonly decidedAt: Date } | null;
  readonly documents: readonly PublicDocument[];
}

/** The documents whose digests are public. */
export const PUBLIC_KINDS = ['pdf', 'xml', 'receipt'] as const satisfies readonly DocumentKind[];

export interface PublicDocument {
  readonly kind: (typeof PUBLIC_KINDS)[number];
  /** Lower-case hex. */
  readonly sha256: string;
  readonly size: number;
}

export type VerifyPublicly = ReturnType<typeof createVerifyPublicly>;

export function createVerifyPublicly(
  findPresent: FindPresentInvoice,
  invoices: Pick<CreditKeeping, 'correctionStatesOf'>,
) {
  const acceptedCredits = createAcceptedCredits(invoices);
  /** @returns null for an unknown or not accepted invoice; the two cases are not distinguished */
  return async (invoiceId: string): Promise<PublicFacts | null> => {
    const invoice = await findPresent(invoiceId);
    if (invoice === null) return null;
    const [credit = null] = await acceptedCredits([invoice]);
    return factsOf(invoice, credit, await replacementOf(invoice));
  };

  /** Finds the accepted invoice that replaces another one. A link may outlive an attempt that came to nothing. */
  async function replacementOf({ id, replacedBy }: Invoice): Promise<PublicFacts['replacedBy']> {
    const found = replacedBy && (await findPresent(replacedBy.invoiceId));
    if (found?.status !== 'accepted' || found.number === null || found.replaces?.invoice.id !== id) return null;
    return { number: found.number, issueDate: moroccanDate(found.createdAt) };
  }
}

function factsOf(
  invoice: Invoice,
  credit: AcceptedCredit | null,
  replacedBy: PublicFacts['replacedBy'],
): PublicFacts | null {
  const acceptedAt = invoice.events.find(({ status }) => status === 'accepted')?.at;
  if (invoice.status !== 'accepted' || !acceptedAt || invoice.number === null || invoice.dgiId === null) return null;
  const { seller } = completedProfile(invoice.seller);
  return {
    invoiceId: invoice.id,
    kind: invoice.kind,
    isDeposit: invoice.isDeposit ?? false,
    environment: invoice.environment,
    number: invoice.number,
    issueDate: moroccanDate(invoice.createdAt),
    original: correctedBy(invoice),
    replacedBy,
    credited: credit && { ...credit, isWhole: credit.amount === invoice.amount },
    seller: { name: seller.legalName, ice: seller.ice },
    amount: invoice.amount,
    withheld: invoice.withholding && withheldOf({ ...invoice, totals: totalsOfInvoice(invoice) }),
    dgiId: invoice.dgiId,
    acceptedAt,
    documents: PUBLIC_KINDS.flatMap((kind) => documentOf(kind, DOCUMENTS[kind].stored(invoice))),
    receipt: invoice.receipt && { decidedAt: invoice.receipt.decidedAt },
  };
}

function correctedBy({ credit, replaces }: Invoice): PublicFacts['original'] {
  const corrected = credit?.original ?? (replaces && namedReplaced(replaces));
  return corrected && { number: corrected.number, issueDate: corrected.issueDate };
}

function documentOf(kind: PublicDocument['kind'], stored: StoredDocument | null): PublicDocument[] {
  return stored ? [{ kind, sha256: stored.sha256, size: stored.size }] : [];
}
