import type { Call, UseCase } from '../use-case.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import { isDeduction } from './deduction.ts';
import type { Invoice } from './invoice.ts';
import { countedShares, isDeducting, statesOf } from './kept-shares.ts';

/**
 * Finds which stored final invoice deducts each of these invoices, in at most two small queries: its id, or null if
 * none does. The invoices must be the caller's.
 */
export const deductionsOfInvoices = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<CreditKeeping, 'correctionStatesOf'> },
    _call: Call,
    of: readonly Pick<Invoice, 'id' | 'credits'>[],
  ): Promise<(string | null)[]> {
    const shares = of.flatMap(({ credits }) => credits.list.filter(isDeduction));
    if (shares.length === 0) return of.map(() => null);
    const states = await statesOf(invoices, { credits: { version: 0, list: shares } });
    const now = new Date();
    return of.map(({ id, credits }) => {
      const [share] = countedShares({ id, credits }, states, now).filter(isDeduction);
      const holders = share ? [share.creditNoteId, share.insteadOf] : [];
      return holders.find((each) => each !== undefined && isDeducting(id, each, states, null, now)) ?? null;
    });
  },
} as const satisfies UseCase;
