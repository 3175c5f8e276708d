import { type KeptCredit, NO_CREDITS } from '../../src/domain/invoice/credit.ts';
import type { CorrectionState } from '../../src/domain/invoice/credit-keeping.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';

export type Row = { -readonly [Name in keyof Invoice]?: Invoice[Name] };

/** When the deposits of {@link depositRow} were created. */
export const START = new Date('2026-11-29T10:00:00Z');
export const CUSTOMER = { kind: 'company', ice: '001234567000089', name: 'Atlas' } as const;

/** Returns the members of an accepted deposit invoice that its deduction reads, with these changes. */
export function depositRow(row: Row): Row {
  return {
    tenantId: 'ten_1',
    environment: 'test',
    status: 'accepted',
    isDeposit: true,
    createdAt: START,
    dgiId: 'DGI-1',
    customer: CUSTOMER as never,
    credits: NO_CREDITS,
    ...row,
  };
}

/** Makes a store in memory of deposits, and of the states of the documents that take shares of them. */
export function depositStore(rows: Map<string, Row>, states: Map<string, CorrectionState>) {
  return {
    find: async (id: string) => (rows.has(id) ? ({ ...rows.get(id) } as Invoice) : null),
    correctionStatesOf: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (states.has(id) ? [[id, states.get(id) as CorrectionState]] : []))),
    keepCredits: async ({ id }: Pick<Invoice, 'id'>, version: number, list: readonly KeptCredit[]) => {
      const row = rows.get(id);
      if (row?.credits?.version !== version) return false;
      row.credits = { version: version + 1, list };
      return true;
    },
  };
}
