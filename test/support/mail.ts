import type { InvoiceMail } from '../../src/domain/invoice/email.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import { pendingInvoice } from './invoices.ts';

/** The mail of a test invoice to a customer. */
export function invoiceMail(changes: Partial<InvoiceMail> = {}): InvoiceMail {
  const invoice = pendingInvoice({ id: 'inv_550e8400-e29b-41d4-a716-446655440000', createdAt: new Date('2026-11-21') });
  return {
    to: 'client@example.com',
    messageId: `<${invoice.id}@example.net>`,
    date: new Date('2026-11-21T10:00:00Z'),
    invoice: legalInvoice(invoice, '2026-000123'),
    dgiId: 'DGI-1',
    verifyUrl: 'https://example.net/verify/x',
    pdf: Buffer.from('%PDF-1.7 signed'),
    xml: Buffer.from('<Invoice/>'),
    ...changes,
  };
}

/** Makes the mail of a test credit note of 120.00 dirhams. Its stored terms are those of an invoice. */
export function creditNoteMail(changes: Partial<Invoice> = {}): InvoiceMail {
  const creditNote = pendingInvoice({
    id: 'crn_550e8400-e29b-41d4-a716-446655440000',
    kind: 'credit_note',
    createdAt: new Date('2026-11-28'),
    credit: {
      original: { id: null, number: '2026-000123', issueDate: '2026-11-21', dgiId: 'DGI-1' },
      reason: 'return',
      note: 'Deux manuels abîmés',
      rates: [{ rate: 20, base: 10_000, tax: 2_000 }],
      amount: 12_000,
    },
    terms: {
      operationDate: null,
      dueDate: '2027-01-20',
      paymentMode: null,
      paymentMeans: 'transfer',
      paymentReference: 'CMD 4711',
      bankAccount: '999780000128473900001726',
    },
    ...changes,
  });
  return invoiceMail({ invoice: legalInvoice(creditNote, 'AV-2026-000001'), dgiId: 'DGI-2' });
}
