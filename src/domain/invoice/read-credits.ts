import type { Centimes } from '../money.ts';
import { moroccanDate } from '../morocco/time.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { KeptCredit } from './credit.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceStatus } from './lifecycle.ts';

type States = Pick<CreditKeeping, 'correctionStatesOf'>;

/**
 * Finds the shares of these invoices that stored, not rejected credit notes take, in one small query: one list for each
 * invoice, in the order in which the shares were taken. The invoices must be the caller's.
 */
export const creditsOfInvoices = {
  scope: 'read',
  run({ invoices }: { readonly invoices: States }, _call: Call, of: readonly Pick<Invoice, 'id' | 'credits'>[]) {
    return creditsOf(invoices, of, (status) => status !== 'rejected');
  },
} as const satisfies UseCase;

/** The amounts of an invoice that accepted credit notes credit: the public fact on its verification page. */
export interface AcceptedCredit {
  readonly amount: Centimes;
  /** The date of the last credit note, in Africa/Casablanca. */
  readonly lastDate: string;
}

export type AcceptedCredits = ReturnType<typeof createAcceptedCredits>;

export function createAcceptedCredits(invoices: States) {
  /** Finds the amounts that accepted credit notes credit of these invoices, in one small query; null without any. */
  return async (of: readonly Pick<Invoice, 'id' | 'credits'>[]): Promise<(AcceptedCredit | null)[]> => {
    const found = await creditsOf(invoices, of, (status) => status === 'accepted');
    return found.map((credits) => {
      if (credits.length === 0) return null;
      const lastAt = new Date(Math.max(...credits.map(({ at }) => at.getTime())));
      return { amount: credits.reduce((sum, { amount }) => sum + amount, 0), lastDate: moroccanDate(lastAt) };
    });
  };
}

/** Finds the shares of the stored credit notes of these invoices whose status counts. */
async function creditsOf(
  invoices: States,
  of: readonly Pick<Invoice, 'id' | 'credits'>[],
  counts: (status: InvoiceStatus) => boolean,
): Promise<KeptCredit[][]> {
  const ids = of.flatMap(({ credits }) => credits.list.map(({ creditNoteId }) => creditNoteId));
  if (ids.length === 0) return of.map(() => []);
  const states = await invoices.correctionStatesOf(ids);
  return of.map(({ id, credits }) =>
    credits.list.filter(({ creditNoteId }) => {
      const state = states.get(creditNoteId);
      return state !== undefined && state.originalId === id && counts(state.status);
    }),
  );
}
