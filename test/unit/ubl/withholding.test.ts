import { describe, expect, test } from 'vitest';
import { faultOf } from '../../../src/adapters/authority/mock/examine-invoice.ts';
import { brokenRule } from '../../../src/adapters/ubl/check-document.ts';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { sampleCreditNote, sampleInvoice, sampleLine } from './sample-invoice.ts';

const certificate = { number: 'ARF n° 117 & <2>', date: '2026-08-31' };
const lines = [sampleLine({ description: 'A', quantity: 1, unitPrice: 10_000, taxRate: 20 })];
const invoice = sampleInvoice({ withholding: { percent: 75, certificate }, lines });
const { xml } = writeInvoice(invoice);
/** The document without its namespace declarations. */
const plain = (written: string) => written.replace(/ xmlns(:\w+)?="[^"]*"/g, '');
const fault = (document: string) => faultOf(Buffer.from(document), invoice.customer.ice)?.code ?? null;

describe('VAT that the buyer withholds', () => {
  test('is in the terms of payment and in figures of its own; totals and amount to pay are those without it', () => {
    expect(plain(xml)).toContain(
      '</cac:PaymentMeans><cac:PaymentTerms><cbc:Note>TVA retenue à la source : 75 % de 20,00 MAD, soit 15,00 MAD. ' +
        'Net à payer : 105,00 MAD. Attestation de régularité fiscale n° ARF n° 117 &amp; &lt;2&gt; du 2026-08-31.' +
        '</cbc:Note></cac:PaymentTerms><cac:TaxTotal>',
    );
    expect(plain(xml)).toContain(
      '</cac:TaxTotal><cac:WithholdingTaxTotal><cbc:TaxAmount currencyID="MAD">15.00</cbc:TaxAmount><cac:TaxSubtotal>' +
        '<cbc:TaxableAmount currencyID="MAD">20.00</cbc:TaxableAmount><cbc:TaxAmount currencyID="MAD">15.00</cbc:TaxAmount>' +
        '<cbc:Percent>75</cbc:Percent><cac:TaxCategory><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory>' +
        '</cac:TaxSubtotal></cac:WithholdingTaxTotal><cac:LegalMonetaryTotal>',
    );
    const without = (written: string) =>
      plain(written).replace(
        /<cac:PaymentTerms>.*<\/cac:PaymentTerms>|<cac:WithholdingTaxTotal>.*<\/cac:WithholdingTaxTotal>/g,
        '',
      );
    expect(without(xml)).toBe(plain(writeInvoice(sampleInvoice({ lines })).xml));
    expect([brokenRule(xml), fault(xml)]).toEqual([null, null]);
  });

  test('is not in an invoice that states none, nor in a credit note', () => {
    const none = /PaymentTerms|WithholdingTaxTotal|retenue/;
    expect(writeInvoice(sampleInvoice()).xml).not.toMatch(none);
    expect(writeInvoice(sampleCreditNote()).xml).not.toMatch(none);
  });

  test('needs no certificate', () => {
    const { xml: written } = writeInvoice(sampleInvoice({ withholding: { percent: 100, certificate: null }, lines }));
    expect(written).toContain('soit 20,00 MAD. Net à payer : 100,00 MAD.</cbc:Note>');
    expect([brokenRule(written), fault(written)]).toEqual([null, null]);
  });

  test.each([
    ['another share', />75</, '>76<', /percentage withheld is not the one/, 'withholding_invalid'],
    ['no share', />75</, '>0<', /percentage withheld is not the one/, 'withholding_invalid'],
    ['another share in its terms', '75 % de', '76 % de', /percentage withheld is not the one/, 'withholding_invalid'],
    ['a share beyond the whole', '75 % de', '101 % de', /percentage of 1 to 100/, 'withholding_invalid'],
    ['other terms', 'TVA retenue à la source', 'TVA retenue', /percentage of 1 to 100/, 'withholding_invalid'],
    [
      'another whole',
      /(?<at>WithholdingTaxTotal[^>]*><cbc:TaxAmount[^>]*>)15\.00/,
      '$<at>15.01',
      /whole VAT withheld/,
      'withholding_invalid',
    ],
    [
      'another part',
      /15\.00(<\/cbc:TaxAmount><cbc:Percent[^>]*>)/,
      '14.99$1',
      /the VAT withheld/,
      'withholding_invalid',
    ],
    [
      'another base',
      /(?<at>WithholdingTaxTotal[^>]*>.*<cbc:TaxableAmount[^>]*>)20\.00/,
      '$<at>20.01',
      /of which a part is withheld/,
      'withholding_invalid',
    ],
    ['another base in its terms', '20,00 MAD', '20,01 MAD', /VAT in the terms of payment/, null],
    ['another amount in its terms', 'soit 15,00', 'soit 15,01', /withheld in the terms of payment/, null],
    ['another net to pay', '105,00 MAD', '105,01 MAD', /the net to pay/, null],
    [
      'another tax',
      /(?<at><\/cbc:Percent><cac:TaxCategory[^>]*><cac:TaxScheme[^>]*><cbc:ID[^>]*>)VAT/,
      '$<at>IR',
      /is not VAT/,
      null,
    ],
    ['a certificate of the day after', 'du 2026-08-31', 'du 2026-11-22', /certificate is of a day after/, null],
    ['a certificate of no day', 'du 2026-08-31', 'du 2026-02-30', /certificate is of a day after/, null],
    [
      'no terms',
      /<cac:PaymentTerms[^>]*>.*<\/cac:PaymentTerms>/,
      '',
      /needs its figures and its terms/,
      'element_missing',
    ],
    [
      'no figures',
      /<cac:WithholdingTaxTotal[^>]*>.*<\/cac:WithholdingTaxTotal>/,
      '',
      /needs its figures and its terms/,
      null,
    ],
    [
      'figures before the VAT',
      /(<cac:TaxTotal[^>]*>.*<\/cac:TaxTotal>)(<cac:WithholdingTaxTotal[^>]*>.*<\/cac:WithholdingTaxTotal>)/,
      '$2$1',
      /at its position|wrong position/,
      null,
    ],
  ])('with %s is noticed', (_what, find, replace, rule, code) => {
    const broken = xml.replace(find, replace);
    expect(broken).not.toBe(xml);
    expect(brokenRule(broken)).toMatch(rule);
    if (code !== null) expect(fault(broken)).toBe(code);
  });
});
