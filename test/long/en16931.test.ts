import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeInvoice } from '../../src/adapters/ubl/write-invoice.ts';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import { createInvoiceInput } from '../../src/domain/invoice/create-invoice-input.ts';
import { CREDIT_REASONS } from '../../src/domain/invoice/credit.ts';
import { creditOf, leftOf } from '../../src/domain/invoice/credit-share.ts';
import type { DeductedDeposit } from '../../src/domain/invoice/deduction.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { ruleProblems } from '../../src/domain/invoice/invoice-rules.ts';
import { newDocument } from '../../src/domain/invoice/issuing.ts';
import { legalInvoice } from '../../src/domain/invoice/legal-invoice.ts';
import { NO_TERMS } from '../../src/domain/invoice/terms.ts';
import { EXEMPTION_CODES } from '../../src/domain/morocco/exemptions.ts';
import { anyDocument, anyLine } from '../support/any-line.ts';
import { anySale } from '../support/any-sale.ts';
import { brokenRules, brokenRulesOfMany, WITHOUT_EN16931 } from '../support/en16931.ts';
import { xsltProcessor } from '../support/java-tool.ts';
import { remainderOf } from '../support/recompute-deposits.ts';
import { figuresOf, wholeOf } from '../support/recompute-document.ts';
import { sampleInvoice } from '../unit/ubl/sample-invoice.ts';

// EN 16931 for documents that are drawn at random, each on the way that a creation takes to its XML.

const COUNT = Number(process.env.DOCUMENTS ?? 20_000);
const BATCH = 2500;
const NOW = new Date('2026-11-29T10:00:00Z');
const { seller } = sampleInvoice();
const ISSUER = { tenantId: 'ten_1', environment: 'test', seller } as const;
const OWNER = { kind: 'secret', tenant: { id: 'ten_1', profile: seller }, environment: 'test' } as never;

const REASONS = Object.keys(CREDIT_REASONS);
const CUSTOMERS = [
  { ice: '001234567000089', name: 'Atlas Distribution & Fils', address: 'Casablanca', email: 'a@b.example' },
  { kind: 'person', name: 'Amina العلوي', address: '3, rue des Lilas' },
  { kind: 'foreign', name: 'Müller GmbH', country: 'DE', taxNumber: 'DE123456789' },
  { kind: 'foreign', name: 'Sénégal Négoce', country: 'SN' },
];

const particulars = fc.record({
  customer: fc.constantFrom(...CUSTOMERS),
  withholding: fc.option(fc.constantFrom({ percent: 75 }, { percent: 100 })),
  references: fc.option(fc.constantFrom({ order: 'PO <7> & "8"' }, { contract: 'C-1' }, { order: 'O', contract: 'C' })),
  servicePeriod: fc.option(fc.constantFrom({ from: '2026-10-01', to: '2026-10-31' })),
  foreignValue: fc.option(fc.constantFrom({ amount: 120_050, currency: 'EUR', rate: 10.8534, rateDate: '2026-11-26' })),
  terms: fc.option(
    fc.constantFrom(
      {
        dueDate: '2027-01-15',
        operationDate: '2026-11-20',
        paymentMeans: 'transfer',
        bankAccount: '999780000128473900001726',
      },
      { paymentMode: 'Espèces', paymentMeans: 'cash' },
      { paymentReference: 'RF18 5390' },
    ),
  ),
  isDeposit: fc.boolean(),
  exemption: fc.option(fc.constantFrom(...EXEMPTION_CODES)),
  reason: fc.option(fc.constant('Fidélité')),
});

const plain = anyDocument(fc.array(anyLine, { minLength: 1, maxLength: 8, size: 'max' }), wholeOf);
const credits = fc.array(fc.record({ at: fc.nat(), part: fc.integer({ min: 1, max: 1000 }) }), {
  minLength: 1,
  maxLength: 3,
});

type Document = typeof plain extends fc.Arbitrary<infer Value> ? Value : never;
type Particulars = typeof particulars extends fc.Arbitrary<infer Value> ? Value : never;

const seen = { invoices: 0, finals: 0, credits: 0, refused: 0 };

/** Makes the invoice, or null if the rules of the service refuse it, such as one below the least amount. */
function invoiceOf(
  document: Document,
  stated: Particulars,
  amount: bigint,
  deposits?: DeductedDeposit[],
): Invoice | null {
  const { exemption, reason, ...others } = stated;
  const certificate = { number: 'AT-118/2026', date: '2026-10-05' };
  const reduced = <Part extends object>(part: Part | null | undefined) =>
    part && !('amount' in part && part.amount === 0) ? { ...part, reason } : null;
  const { success, data, error } = createInvoiceInput.safeParse({
    ...others,
    ...(deposits && { isDeposit: false }),
    currency: 'MAD',
    amount: Number(amount),
    lines: document.lines.map((line) => ({
      ...line,
      description: 'Étude <1> & "2"',
      discount: reduced(line.discount),
      ...(line.taxRate === 0 && exemption && { exemption: { code: exemption, certificate } }),
    })),
    discount: reduced(document.discount),
    charge: reduced(document.charge),
  });
  if (!success) throw error;
  if (ruleProblems({ ...data, deducted: deposits }, NOW).length > 0) return null;
  return newInvoice(OWNER, data, NOW, { id: 'inv_550e8400-e29b-41d4-a716-446655440000', deposits: deposits ?? null });
}

const grossOf = (document: Document) => figuresOf(document).reduce((sum, { base, tax }) => sum + base + tax, 0n);

/** Makes credit notes of parts of an invoice, one after the other. */
function creditsOf(invoice: Invoice, parts: readonly { readonly at: number; readonly part: number }[]): Invoice[] {
  const original = { ...invoice, number: '2026-000123' };
  const counted = [];
  const made: Invoice[] = [];
  for (const [nth, { at, part }] of parts.entries()) {
    const line = at % invoice.lines.length;
    const { quantity, unit } = invoice.lines[line] ?? { quantity: 1, unit: null };
    const some = (quantity * part) / 1000;
    const share = unit || !Number.isInteger(quantity) ? Number(some.toFixed(3)) : Math.ceil(some);
    const result = creditOf(
      original,
      counted,
      nth === parts.length - 1
        ? { kind: 'rest' }
        : { kind: 'lines', lines: [{ line: line + 1, quantity: share || 0.001 }] },
    );
    if ('problems' in result) continue;
    const { lines, share: taken } = result;
    counted.push(taken);
    made.push(
      newDocument(ISSUER, {
        id: 'crn_550e8400-e29b-41d4-a716-446655440001',
        kind: 'credit_note',
        customer: invoice.customer,
        lines,
        currency: 'MAD',
        metadata: {},
        amount: taken.amount,
        discount: null,
        charge: null,
        ownNumber: null,
        terms: NO_TERMS,
        credit: {
          ...taken,
          original: { id: invoice.id, number: original.number, issueDate: '2026-11-02', dgiId: 'DGI-1' },
          reason: REASONS[at % REASONS.length],
          note: null,
        },
        replaces: null,
        createdAt: NOW,
        traceparent: null,
      } as never),
    );
  }
  return made;
}

/** Draws documents until there are enough. */
function* documents(): Generator<string> {
  for (let seed = 1; ; seed++) {
    const size = { numRuns: 200, seed };
    for (const [document, stated, parts] of fc.sample(fc.tuple(plain, particulars, credits), size)) {
      const invoice = invoiceOf(document, stated, grossOf(document));
      if (!invoice) seen.refused++;
      else {
        seen.invoices++;
        yield writeInvoice(legalInvoice(invoice, '2026-000123')).xml;
        for (const note of seed % 2 === 0 ? creditsOf(invoice, parts) : []) {
          seen.credits++;
          yield writeInvoice(legalInvoice(note, 'AV-2026-000007')).xml;
        }
      }
    }
    for (const [{ sale, deposits }, stated] of fc.sample(fc.tuple(anySale, particulars), { numRuns: 60, seed })) {
      const paid = deposits.map(({ document }) =>
        invoiceOf(document, { ...stated, isDeposit: true }, grossOf(document)),
      );
      const taken = paid.flatMap((each, nth) => {
        const share = each && leftOf(each, []);
        const invoice = { id: `inv_${nth}`, number: `2026-${nth}`, issueDate: '2026-10-15', dgiId: null };
        return share && share.rates.length > 0 ? [{ invoice, ...share }] : [];
      });
      const figures = taken.map(({ rates, amount }) => ({
        rates: rates.map(({ rate, base, tax }) => ({ rate, base: BigInt(base), tax: BigInt(tax) })),
        amount: BigInt(amount),
      }));
      const due = taken.length === 0 ? null : remainderOf(sale, figures);
      const invoice = due && due.amount > 0n ? invoiceOf(sale, stated, due.amount, taken) : null;
      if (!invoice) seen.refused++;
      else {
        seen.finals++;
        yield writeInvoice(legalInvoice(invoice, '2026-000123')).xml;
      }
    }
  }
}

test(`${COUNT} random documents violate no fatal rule of EN 16931`, async ({ skip }) => {
  if (WITHOUT_EN16931) skip(WITHOUT_EN16931);
  const saxon = xsltProcessor();
  if (!saxon) skip('Java, Maven or Maven Central is missing');
  else {
    const made = documents();
    for (let checked = 0; checked < COUNT; checked += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, COUNT - checked) }, () => made.next().value as string);
      // Both processors find a violation.
      const violation = (batch[0] ?? '').replace(/<cbc:CustomizationID.*<\/cbc:CustomizationID>/, '');
      const [found, ...all] = await brokenRulesOfMany(saxon, [violation, ...batch]);
      expect(found).toEqual(checked === 0 ? await brokenRules(violation) : found);
      expect(found?.map(({ id }) => id)).toContain('BR-01');
      const broken = all.flatMap((rules, nth) => rules.map((rule) => ({ ...rule, xml: batch[nth] })));
      expect(broken.slice(0, 3)).toEqual([]);
      expect(all).toHaveLength(batch.length);
    }
  }
  console.info(seen);
  for (const kind of ['invoices', 'finals', 'credits'] as const) expect(seen[kind]).toBeGreaterThan(COUNT / 20);
}, 3_600_000);
