import type { Db } from 'mongodb';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { LANE_NAMES } from '../../src/domain/invoice/lanes.ts';
import type { Claim, InvoiceClaims } from '../../src/domain/invoice/repository.ts';
import type { Member } from '../../src/domain/principal.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';

const OWNER: Member = {
  kind: 'secret',
  keyId: 'key_test',
  tenant: { id: 'ten_test', name: 'Test', profile: {}, createdAt: new Date(0), suspendedAt: null },
  environment: 'test',
};

/** Makes an invoice as creation does: one line, 120.00 MAD, due immediately. */
export function pendingInvoice(changes: Partial<Invoice>): Invoice {
  const createdAt = changes.createdAt ?? new Date();
  const input = {
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas' },
    lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000, taxRate: 20 }],
    metadata: {},
  } as const;
  const invoice = newInvoice(OWNER, { ...input, lines: [...input.lines] }, createdAt);
  return { ...invoice, work: invoice.work && { ...invoice.work, dueAt: createdAt, since: createdAt }, ...changes };
}

/** Claims one invoice in any lane. @returns null if its work is not due */
export async function claimOne(
  invoices: Pick<InvoiceClaims, 'claimMany'>,
  invoiceId: string,
  leaseMs: number,
): Promise<Claim | null> {
  for (const lane of LANE_NAMES) {
    const [claim] = await invoices.claimMany(lane, [invoiceId], leaseMs);
    if (claim) return claim;
  }
  return null;
}

const repositories = new WeakMap<Db, ReturnType<typeof createInvoiceRepository>>();

/**
 * Returns the repository of a database's invoices, always the same one. A new repository for each invoice would act
 * like another process, which waits until it sees the row of the previous insert. If a test has removed that row, the
 * wait takes some seconds.
 */
export function invoicesOf(db: Db): ReturnType<typeof createInvoiceRepository> {
  const known = repositories.get(db) ?? createInvoiceRepository(db);
  repositories.set(db, known);
  return known;
}
