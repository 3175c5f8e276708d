import { randomNumbers } from '../../scripts/random-numbers.ts';
import { type CreateInvoiceInput, createInvoiceInput } from '../../src/domain/invoice/create-invoice-input.ts';
import { kindProblems } from '../../src/domain/invoice/customer-rules.ts';
import { withDepositShares } from '../../src/domain/invoice/deduction.ts';
import { type Particulars, particularsProblems } from '../../src/domain/invoice/particulars.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import { TAX_RATES, type TaxRate } from '../../src/domain/invoice/tax-rate.ts';
import { type LegalTerms, NO_TERMS, termsProblems } from '../../src/domain/invoice/terms.ts';
import { isTolerated, linesWithAmounts, statedTotals, totalsOf } from '../../src/domain/invoice/totals.ts';
import { UNIT_CODES } from '../../src/domain/invoice/units.ts';
import { MAX_CENTIMES } from '../../src/domain/money.ts';
import { EXEMPTION_CODES } from '../../src/domain/morocco/exemptions.ts';
import { PAYMENT_MEANS_NAMES } from '../../src/domain/payment-means.ts';
import { sampleInvoice } from '../unit/ubl/sample-invoice.ts';
import { adjustedDocuments, type Changes } from './adjusted-documents.ts';
import { depositDocuments } from './deposit-specimens.ts';
import { PARTICULAR_SPECIMENS } from './particular-specimens.ts';

/** A document that creation accepts, with the case that it covers. */
export interface Specimen {
  readonly name: string;
  readonly invoice: LegalInvoice;
  /**
   * The invoice and the earlier credit notes that the figures of a credit note depend on; null for other documents, and
   * for credit notes of another system's invoice.
   */
  readonly credits: Credited | null;
}

export interface Credited {
  readonly original: LegalInvoice;
  /** The earlier credit notes of the invoice that were not rejected, oldest first. */
  readonly counted: readonly Specimen[];
}

export type Line = CreateInvoiceInput['lines'][number];

export const TEXTS: readonly string[] = [
  'فاتورة رقم ١٢٣ — شركة الأطلس للاستشارات',
  'ورق A4 (500 ورقة) – 80 غ/م²',
  'ⵜⴰⴳⴻⵍⴷⵉⵜ ⵏ ⵍⵎⵖⵔⵉⴱ',
  'Prestation « à façon » : élagage, œuvre n° 5 — 12 ½ %',
  '请款单 発票 세금계산서',
  '🧾👩🏽‍💻 e\u0301 ñ \u{10FFFD}',
  `quotes " ' and & < > ]]> &amp; &#13; &unknown;`,
  '<script>alert(1)</script><cbc:ID>1</cbc:ID>',
  '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
  '<![CDATA[x]]> <?xml version="1.0"?> <!-- y -->',
  'bidi \u202Eoverride\u202C, isolates \u2066x\u2069, zero\u200Bwidth, bom\uFEFF',
  'line\nbreaks\r\nand\ttabs  and  spaces ',
  'x'.repeat(500),
  `${'é'.repeat(499)}.`,
  '=cmd|"/c calc"!A1',
  '%s %n $(x) {{y}} \\u0000',
  '  leading and trailing  ',
  '0',
];

/** Terms with every field set. */
const ALL_TERMS: LegalTerms = {
  operationDate: '2026-10-31',
  dueDate: '2027-01-20',
  paymentMode: 'Virement bancaire à 60 jours',
  paymentMeans: 'transfer',
  paymentReference: 'CMD 4711',
  bankAccount: '999780000128473900001726',
};

const line = (quantity: number, unitPrice: number, taxRate: TaxRate, description = 'Prestation de service'): Line => ({
  description,
  quantity,
  unitPrice,
  taxRate,
});

/**
 * At least 200 invoices: every rate and set of rates, rounding, all kinds of text, 1 to 1,000 lines, extreme amounts,
 * missing details.
 */
export function corpus(): Specimen[] {
  const random = randomNumbers(20_261_121);
  const upTo = (max: number) => Math.floor(random() * max);
  const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length)] as T;
  const found: Specimen[] = [];
  const add = (name: string, lines: readonly Line[], changes: Changes = {}) =>
    found.push({ name, invoice: legalFrom(lines, changes, found.length + 1), credits: null });

  for (const rate of TAX_RATES) {
    for (const price of [100, 999, 12_345, 3_333_333]) add(`${rate} % of ${price}`, [line(1, price, rate)]);
  }
  for (let set = 1; set < 2 ** TAX_RATES.length; set++) {
    const rates = TAX_RATES.filter((_rate, bit) => set & (1 << bit));
    add(
      `rates ${rates.join(', ')}`,
      rates.map((rate) => line(1 + upTo(9), 100 + upTo(99_999), rate)),
    );
  }
  // Sums whose VAT ends in exactly half a centime, or just above or below it.
  for (const rate of [7, 10, 14, 20] as const) {
    for (const price of [105, 150, 250, 1_007, 1_050, 10_005])
      add(`half a centime: ${rate} % of ${price}`, [line(1, price, rate)]);
  }
  for (const [rate, price] of [
    [7, 107],
    [14, 104],
    [20, 103],
    [10, 105],
  ] as const) {
    for (const count of [2, 7, 40]) {
      const lines = Array.from({ length: count }, () => line(1, price, rate));
      const gross = totalsOf({ lines })?.gross ?? 0;
      // VAT rounded half up on each line, or rounded half down.
      const perLine = [50, 49].map((half) => count * (price + Math.floor((price * rate + half) / 100)));
      for (const amount of new Set(perLine)) {
        if (amount !== gross && Math.abs(amount - gross) * 2 <= count)
          add(`${amount - gross} centimes of rounding on ${count} lines at ${rate} %`, lines, { amount });
      }
    }
  }
  for (const text of TEXTS) {
    add(`text: ${text.slice(0, 20)}`, [line(2, 999, 20, text)]);
    const seller = { ...sampleInvoice().seller, legalName: text.slice(0, 200) };
    const oneLine = text.replaceAll(/[\t\n\r]+/g, ' ');
    const terms = { ...ALL_TERMS, paymentMode: oneLine.slice(0, 100), paymentReference: oneLine.slice(0, 50) };
    const customer = { ...sampleInvoice().customer, name: text.slice(0, 200), address: text };
    add(`names: ${text.slice(0, 20)}`, [line(1, 5_000, 14, text)], { seller, customer, terms });
  }
  for (const count of [1, 2, 3, 10, 99, 100, 101, 250, 500, 999, 1_000, 1_000]) {
    add(
      `${count} lines`,
      Array.from({ length: count }, () => line(1 + upTo(50), 100 + upTo(500_000), oneOf(TAX_RATES), oneOf(TEXTS))),
    );
  }
  for (const [name, lines] of [
    ['the smallest amount', [line(1, 100, 0)]],
    ['the largest amount', [line(1, MAX_CENTIMES, 0)]],
    ['the largest quantity', [line(MAX_CENTIMES, 1, 0)]],
    ['the largest amount with VAT', [line(1, Math.floor(MAX_CENTIMES / 1.2), 20)]],
    ['a free line', [line(1, 0, 20), line(1, 100, 20)]],
    ['a free line at a rate of its own', [line(1, 0, 7), line(1, 100, 20)]],
    ['all rates near the largest amount', TAX_RATES.map((rate) => line(1, 1_500_000_000_000_000, rate))],
    ['millions of pieces', [line(9_999_999, 12_345, 20), line(1, 1, 7)]],
  ] as const) {
    add(name, lines);
  }
  for (const [name, lines] of [
    ['an hour and a half', [{ ...line(1.5, 40_000, 20), unit: 'HUR' }]],
    ['three quarters of a tonne', [{ ...line(0.75, 123_450, 10), unit: 'TNE' }]],
    ['a thousandth of a cubic metre', [{ ...line(0.001, 99_999, 20), unit: 'MTQ' }, line(1, 100, 20)]],
    ['a price below a centime', [{ ...line(250_000, 0.25, 20), unit: 'KWH' }]],
    ['a price of four decimals', [line(3, 12_345.67, 14)]],
    ['a discount in percent', [{ ...line(3, 9_999, 20), discount: { percent: 12.5, reason: 'Fidélité' } }]],
    ['a discount as an amount', [{ ...line(3, 9_999, 20), discount: { amount: 1 } }, line(1, 100, 7)]],
    ['a line for nothing', [{ ...line(1, 5_000, 20), discount: { percent: 100 } }, line(1, 100, 20)]],
    ['a price with tax', [{ ...line(1, 50_000, 20), taxIncluded: true }]],
    [
      'prices with tax that no base gives',
      [3, 9, 15].map((price) => ({ ...line(1, price * 10 + 3, 20), taxIncluded: true })),
    ],
    ['prices with and without tax', [{ ...line(7, 3_333, 14), taxIncluded: true }, line(7, 3_333, 14)]],
    ['a discount on a price with tax', [{ ...line(2.5, 50_000, 20), taxIncluded: true, discount: { percent: 3.33 } }]],
  ] as const) {
    add(name, lines);
  }
  for (const unit of UNIT_CODES) add(`unit ${unit}`, [{ ...line(12.345, 6_789, oneOf(TAX_RATES)), unit }]);
  for (let serial = 0; serial < 40; serial++) {
    const lines = Array.from({ length: 1 + upTo(12) }, () => ({
      ...line(
        (1 + upTo(50_000)) / oneOf([1, 10, 100, 1000]),
        (100 + upTo(5_000_000)) / oneOf([1, 10, 100]),
        oneOf(TAX_RATES),
      ),
      unit: oneOf([null, ...UNIT_CODES]),
      taxIncluded: oneOf([null, true, false]),
      discount: oneOf([
        null,
        null,
        { percent: (1 + upTo(9_999)) / 100 },
        {
          amount: 1 + upTo(40),
          reason: oneOf(TEXTS)
            .replaceAll(/[\t\n\r]+/g, ' ')
            .slice(0, 100),
        },
      ]),
    }));
    add(`exact lines ${serial}`, lines);
  }
  const { seller, customer } = sampleInvoice();
  const mixed = [line(3, 12_345, 20), line(1, 5_000, 0)];
  for (const paymentMeans of [...PAYMENT_MEANS_NAMES, null]) {
    const own = { ...NO_TERMS, paymentMode: 'Autre', paymentMeans };
    add(`paid by ${paymentMeans}, and no more said`, mixed, { terms: own });
    add(`paid by ${paymentMeans}, all said`, mixed, { terms: { ...ALL_TERMS, paymentMeans } });
  }
  for (const [name, terms] of [
    ['due on its own day', { dueDate: '2026-11-21' }],
    ['the latest allowed due date', { dueDate: '2031-11-21' }],
    ['the earliest allowed date of operation', { operationDate: '2016-11-21' }],
    ['the latest allowed date of operation', { operationDate: '2027-11-21' }],
    ['a leap day', { operationDate: '2024-02-29', dueDate: '2028-02-29' }],
    ['an account with the last key', { bankAccount: '999780000000000000003597' }],
    ['an account with the first key', { bankAccount: '999780000000000000006701' }],
  ] as const) {
    add(name, mixed, { terms: { ...ALL_TERMS, ...terms } });
  }
  for (const { name, lines = mixed, ...changes } of PARTICULAR_SPECIMENS) add(name, lines, changes);
  add('no exemption reason', mixed, { seller: { ...seller, exemptionReason: null } });
  add('no postal code', mixed, { seller: { ...seller, address: { ...seller.address, postalCode: null } } });
  add('no address of the buyer', mixed, { customer: { ...customer, address: null } });
  add('blank address of the buyer', mixed, { customer: { ...customer, address: '  ' } });
  add('e-mail of the buyer', mixed, { customer: { ...customer, email: `o'neil+"x"@example.com` } });
  add('an ICE without a check key', mixed, { customer: { ...customer, ice: '123456789012345' } });
  const exempt = (exemption: Line['exemption']) => ({ ...line(3, 12_345, 0), exemption });
  const certificate = { number: 'AC 2026/117', date: '2026-02-03' };
  const unsaid = { ...seller, exemptionReason: null };
  for (const code of EXEMPTION_CODES) {
    add(`exempt: ${code}`, [exempt({ code }), line(1, 100, 20)], { seller: unsaid });
    add(`exempt with a certificate: ${code}`, [exempt({ code, certificate })]);
  }
  const all = EXEMPTION_CODES.toReversed().map((code) => exempt({ code, certificate }));
  add('all exemptions', [...all, line(1, 5_000, 20)]);
  add('all exemptions beside the reason of the seller', [...all, line(1, 5_000, 0)]);
  add('all exemptions beside a line without a reason', [...all, line(1, 5_000, 0)], { seller: unsaid });
  const abroad = { ...customer, kind: 'foreign', ice: null } as const;
  for (const [name, changed] of [
    ['a private person', { ...customer, kind: 'person', ice: null, name: 'Amina Alaoui' }],
    ['a private person without an address', { ...customer, kind: 'person', ice: null, address: null }],
    ['a VAT number of another country', { ...abroad, country: 'FR', taxNumber: 'FR40303265045' }],
    ['a Greek VAT number', { ...abroad, country: 'GR', taxNumber: 'EL094259216' }],
    ['a tax number that is no VAT number', { ...abroad, country: 'US', taxNumber: '12-3456789' }],
    ['a customer abroad without a tax number', { ...abroad, country: 'SN', taxNumber: null }],
  ] as const) {
    add(name, mixed, { customer: changed });
  }
  add('a test invoice', mixed, { environment: 'test' });
  add('a specimen', mixed, { environment: 'test', specimen: true });
  add('no capital', mixed, { seller: { ...seller, capital: 0 } });
  while (found.length < 340) {
    const lines = Array.from({ length: 1 + upTo(30) }, () =>
      line(1 + upTo(10 ** upTo(5)), upTo(10 ** (2 + upTo(6))) + 100, oneOf(TAX_RATES), oneOf(TEXTS)),
    );
    const terms = oneOf([undefined, { ...ALL_TERMS, paymentMeans: oneOf(PAYMENT_MEANS_NAMES) }]);
    add(`random ${found.length}`, lines, terms && { terms });
  }
  for (const [name, lines, changes] of [...adjustedDocuments(), ...depositDocuments()]) add(name, lines, changes);
  return found;
}

function particularsIn(invoice: Partial<LegalInvoice>): Partial<Particulars> {
  const { references, servicePeriod, foreignValue, withholding } = invoice;
  return {
    ...(references && { references }),
    ...(servicePeriod && { servicePeriod }),
    ...(foreignValue && { foreignValue }),
    ...(withholding && { withholding }),
  };
}

/** Makes an invoice by the rules of creation, so that every specimen is an invoice that a user could create. */
function legalFrom(lines: readonly Line[], changes: Changes, serial: number): LegalInvoice {
  const { discount, charge, deduction } = changes;
  const base = sampleInvoice();
  const { email: _email, ...customer } = changes.customer ?? base.customer;
  const amount = changes.amount ?? statedTotals({ lines, discount, charge, deduction })?.gross ?? 0;
  const input = createInvoiceInput.parse({
    amount,
    currency: 'MAD',
    customer,
    lines,
    discount,
    charge,
    metadata: {},
    terms: changes.terms,
    ...particularsIn(changes),
  });
  const asked = { amount, lines: lines.length };
  const refused = [
    ...termsProblems(input.terms ?? {}, base.issueDate),
    ...particularsProblems(input, asked, base.issueDate),
    ...kindProblems(input.customer),
  ];
  if (refused.length > 0) throw new Error(`the corpus holds what is refused: ${refused[0]?.message}`);
  const invoice = sampleInvoice({
    ...changes,
    number: `2026-${String(serial).padStart(6, '0')}`,
    lines: deduction ? withDepositShares(linesWithAmounts(input), deduction.deposits) : linesWithAmounts(input),
    amount,
  });
  const totals = statedTotals({ lines, discount, charge, deduction });
  if (!totals || !isTolerated(amount, totals, lines))
    throw new Error(`the corpus holds an amount that is refused: ${amount}`);
  return invoice;
}
