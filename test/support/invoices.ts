import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { NO_TERMS } from '../../src/domain/invoice/terms.ts';

/** An invoice as creation makes it: one line, 120.00 MAD, due at once. */
export function pendingInvoice(changes: Partial<Invoice>): Invoice {
  const createdAt = changes.createdAt ?? new Date();
  return {
    id: newId('inv'),
    tenantId: 'ten_test',
    environment: 'test',
    status: 'pending',
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas', address: null, email: null },
    lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 20, amount: 10000 }],
    terms: NO_TERMS,
    metadata: {},
    seller: {},
    number: null,
    ownNumber: null,
    dgiId: null,
    rejectionReason: null,
    createdAt,
    updatedAt: createdAt,
    events: [],
    xml: null,
    pdf: null,
    documentRevision: 0,
    email: null,
    authorityAttempts: [],
    work: { stage: 'normalize', attempts: 0, outcomeUnknown: false, dueAt: createdAt, claims: 0, since: createdAt },
    ...changes,
  };
}
