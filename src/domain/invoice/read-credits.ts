import type { Call, UseCase } from '../use-case.ts';
import type { KeptCredit } from './credit.ts';
import type { Invoice } from './invoice.ts';
import type { CreditKeeping } from './repository.ts';

/**
 * Finds what the credit notes of these invoices credit that are stored and not rejected, in one small query: one list
 * for each invoice, in the order in which they took their shares. The invoices must be the caller's.
 */
export const creditsOfInvoices = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<CreditKeeping, 'correctionStatesOf'> },
    _call: Call,
    of: readonly Pick<Invoice, 'id' | 'credits'>[],
  ): Promise<KeptCredit[][]> {
    const ids = of.flatMap(({ credits }) => credits.list.map(({ creditNoteId }) => creditNoteId));
    if (ids.length === 0) return of.map(() => []);
    const states = await invoices.correctionStatesOf(ids);
    return of.map(({ id, credits }) =>
      credits.list.filter(({ creditNoteId }) => {
        const state = states.get(creditNoteId);
        return state !== undefined && state.originalId === id && state.status !== 'rejected';
      }),
    );
  },
} as const satisfies UseCase;
