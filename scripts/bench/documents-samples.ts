import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { SigningIdentity } from '../../src/adapters/signing-key/software-key.ts';
import { selfSignedCertificate } from '../../src/adapters/signing-key/test-certificate.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import type { TaxRate } from '../../src/domain/invoice/tax-rate.ts';
import { totalsOfInvoice } from '../../src/domain/invoice/totals.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { pendingInvoice } from '../../test/support/invoices.ts';

export const SIGNING_TIME = new Date('2026-11-21T10:00:00Z');

/** Makes a signing identity for each supported kind of key. */
export function benchIdentities() {
  return {
    'RSA-2048': identityOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
    'P-256': identityOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  } as const;
}

function identityOf(privateKey: KeyObject): SigningIdentity {
  const [from, to] = [new Date('2026-01-01T00:00:00Z'), new Date('2036-01-01T00:00:00Z')];
  return { privateKey, certificateChain: [selfSignedCertificate({ privateKey, from, to })] };
}

/** Makes an invoice as it is stored, with lines at every VAT rate. */
export function storedInvoice(lineCount: number): Invoice {
  const rates: readonly TaxRate[] = [20, 14, 10, 7, 0];
  const pending = pendingInvoice({});
  const [line] = pending.lines;
  if (!line) throw new Error('a pending invoice has a line');
  const lines = Array.from({ length: lineCount }, (_, index) => {
    const [quantity, unitPrice] = [1 + (index % 7), 12_345 + index];
    const taxRate = rates[index % rates.length] ?? 20;
    const description = `Prestation de conseil n° ${index + 1}, « à façon » – ${'x'.repeat(index % 60)}`;
    return { ...line, description, quantity, unitPrice, taxRate, amount: quantity * unitPrice };
  });
  const drawn = { ...pending, lines };
  return {
    ...drawn,
    id: 'inv_550e8400-e29b-41d4-a716-446655440000',
    tenantId: 'ten_550e8400-e29b-41d4-a716-446655440000',
    environment: 'live',
    amount: totalsOfInvoice(drawn).gross,
    customer: { ...drawn.customer, name: 'Société Générale des Eaux', address: '5, avenue Hassan II' },
    seller: SPECIMEN_SELLER,
    createdAt: SIGNING_TIME,
  };
}

export function benchInvoice(lineCount: number): LegalInvoice {
  return legalInvoice(storedInvoice(lineCount), '2026-000123');
}
