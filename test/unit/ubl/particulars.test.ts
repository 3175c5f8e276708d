import { describe, expect, test } from 'vitest';
import { faultOf } from '../../../src/adapters/authority/mock/examine-invoice.ts';
import { brokenRule } from '../../../src/adapters/ubl/check-document.ts';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { sampleCreditNote, sampleInvoice, sampleLine } from './sample-invoice.ts';

const invoice = sampleInvoice({
  references: { order: 'BC & 4711', contract: 'C-2026/9' },
  servicePeriod: { from: '2026-10-01', to: '2026-10-31' },
  foreignValue: { currency: 'EUR', amount: 100_050, rate: 10.8, rateDate: '2026-11-20' },
  lines: [sampleLine({ description: 'A', quantity: 1, unitPrice: 900_450, taxRate: 20 })],
});
const { xml } = writeInvoice(invoice);
/** The document without its namespace declarations. */
const plain = (written: string) => written.replace(/ xmlns(:\w+)?="[^"]*"/g, '');
const fault = (document: string) => faultOf(Buffer.from(document), invoice.customer.ice)?.code ?? null;

describe('the particulars of an invoice', () => {
  test('are where UBL has them', () => {
    expect(plain(xml)).toContain(
      '<cbc:DocumentCurrencyCode>MAD</cbc:DocumentCurrencyCode>' +
        '<cac:InvoicePeriod><cbc:StartDate>2026-10-01</cbc:StartDate><cbc:EndDate>2026-10-31</cbc:EndDate></cac:InvoicePeriod>' +
        '<cac:OrderReference><cbc:ID>BC &amp; 4711</cbc:ID></cac:OrderReference>' +
        '<cac:ContractDocumentReference><cbc:ID>C-2026/9</cbc:ID></cac:ContractDocumentReference><cac:Signature>',
    );
    expect(plain(xml)).toContain(
      '<cbc:Note>Valeur convenue : 1000,50 EUR (1 EUR = 10,8 MAD, cours du 2026-11-20).</cbc:Note>',
    );
    expect(plain(xml)).toContain(
      '</cac:PaymentMeans><cac:PricingExchangeRate><cbc:SourceCurrencyCode>EUR</cbc:SourceCurrencyCode>' +
        '<cbc:TargetCurrencyCode>MAD</cbc:TargetCurrencyCode><cbc:CalculationRate>10.8</cbc:CalculationRate>' +
        '<cbc:MathematicOperatorCode>multiply</cbc:MathematicOperatorCode><cbc:Date>2026-11-20</cbc:Date></cac:PricingExchangeRate><cac:TaxTotal>',
    );
    expect([brokenRule(xml), fault(xml)]).toEqual([null, null]);
  });

  test('are not in an invoice that states none, nor in a credit note', () => {
    const none = /InvoicePeriod|OrderReference|ContractDocumentReference|ExchangeRate|Valeur convenue/;
    expect(writeInvoice(sampleInvoice()).xml).not.toMatch(none);
    expect(writeInvoice(sampleInvoice({ references: { order: null, contract: null } })).xml).not.toMatch(none);
    expect(writeInvoice(sampleCreditNote()).xml).not.toMatch(none);
  });

  test.each([
    ['a period that ends before it starts', '>2026-10-31<', '>2026-09-30<', /ends before/, 'period_invalid'],
    ['a day that does not exist', '>2026-10-31<', '>2026-11-31<', /day of the period/, 'period_invalid'],
    ['an order without a number', '>BC &amp; 4711<', '> <', /is empty/, 'reference_missing'],
    ['a rate that its note does not have', '>10.8<', '>10.9<', /not the one of the note/, null],
    ['a value that is not the amount', '1000,50 EUR', '1001,50 EUR', /not the amount to pay/, null],
    ['a value by a centime of euro more', '1000,50 EUR', '1000,52 EUR', /not the amount to pay/, null],
    ['a value of other decimals', '1000,50 EUR', '1000,5 EUR', /decimals of EUR/, null],
    ['an unknown currency', '1000,50 EUR (1 EUR', '1000,50 EUX (1 EUX', /EUX is not a currency/, null],
    ['dirhams for a currency', '>EUR<', '>MAD<', /not the one of the note/, 'currency_invalid'],
    ['a rate of nothing', '>10.8<', '>0<', /not the one of the note/, 'rate_invalid'],
    ['a rate of a later day', />2026-11-20</, '>2026-11-22<', /not the one of the note/, 'rate_date_invalid'],
    ['no note', 'Valeur convenue', 'Valeur', /needs its note/, null],
    ['a division', '>multiply<', '>divide<', /not the one of the note/, 'rate_invalid'],
    [
      'a period after the order',
      /(<cac:InvoicePeriod.*InvoicePeriod>)(<cac:OrderReference.*OrderReference>)/,
      '$2$1',
      /at its position|wrong position/,
      null,
    ],
  ])('with %s are noticed', (_what, find, replace, rule, code) => {
    const broken = xml.replace(find, replace);
    expect(broken).not.toBe(xml);
    expect(brokenRule(broken)).toMatch(rule);
    if (code !== null) expect(fault(broken)).toBe(code);
  });
});
