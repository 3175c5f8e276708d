import { describe, expect, test } from 'vitest';
import { makeTestIdentity } from '../../../src/adapters/signing-key/test-certificate.ts';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import type { LegalInvoice } from '../../../src/domain/invoice/ports.ts';
import { MAX_CENTIMES } from '../../../src/domain/money.ts';
import { PAYMENT_MEANS_NAMES } from '../../../src/domain/payment-means.ts';
import { brokenRules, WITHOUT_EN16931 } from '../../support/en16931.ts';
import { firstOf, someOf } from '../../support/samples.ts';
import { signedInvoice } from '../xades/identities.ts';
import { sampleCreditNote, sampleInvoice, sampleLine, sampleLines } from './sample-invoice.ts';
import { hasUblSchema, schemaErrors, WITHOUT_UBL_SCHEMA } from './ubl-schema.ts';

const { seller, customer, terms } = sampleInvoice();
const ALL_TERMS = {
  ...terms,
  operationDate: '2026-11-01',
  dueDate: '2027-01-20',
  paymentReference: '2026-000123',
  bankAccount: '999780000128473900001726',
};
const line = { description: 'x', quantity: 1, unitPrice: 5, taxRate: 10 } as const;

const { credit, totals } = sampleCreditNote();
const original = { id: null, number: 'FA/2025/17', issueDate: '2025-03-31', dgiId: null };
const CREDIT_NOTES: readonly LegalInvoice[] = [
  sampleCreditNote(),
  sampleCreditNote({ environment: 'test', specimen: true, credit: { ...credit!, note: 'Deux <articles> & "abîmés"' } }),
  sampleCreditNote({ credit: { original, reason: 'other', note: null }, lines: [sampleLine({ ...line, taxRate: 7 })] }),
  // Its VAT and its amount differ by rounding from what its own lines have.
  sampleCreditNote({
    totals: { ...totals, rates: totals.rates.map((each, nth) => ({ ...each, tax: each.tax + (nth === 0 ? 1 : 0) })) },
  }),
].map((each) => {
  const tax = each.totals.rates.reduce((sum, { tax }) => sum + tax, 0);
  const gross = each.totals.net + tax;
  return { ...each, totals: { ...each.totals, tax, gross }, amount: gross - 2 };
});

const INVOICES: readonly LegalInvoice[] = [
  sampleInvoice({ terms: { ...ALL_TERMS, paymentMeans: null } }),
  ...CREDIT_NOTES,
  sampleInvoice({ lines: [sampleLine({ ...line, taxRate: 0, quantity: MAX_CENTIMES, unitPrice: 1 })] }),
  sampleInvoice(),
  sampleInvoice({ environment: 'test', specimen: true }),
  sampleInvoice({ seller: { ...seller, exemptionReason: null, address: { ...seller.address, postalCode: null } } }),
  sampleInvoice({ customer: { ...customer, address: null, email: 'a@b.example' } }),
  sampleInvoice({ lines: [sampleLine(line), sampleLine(line)], amount: 12 }),
  sampleInvoice({ customer: { ...customer, name: 'شركة <الأطلس> & "أبناؤه"\n😀' } }),
  ...someOf(
    PAYMENT_MEANS_NAMES.flatMap((paymentMeans) => [
      sampleInvoice({ terms: { ...terms, paymentMeans } }),
      sampleInvoice({ terms: { ...ALL_TERMS, paymentMeans } }),
    ]),
  ),
  sampleInvoice({ lines: sampleLines(1000) }),
];

/** Invoices without fatal errors of EN 16931. 1,000 lines take seconds here, so `npm run test:long` covers them. */
describe('the rules of EN 16931', () => {
  // A second for each.
  test('are satisfied by invoices of every kind, and a violation is detected', async ({ skip }) => {
    if (WITHOUT_EN16931) skip(WITHOUT_EN16931);
    for (const invoice of firstOf(INVOICES.slice(0, -1), 6))
      expect(await brokenRules(writeInvoice(invoice).xml)).toEqual([]);
    const { xml } = writeInvoice(sampleInvoice());
    const broken = await brokenRules(
      xml.replace(/<cbc:CustomizationID.*<\/cbc:CustomizationID>/, '').replace('>S<', '>Z<'),
    );
    expect(broken.map(({ id }) => id)).toEqual(expect.arrayContaining(['BR-01', 'BR-Z-08']));
  }, 120_000);
});

describe('the published UBL 2.1 schema', () => {
  test('accepts signed invoices of every kind', async ({ skip }) => {
    if (!hasUblSchema) skip(WITHOUT_UBL_SCHEMA);
    const identity = await makeTestIdentity(new Date());
    const signed = await Promise.all(INVOICES.map((invoice) => signedInvoice(identity, invoice, new Date())));
    expect(await schemaErrors(signed)).toEqual([]);
  });

  test('detects misplaced elements in the invoice and in its signature', async ({ skip }) => {
    if (!hasUblSchema) skip(WITHOUT_UBL_SCHEMA);
    const identity = await makeTestIdentity(new Date());
    const signed = (await signedInvoice(identity, sampleInvoice(), new Date())).toString();
    const misspelt = signed.replace('<cbc:UUID', '<cbc:Uuid').replace('</cbc:UUID', '</cbc:Uuid');
    const unsignable = signed.replaceAll('SigningTime>', 'SignedTime>');
    expect(await schemaErrors([misspelt, unsignable])).toEqual([
      expect.stringContaining('Uuid'),
      'invoice-0.xml fails to validate',
      expect.stringContaining('SignedTime'),
    ]);
  });
});
