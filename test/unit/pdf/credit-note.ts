import type { LegalInvoice, PrintedInvoice } from '../../../src/domain/invoice/ports.ts';
import { line, printed } from './support.ts';

/** What only the credit note of {@link creditNote} has. */
export const CREDIT = {
  original: {
    id: 'inv_550e8400-e29b-41d4-a716-446655440000',
    number: '2026-000123',
    issueDate: '2026-11-21',
    dgiId: 'DGI-2026-7f3a91c0',
  },
  reason: 'return',
  note: 'Deux manuels abîmés',
} as const satisfies LegalInvoice['credit'];

/** An accepted live credit note of 2,046.00 dirhams, tax included. */
export function creditNote(
  changes: Partial<LegalInvoice> = {},
  outer: Partial<Omit<PrintedInvoice, 'invoice'>> = {},
): PrintedInvoice {
  return printed(
    {
      id: 'crn_550e8400-e29b-41d4-a716-446655440000',
      kind: 'credit_note',
      credit: CREDIT,
      number: 'AV-2026-000001',
      issueDate: '2026-11-28',
      lines: [line('Audit', 1, 156_333, 20), line('Manuels', 2, 8_500, 0)],
      ...changes,
    },
    { dgiId: 'DGI-2026-9b21ce04', ...outer },
  );
}
