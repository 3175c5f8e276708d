import type { InvoiceMail } from '../../src/domain/invoice/email.ts';
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
