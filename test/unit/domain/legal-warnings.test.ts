import { describe, expect, test } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { INVOICE_WARNINGS } from '../../../src/domain/invoice/invoice-warnings.ts';
import { legalWarnings, rulesConcerning, type WarnedInvoice } from '../../../src/domain/invoice/legal-warnings.ts';
import { NO_PARTICULARS } from '../../../src/domain/invoice/particulars.ts';
import { type InvoiceTerms, NO_TERMS } from '../../../src/domain/invoice/terms.ts';
import { createInvoiceWarnings } from '../../../src/domain/invoice/unprintable-warnings.ts';
import { explained, standingOf } from '../../../src/domain/morocco/rules.ts';
import { sampleInvoice, sampleLine, sampleLines } from '../ubl/sample-invoice.ts';

// Rates that are in force on the date.
const sample = sampleInvoice({ lines: sampleLines(5).filter(({ taxRate }) => taxRate !== 7 && taxRate !== 14) });
const createdAt = new Date('2026-11-21T10:00:00Z');
const terms: InvoiceTerms = { ...NO_TERMS, operationDate: '2026-11-20', dueDate: '2026-12-31', paymentMeans: 'cash' };
const buyer = { ...sample.customer, ice: '000000000000097' };
const codes = (changes: Partial<WarnedInvoice>) => {
  const { amount, lines } = sample;
  const seller = { ...sample.seller, ice: '999000000000005' };
  const invoice = {
    kind: 'invoice' as const,
    ...NO_PARTICULARS,
    amount,
    customer: buyer,
    lines,
    seller,
    terms,
    createdAt,
    ...changes,
  };
  return legalWarnings(invoice).map(({ code, path }) => `${code} ${path}`);
};
const customer = { ...sample.customer, ice: '999000000000005' };
const seller = { ...sample.seller, ice: '999000000000005' };

describe('the warnings of an invoice', () => {
  test('name missing mandatory data and suspicious values', () => {
    const { cnss, email, ...incomplete } = sample.seller;
    expect(codes({ customer: { ...customer, ice: '000000000000000', address: ' ' } })).toEqual([
      'ice_zero customer.ice',
      'customer_address_missing customer.address',
    ]);
    expect(codes({ customer: { ...customer, ice: '999000000000006' } })).toEqual(['ice_check_key customer.ice']);
    expect(codes({ customer })).toEqual(['customer_is_seller customer.ice']);
    expect(codes({ customer, seller: { ...incomplete, ice: '999000000000004' } })).toEqual([
      'seller_field_missing seller.cnss',
      'seller_field_missing seller.email',
      'ice_check_key seller.ice',
    ]);
  });

  test('report a missing exemption reason for lines without VAT', () => {
    const lines = [sampleLine({ description: 'x', quantity: 1, unitPrice: 100, taxRate: 0 })];
    const changes = { amount: 100, lines, customer: { ...customer, ice: '000000000000097' } };
    expect(codes({ ...changes, seller })).toEqual([]);
    expect(codes({ ...changes, seller: { ...seller, exemptionReason: null } })).toEqual([
      'exemption_reason_missing seller.exemptionReason',
    ]);
  });

  test('report it while the profile lacks other fields too, so that going live brings no new warning', () => {
    const lines = [sampleLine({ description: 'x', quantity: 1, unitPrice: 100, taxRate: 0 })];
    const { cnss, ...incomplete } = { ...seller, exemptionReason: null };
    const changes = { amount: 100, lines, customer: { ...customer, ice: '000000000000097' } };
    expect(codes({ ...changes, seller: incomplete })).toEqual([
      'seller_field_missing seller.cnss',
      'exemption_reason_missing seller.exemptionReason',
    ]);
  });

  test('name the characters that the PDF cannot show, with the path of the field', async () => {
    const asked: string[] = [];
    const warnings = createInvoiceWarnings(async (text) => {
      asked.push(text);
      return { withoutFont: [...new Set(text.match(/[\u4e00-\u9fff]/g))], distorting: [] };
    });
    const line = sampleLine({ description: '咨询', quantity: 1, unitPrice: 100, taxRate: 20 });
    const plain = sampleLine({ description: 'Café', quantity: 1, unitPrice: 100, taxRate: 20 });
    const all = {
      seller: { ...seller, legalName: '中国', legalForm: '一二三四五六七八九十百', exemptionReason: '无' },
      customer: { ...sample.customer, ice: '000000000000097', name: '北京北京 SARL' },
      lines: [plain, ...Array.from({ length: 30 }, () => line)],
      amount: 31 * 120,
      number: 'A-1',
      ...NO_PARTICULARS,
      terms: NO_TERMS,
      createdAt: new Date(),
      kind: 'invoice' as const,
    };
    const told = (await warnings(all)).filter(({ code }) => code === 'unprintable_characters');
    expect(told.map(({ path }) => path)).toEqual([
      'customer.name',
      'seller.legalName',
      'seller.legalForm',
      ...Array.from({ length: 20 }, (_, index) => `lines.${index + 1}.description`),
    ]);
    expect(told[0]?.message).toContain('none of its fonts has them: 北 (U+5317), 京 (U+4EAC). The XML');
    expect(told[2]?.message).toContain('十 (U+5341) and 1 more.');
    expect(told[21]?.message).not.toContain('further');
    expect(told[22]?.message).toMatch(/ 10 further lines have such characters\.$/);
    // The exemption reason is printed if a line bears no VAT.
    expect(asked).not.toContain('无');
    expect(asked).toContain('A-1');
  });

  test('name what would make a text look like another one by its code point, which does nothing to the message', async () => {
    const warnings = createInvoiceWarnings(async (text) => ({
      withoutFont: text === 'R' ? ['北'] : [],
      distorting: text === 'R' || text === 'N' ? ['\u202e', '\u0301'] : [],
    }));
    const told = await warnings({
      seller: { ...seller, legalName: 'R' },
      customer: { ...sample.customer, name: 'N' },
      lines: sample.lines,
      amount: sample.amount,
      kind: 'invoice',
      number: null,
      ...NO_PARTICULARS,
      terms,
      createdAt,
    });
    const messages = told.filter(({ code }) => code === 'unprintable_characters').map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining(
        'shows as \ufffd, because they would make the text look like another one: U+202E, U+0301. The XML',
      ),
      expect.stringContaining('because none of its fonts has them: 北 (U+5317), and because they would make'),
    ]);
    expect(messages.join()).not.toMatch(/\u202e|\u0301/);
  });

  test('yield to the event loop: other work runs while 1,000 long lines are checked', async () => {
    const warnings = createInvoiceWarnings(async () => ({ withoutFont: [], distorting: [] }));
    const line = sampleLine({ description: 'é'.repeat(500), quantity: 1, unitPrice: 100, taxRate: 20 });
    const lines = Array.from({ length: 1000 }, () => line);
    let [turns, done] = [0, false];
    const turn = () => {
      turns++;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    await warnings({ ...sample, lines, terms, createdAt, number: null } as unknown as Invoice);
    done = true;
    expect(turns).toBeGreaterThan(10);
  });

  test('report a rounding difference', () => {
    const changes = { amount: sample.amount + 1, customer: { ...customer, ice: '000000000000097' } };
    expect(codes(changes)).toEqual(['rounding amount']);
    expect(legalWarnings({ ...sample, terms, createdAt, ...changes } as unknown as Invoice)[0]?.message).toContain(
      '1 centimes above',
    );
  });

  test('report missing or unusual dates and payment terms', () => {
    expect(codes({ terms: NO_TERMS })).toEqual([
      'operation_date_missing terms.operationDate',
      'due_date_missing terms.dueDate',
      'payment_means_missing terms.paymentMeans',
      'payment_reference_missing terms.paymentReference',
    ]);
    const profile = { ...seller, paymentTermDays: 30, operationDateIsIssueDate: true };
    const transfer = { ...profile, paymentMeans: 'transfer' } as const;
    expect(codes({ terms: NO_TERMS, seller: transfer })).toEqual(['bank_account_missing terms.bankAccount']);
    expect(codes({ terms: NO_TERMS, seller: { ...transfer, bankAccount: '999780000128473900001726' } })).toEqual([]);
    expect(codes({ terms: NO_TERMS, seller: { ...profile, paymentMeans: 'cash' } })).toEqual([]);
    expect(codes({ terms: { ...terms, paymentMeans: null, paymentMode: 'Or', paymentReference: 'R' } })).toEqual([
      'payment_means_missing terms.paymentMeans',
    ]);
  });

  test('report a due date more than 120 days after the date in Morocco', () => {
    expect(codes({ terms: { ...terms, dueDate: '2027-03-21' } })).toEqual([]);
    expect(codes({ terms: { ...terms, dueDate: '2027-03-22' } })).toEqual(['due_date_late terms.dueDate']);
    const nextDay = new Date('2026-06-30T23:30:00Z');
    expect(codes({ createdAt: nextDay, terms: { ...terms, dueDate: '2026-10-29' } })).toEqual([]);
    expect(codes({ terms: { ...terms, dueDate: null }, seller: { ...seller, paymentTermDays: 121 } })).toEqual([
      'due_date_late terms.dueDate',
    ]);
  });

  test('report rates that are not in force after all others, with the law, its date and its source', () => {
    const lines = [20, 14, 7, 14].map((taxRate) =>
      sampleLine({ description: 'x', quantity: 1, unitPrice: 1000, taxRate: taxRate as 20 | 14 | 7 }),
    );
    const changes = { lines, amount: 4550, terms: { ...terms, dueDate: '2027-03-22' } };
    expect(codes(changes)).toEqual([
      'due_date_late terms.dueDate',
      'tax_rate_not_in_force lines.1.taxRate',
      'tax_rate_not_in_force lines.2.taxRate',
    ]);
    const [, warning] = legalWarnings({ ...sample, createdAt, ...changes, customer: buyer, seller });
    expect(warning?.message).toMatch(
      /^The rate of 14 % is not in force on the invoice's date\. Check tax_rate\. Law in force since 2026-01-01: .+source: /,
    );
    const inTime = { ...terms, dueDate: '2026-01-31' };
    expect(codes({ ...changes, terms: inTime, createdAt: new Date('2025-12-31T20:00:00Z') })).toEqual([]);
  });

  test('are fewer than the rules that concern the invoice, which also explain what is left if VAT is withheld', () => {
    const lines = [sampleLine({ description: 'x', quantity: 1, unitPrice: 1_000_000, taxRate: 20 })];
    const invoice = { ...sample, createdAt, terms, lines, amount: 1_200_000, customer: buyer, seller };
    expect(legalWarnings(invoice)).toEqual([]);
    const found = rulesConcerning(invoice);
    expect(found.map(({ rule }) => rule.code)).toEqual([
      'vat_withheld',
      'cash_deduction_limit',
      'cash_stamp_duty',
      'records_kept',
    ]);
    expect(explained(found[0]!)).toMatch(
      /10500\.00 MAD \(75 % withheld\) or 10000\.00 MAD .+ This rule is off\. .+ Law in force since 2026-07-01 /,
    );
  });

  test('leave a credit note of an invoice of its time in peace', () => {
    const lines = [sampleLine({ description: 'x', quantity: 1, unitPrice: 1000, taxRate: 14 })];
    const creditOf = (issueDate: string) => ({
      kind: 'credit_note' as const,
      lines,
      amount: 1140,
      terms: NO_TERMS,
      credit: { original: { id: null, number: 'F-1', issueDate, dgiId: null } },
    });
    expect(codes(creditOf('2025-12-31'))).toEqual([]);
    expect(codes(creditOf('2026-01-01'))).toEqual(['tax_rate_not_in_force lines.0.taxRate']);
  });

  test('say what is wrong, what to do, and for a rule whether it is law, with its source', () => {
    const found = legalWarnings({ ...sample, createdAt, terms: NO_TERMS } as unknown as Invoice);
    for (const { code, message, rule } of found) {
      const { description, remedy } = INVOICE_WARNINGS[code];
      expect(message).toBe([description, remedy, ...(rule ? [standingOf(rule)] : [])].join(' '));
    }
    expect(found.filter(({ rule }) => rule)).not.toEqual([]);
  });
});
