import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import { NO_PARTICULARS } from '../../../src/domain/invoice/particulars.ts';
import type { LegalInvoice, LegalLine } from '../../../src/domain/invoice/ports.ts';
import { NO_TERMS } from '../../../src/domain/invoice/terms.ts';
import { type PricedDocument, statedTotals } from '../../../src/domain/invoice/totals.ts';

/**
 * A legal invoice with totals computed from its lines, less `discount` and `deduction`, with `charge`; `amount` defaults
 * to their exact total.
 */
export function sampleInvoice({
  discount,
  charge,
  ...changes
}: Partial<Omit<LegalInvoice, 'totals'>> & Pick<PricedDocument, 'discount' | 'charge'> = {}): LegalInvoice {
  const lines = changes.lines ?? sampleLines(5);
  const totals = statedTotals({ lines, discount, charge, deduction: changes.deduction });
  if (totals === null) throw new RangeError('the total of the sample lines exceeds the largest amount');
  return {
    ...NO_PARTICULARS,
    id: 'inv_550e8400-e29b-41d4-a716-446655440000',
    kind: 'invoice',
    credit: null,
    replaces: null,
    tenantId: 'ten_550e8400-e29b-41d4-a716-446655440000',
    environment: 'live',
    number: '2026-000123',
    issueDate: '2026-11-21',
    terms: { ...NO_TERMS, paymentMode: 'Virement bancaire' },
    currency: 'MAD',
    seller: {
      legalName: 'Atlas Conseil & Fils',
      ice: '001234567000088',
      taxId: '40123456',
      tradeRegister: 'Casablanca 123456',
      professionalTax: '34567890',
      cnss: '9876543',
      address: { street: '12, rue Ibn Batouta', city: 'Casablanca', postalCode: '20000' },
      email: 'compta@atlas.example',
      legalForm: 'SARL',
      capital: 10_000_000,
      paymentMode: 'Virement bancaire',
      paymentMeans: null,
      paymentTermDays: null,
      bankAccount: null,
      operationDateIsIssueDate: false,
      exemptionReason: 'Exonéré de la TVA, article 91 du CGI',
      documentLanguage: 'fr',
      logo: null,
    },
    specimen: false,
    customer: {
      ...COMPANY,
      ice: '001525713000085',
      name: 'Société Générale des Eaux',
      address: '5, avenue Hassan II, Rabat',
      email: null,
    },
    ...changes,
    lines,
    totals,
    amount: changes.amount ?? totals.gross,
  };
}

/** Lines that cycle through all rates. */
export function sampleLines(count: number): LegalLine[] {
  const rates = [20, 14, 10, 7, 0] as const;
  return Array.from({ length: count }, (_, index) =>
    sampleLine({
      description: `Prestation ${index + 1}`,
      quantity: 1 + (index % 7),
      unitPrice: 12_345 + index * 101,
      taxRate: rates[index % rates.length] ?? 20,
    }),
  );
}

export function sampleLine(line: Omit<LegalLine, 'amount'>): LegalLine {
  return { ...line, amount: line.quantity * line.unitPrice };
}

/** A legal credit note of an invoice of this service, which credits these lines. */
export function sampleCreditNote(changes: Partial<LegalInvoice> = {}): LegalInvoice {
  return {
    ...sampleInvoice({
      id: 'crn_550e8400-e29b-41d4-a716-446655440001',
      kind: 'credit_note',
      number: 'AV-2026-000007',
      credit: {
        original: {
          id: 'inv_550e8400-e29b-41d4-a716-446655440000',
          number: '2026-000123',
          issueDate: '2026-11-02',
          dgiId: 'DGI-2026-7f3a91c0',
        },
        reason: 'return',
        note: null,
      },
      ...changes,
    }),
    ...changes,
  };
}
