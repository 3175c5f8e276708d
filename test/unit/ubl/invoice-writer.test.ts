import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultOf } from '../../../src/adapters/authority/mock/examine-invoice.ts';
import { brokenRule } from '../../../src/adapters/ubl/check-document.ts';
import { createInvoiceWriter } from '../../../src/adapters/ubl/invoice-writer.ts';
import { writeInvoice as write } from '../../../src/adapters/ubl/write-invoice.ts';
import { COMPANY } from '../../../src/domain/invoice/customer-kind.ts';
import type { Customer } from '../../../src/domain/invoice/invoice.ts';
import { InvalidDocument } from '../../../src/domain/invoice/ports.ts';
import { TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';
import { isTolerated } from '../../../src/domain/invoice/totals.ts';
import { totals } from '../../support/credits.ts';
import { sampleCreditNote, sampleInvoice, sampleLine, sampleLines } from './sample-invoice.ts';

/** The document without its namespace declarations. */
const plain = (xml: string) => xml.replace(/ xmlns(:\w+)?="[^"]*"/g, '');

describe("the writer's thread", () => {
  test('an invoice that exceeds the memory limit fails alone, with the reason', async () => {
    const writer = createInvoiceWriter();
    const ordinary = sampleInvoice();
    const huge = sampleInvoice({ lines: sampleLines(100_000) });
    const [failed, written] = await Promise.allSettled([writer.write(huge), writer.write(ordinary)]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'ERR_WORKER_OUT_OF_MEMORY' } });
    expect(written.status).toBe('fulfilled');
    expect((await writer.write(ordinary)).octets.length).toBeGreaterThan(1000);
    await writer.close();
  });

  test('the largest invoice stays within its memory limit', async () => {
    const writer = createInvoiceWriter();
    const description = '&'.repeat(500);
    const lines = sampleLines(1000).map((line) => ({ ...line, description }));
    for (let i = 0; i < 3; i++)
      expect((await writer.write(sampleInvoice({ lines }))).octets.length).toBeGreaterThan(3_000_000);
    await writer.close();
  });
});

describe('the UBL invoice', () => {
  test('states the seller, the customer and the payment means', () => {
    const xml = plain(write(sampleInvoice()).xml);
    expect(xml).toContain(
      '<cac:AccountingSupplierParty><cac:Party><cac:PartyIdentification><cbc:ID>001234567000088</cbc:ID></cac:PartyIdentification>' +
        '<cac:PartyName><cbc:Name>Atlas Conseil &amp; Fils</cbc:Name></cac:PartyName>' +
        '<cac:PostalAddress><cbc:StreetName>12, rue Ibn Batouta</cbc:StreetName><cbc:CityName>Casablanca</cbc:CityName>' +
        '<cbc:PostalZone>20000</cbc:PostalZone><cac:Country><cbc:IdentificationCode>MA</cbc:IdentificationCode></cac:Country></cac:PostalAddress>' +
        '<cac:PartyTaxScheme><cbc:CompanyID>40123456</cbc:CompanyID><cac:TaxScheme><cbc:ID>IF</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>' +
        '<cac:PartyLegalEntity><cbc:RegistrationName>Atlas Conseil &amp; Fils</cbc:RegistrationName><cbc:CompanyID>Casablanca 123456</cbc:CompanyID>' +
        '<cbc:CompanyLegalForm>SARL au capital de 100\u00A0000,00\u00A0MAD ; taxe professionnelle 34567890 ; CNSS 9876543</cbc:CompanyLegalForm></cac:PartyLegalEntity>' +
        '<cac:Contact><cbc:ElectronicMail>compta@atlas.example</cbc:ElectronicMail></cac:Contact></cac:Party></cac:AccountingSupplierParty>',
    );
    expect(xml).toContain('<cac:PartyIdentification><cbc:ID>001525713000085</cbc:ID></cac:PartyIdentification>');
    expect(xml).toContain('<cac:AddressLine><cbc:Line>5, avenue Hassan II, Rabat</cbc:Line></cac:AddressLine>');
    expect(xml).toContain('<cbc:PaymentMeansCode name="Virement bancaire">1</cbc:PaymentMeansCode>');
    expect(xml).not.toContain('schemeID');
  });

  test('states the dates, and the payment means with code, reference and account, in the right places', () => {
    const { terms } = sampleInvoice();
    const all = {
      operationDate: '2026-10-31',
      dueDate: '2027-01-20',
      paymentMode: 'Virement <à 60 jours>',
      paymentMeans: 'transfer',
      paymentReference: 'CMD & 4711',
      bankAccount: '999780000128473900001726',
    } as const;
    const xml = plain(write(sampleInvoice({ terms: all })).xml);
    expect(xml).toContain(
      '<cbc:IssueDate>2026-11-21</cbc:IssueDate><cbc:DueDate>2027-01-20</cbc:DueDate><cbc:InvoiceTypeCode>',
    );
    expect(xml).toContain(
      '</cac:AccountingCustomerParty><cac:Delivery><cbc:ActualDeliveryDate>2026-10-31</cbc:ActualDeliveryDate></cac:Delivery>' +
        '<cac:PaymentMeans><cbc:PaymentMeansCode name="Virement &lt;à 60 jours>">30</cbc:PaymentMeansCode>' +
        '<cbc:PaymentID>CMD &amp; 4711</cbc:PaymentID>' +
        '<cac:PayeeFinancialAccount><cbc:ID>999780000128473900001726</cbc:ID></cac:PayeeFinancialAccount></cac:PaymentMeans>',
    );
    const codeOf = (changes: object) =>
      /<cbc:PaymentMeansCode[^>]*>(\d+)</.exec(write(sampleInvoice({ terms: { ...terms, ...changes } })).xml)?.[1];
    expect(codeOf({ paymentMeans: 'transfer' })).toBe('42');
    expect(codeOf({ paymentMeans: 'cheque' })).toBe('20');
    expect(codeOf({ bankAccount: all.bankAccount })).toBe('1');
  });

  test('sums VAT by rate, highest first, and states the reason at 0 %', () => {
    const xml = plain(
      write(
        sampleInvoice({
          lines: [
            sampleLine({ description: 'A', quantity: 3, unitPrice: 1999, taxRate: 20 }),
            sampleLine({ description: 'B', quantity: 1, unitPrice: 501, taxRate: 0 }),
            sampleLine({ description: 'C', quantity: 1, unitPrice: 3, taxRate: 20 }),
          ],
        }),
      ).xml,
    );
    expect(xml).toContain(
      '<cac:TaxTotal><cbc:TaxAmount currencyID="MAD">12.00</cbc:TaxAmount>' +
        '<cac:TaxSubtotal><cbc:TaxableAmount currencyID="MAD">60.00</cbc:TaxableAmount><cbc:TaxAmount currencyID="MAD">12.00</cbc:TaxAmount>' +
        '<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>20</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>' +
        '<cac:TaxSubtotal><cbc:TaxableAmount currencyID="MAD">5.01</cbc:TaxableAmount><cbc:TaxAmount currencyID="MAD">0.00</cbc:TaxAmount>' +
        '<cac:TaxCategory><cbc:ID>E</cbc:ID><cbc:Percent>0</cbc:Percent><cbc:TaxExemptionReason>Exonéré de la TVA, article 91 du CGI</cbc:TaxExemptionReason>',
    );
    expect(xml).toContain('<cbc:PayableAmount currencyID="MAD">77.01</cbc:PayableAmount></cac:LegalMonetaryTotal>');
    expect(xml).toContain(
      '<cbc:Note>Arrêtée la présente facture à la somme de soixante-dix-sept dirhams et un centime.</cbc:Note>',
    );
    expect(xml).not.toContain('PayableRoundingAmount');
  });

  test('declares 0 % as zero-rated when the seller has no exemption reason', () => {
    const { seller } = sampleInvoice();
    const xml = plain(write(sampleInvoice({ seller: { ...seller, exemptionReason: null } })).xml);
    expect(xml).toContain('<cac:TaxCategory><cbc:ID>Z</cbc:ID><cbc:Percent>0</cbc:Percent><cac:TaxScheme>');
    expect(xml).not.toContain('TaxExemptionReason');
  });

  test('writes a tolerated difference as rounding', () => {
    // Twice 0.05 at 10 %: 0.11 in total, but 0.12 when VAT is rounded up on each line.
    const lines = ['A', 'B'].map((description) => sampleLine({ description, quantity: 1, unitPrice: 5, taxRate: 10 }));
    const xml = plain(write(sampleInvoice({ lines, amount: 12 })).xml);
    expect(xml).toContain(
      '<cbc:TaxInclusiveAmount currencyID="MAD">0.11</cbc:TaxInclusiveAmount>' +
        '<cbc:PayableRoundingAmount currencyID="MAD">0.01</cbc:PayableRoundingAmount><cbc:PayableAmount currencyID="MAD">0.12</cbc:PayableAmount>',
    );
    expect(xml).toContain('<cbc:Note>Arrêtée la présente facture à la somme de douze centimes.</cbc:Note>');
    expect(() => write(sampleInvoice({ lines, amount: 13 }))).toThrow(/exceeds half a centime per line/);
  });

  test('marks test documents and specimens', () => {
    expect(write(sampleInvoice()).xml).not.toMatch(/SPÉCIMEN|Document de test/);
    expect(write(sampleInvoice({ environment: 'test' })).xml).toContain('>Document de test, sans valeur');
    expect(write(sampleInvoice({ environment: 'test', specimen: true })).xml).toContain(
      '>SPÉCIMEN : le vendeur est fictif',
    );
  });

  test('states no ICE of a private person, and the country and the tax number of a customer abroad', () => {
    const buyerOf = (changes: Partial<Customer>) => {
      const customer = { ...sampleInvoice().customer, ice: null, name: 'X', address: null, ...changes };
      return /<cac:AccountingCustomerParty>(.*)<\/cac:AccountingCustomerParty>/.exec(
        plain(write(sampleInvoice({ customer })).xml),
      )?.[1];
    };
    const country = (code: string) =>
      `<cac:PostalAddress><cac:Country><cbc:IdentificationCode>${code}</cbc:IdentificationCode></cac:Country></cac:PostalAddress>`;
    const named = '<cac:PartyLegalEntity><cbc:RegistrationName>X</cbc:RegistrationName></cac:PartyLegalEntity>';
    expect(buyerOf({ kind: 'person' })).toBe(`<cac:Party>${country('MA')}${named}</cac:Party>`);
    for (const [code, taxNumber, scheme] of [
      ['FR', 'FR40303265045', 'VAT'],
      ['GR', 'EL094259216', 'VAT'],
      ['FR', 'DE129273398', 'TAX'],
      ['US', '12-3456789', 'TAX'],
    ] as const) {
      expect(buyerOf({ kind: 'foreign', country: code, taxNumber })).toBe(
        `<cac:Party>${country(code)}<cac:PartyTaxScheme><cbc:CompanyID>${taxNumber}</cbc:CompanyID>` +
          `<cac:TaxScheme><cbc:ID>${scheme}</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>${named}</cac:Party>`,
      );
    }
  });

  test('leaves out unknown details of the customer', () => {
    const customer = { ...COMPANY, ice: '001525713000085', name: 'X', address: ' ', email: null };
    const xml = plain(write(sampleInvoice({ customer })).xml);
    expect(xml).toContain(
      '</cac:PartyIdentification><cac:PostalAddress><cac:Country><cbc:IdentificationCode>MA</cbc:IdentificationCode></cac:Country></cac:PostalAddress>' +
        '<cac:PartyLegalEntity><cbc:RegistrationName>X</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:AccountingCustomerParty>',
    );
  });

  test('puts the signature extension first, as UBL requires', () => {
    const { xml, signatureAt } = write(sampleInvoice());
    expect(plain(xml.slice(0, signatureAt))).toBe(
      '<Invoice><ext:UBLExtensions><ext:UBLExtension><ext:ExtensionURI>urn:oasis:names:specification:ubl:dsig:enveloped:xades</ext:ExtensionURI>' +
        '<ext:ExtensionContent><sig:UBLDocumentSignatures><sac:SignatureInformation><cbc:ID>urn:oasis:names:specification:ubl:signature:1</cbc:ID>' +
        '<sbc:ReferencedSignatureID>urn:oasis:names:specification:ubl:signature:Invoice</sbc:ReferencedSignatureID>',
    );
  });

  test('is exact to the centime for any lines, up to the largest amounts', () => {
    const line = fc.record({
      description: fc.constant('x'),
      quantity: fc.oneof(fc.integer({ min: 1, max: 9999 }), fc.constant(1_000_000)),
      unitPrice: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 700_000_000 })),
      taxRate: fc.constantFrom(...TAX_RATES),
    });
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: -5, max: 5 }),
        (lines, difference) => {
          const exact = sampleInvoice({ lines: lines.map(sampleLine) });
          const amount = exact.amount + difference;
          fc.pre(amount > 0 && isTolerated(amount, totals(exact.lines), lines));
          expect(write({ ...exact, amount }).xml).toContain('</Invoice>');
        },
      ),
    );
  });
});

describe('the check before signing', () => {
  const good = write(
    sampleInvoice({
      terms: {
        operationDate: '2026-10-31',
        dueDate: '2027-01-20',
        paymentMode: 'Virement bancaire',
        paymentMeans: 'transfer',
        paymentReference: 'CMD 4711',
        bankAccount: '999780000128473900001726',
      },
    }),
  ).xml;

  test('accepts what the writer writes', () => {
    expect(brokenRule(good)).toBeNull();
  });

  test.each([
    ['a wrong figure of a line', />123\.45(?=<\/cbc:LineExtensionAmount><cac:Item)/, '>123.46', /the amount of line 1/],
    ['wrong VAT of a rate', />24\.69</, '>24.70<', /the VAT at S 20 %/],
    ['wrong VAT of the invoice', />132\.59</, '>132.58<', /the VAT of the invoice/],
    [
      'another rate of a line',
      /<cbc:Percent[^>]*>14(?=(?:(?!<cbc:Percent).)*<\/cac:InvoiceLine>)/,
      '<cbc:Percent>20',
      /S 14|S 20/,
    ],
    ['another amount in words', /deux mille/, 'trois mille', /in words/],
    ['another currency', /currencyID="MAD">123\.45/, 'currencyID="EUR">123.45', /not in MAD/],
    ['a wrong category', />S</, '>Z<', /does not match the rate/],
    ['a third decimal', />123\.45</, '>123.450<', /two decimals/],
    ['a short ICE', />001525713000085</, '>1525713000085<', /not 15 digits/],
    ['a missing element', /<cac:PaymentMeans.*<\/cac:PaymentMeans>/, '', /cac:PaymentMeans occurs 0 times/],
    ['a due date before the invoice', />2027-01-20</, '>2026-11-20<', /due date/],
    ['a due date that does not exist', />2027-01-20</, '>2027-02-29<', /due date/],
    ['a date of the operation that does not exist', />2026-10-31</, '>2026-10-32<', /date of the operation/],
    [
      'an unknown payment means code',
      />30<\/cbc:PaymentMeansCode>/,
      '>31</cbc:PaymentMeansCode>',
      /31 is not a payment/,
    ],
    [
      'a transfer without an account',
      /<cac:PayeeFinancialAccount.*<\/cac:PayeeFinancialAccount>/,
      '',
      /has no account/,
    ],
    ['an account with a wrong check key', />999780000128473900001726</, '>999780000128473900001723<', /not a RIB/],
    ['an account of another length', />999780000128473900001726</, '>99978000012847390000172<', /not a RIB/],
    [
      'elements of the payment means in the wrong order',
      /(<cbc:PaymentID.*<\/cbc:PaymentID>)(<cac:Payee.*Account>)(?=<\/cac:PaymentMeans>)/,
      '$2$1',
      /not in the right order/,
    ],
    [
      'a delivery before the customer',
      /(<cac:AccountingCustomerParty.*CustomerParty>)(<cac:Delivery.*Delivery>)/,
      '$2$1',
      /at its position/,
    ],
    ['an element twice', /(<cbc:UUID.*<\/cbc:UUID>)/, '$1$1', /cbc:UUID occurs 2 times/],
    ['an empty element', />2\.1</, '><', /UBLVersionID is empty/],
    ['tags that do not match', /<\/cac:Price>/, '</cac:Item>', /not a well-formed/],
    ['mixed content', /<\/cac:Price>/, '</cac:Price>x', /not a well-formed/],
    ['a missing end tag', /<\/Invoice>/, '', /not a well-formed/],
  ])('notices %s', (_what, find, replace, rule) => {
    const broken = good.replace(find, replace);
    expect(broken).not.toBe(good);
    expect(brokenRule(broken)).toMatch(rule);
  });

  test.each([
    ['which the breakdown lacks', /(<cbc:TaxExemptionReason[^>]*>)[^<]*/, '$1Article 92 du CGI', /lacks the exemption/],
    ['of a line with VAT', /(<cac:InvoiceLine[^>]*><cbc:ID[^>]*>1<\/cbc:ID>)/, '$1<cbc:Note>x</cbc:Note>', /not fit/],
  ])('notices an exemption %s', (_what, find, replace, rule) => {
    const [taxed] = sampleLines(1);
    const exempt = sampleLine({ ...taxed!, taxRate: 0, exemption: { code: 'export' } });
    const { xml } = write(sampleInvoice({ lines: [taxed!, exempt] }));
    expect(brokenRule(xml)).toBeNull();
    const broken = xml.replace(find, replace);
    expect(broken).not.toBe(xml);
    expect(brokenRule(broken)).toMatch(rule);
  });

  test('refuses totals that do not match the lines', () => {
    const invoice = sampleInvoice();
    const { totals } = invoice;
    expect(() => write({ ...invoice, totals: { ...totals, tax: totals.tax + 1, gross: totals.gross + 1 } })).toThrow(
      InvalidDocument,
    );
    expect(() => write({ ...invoice, totals: { ...totals, rates: totals.rates.slice(1) } })).toThrow(InvalidDocument);
    expect(() =>
      write({ ...invoice, lines: invoice.lines.map((line) => ({ ...line, amount: line.amount + 1 })) }),
    ).toThrow(InvalidDocument);
    expect(() => write({ ...invoice, lines: [] })).toThrow(InvalidDocument);
  });
});

describe('a credit note', () => {
  const note = sampleCreditNote({ credit: { ...sampleCreditNote().credit!, note: '3 <pièces>' } });
  const { xml } = write(note);
  const fault = (document: string) => faultOf(Buffer.from(document), note.customer.ice)?.code ?? null;

  test('names its invoice with number, id and date, says why, and asks for no payment', () => {
    expect(plain(xml)).toContain(
      '<cac:BillingReference><cac:InvoiceDocumentReference><cbc:ID>2026-000123</cbc:ID><cbc:UUID>550e8400-e29b-41d4-a716-446655440000</cbc:UUID><cbc:IssueDate>2026-11-02</cbc:IssueDate>',
    );
    expect(plain(xml)).toContain('<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>');
    expect(plain(xml)).toContain('<cbc:Note>Motif de l’avoir : Retour de marchandises – 3 &lt;pièces&gt;</cbc:Note>');
    expect(plain(xml)).toContain('<cbc:Note>Arrêté le présent avoir à la somme de ');
    expect(plain(write({ ...note, terms: { ...note.terms, dueDate: '2027-01-20' } }).xml)).not.toContain('DueDate');
    expect(brokenRule(xml)).toBeNull();
    expect(fault(xml)).toBeNull();
  });

  test.each([
    ['no invoice', /<cac:BillingReference.*<\/cac:BillingReference>/, '', /BillingReference/, 'element_missing'],
    ['an empty number', />2026-000123</, '> <', /is empty/, 'original_missing'],
    ['an invoice of a later day', />2026-11-02</, '>2026-11-22<', /date of the invoice/, 'original_date_invalid'],
    [
      'VAT that is a dirham off',
      />24\.69(?=<\/cbc:TaxAmount><cac:TaxCategory)/,
      '>25.69',
      /VAT at S 20/,
      'amount_wrong',
    ],
    [
      'rounding beyond that of an invoice of 1,000 lines',
      /(<cbc:TaxInclusiveAmount[^>]*>)([\d.]+)(<[^>]*>)<cbc:PayableAmount ([^>]*)>[^<]*/,
      (_: string, open: string, gross: string, close: string, currency: string) =>
        `${open}${gross}${close}<cbc:PayableRoundingAmount ${currency}>5.01</cbc:PayableRoundingAmount>` +
        `<cbc:PayableAmount ${currency}>${(Number(gross) + 5.01).toFixed(2)}`,
      /rounding of 5\.01/i,
      'rounding_too_large',
    ],
    ['a type of invoices', />381</, '>380<', /type code/, null],
    ['a line of invoices', /CreditNoteLine/g, 'InvoiceLine', /at the wrong position|occurs 0 times/, 'lines_missing'],
  ])('with %s is noticed by us and by the authority', (_what, find, replace, rule, code) => {
    const broken = xml.replace(find, replace as string);
    expect(broken).not.toBe(xml);
    expect(brokenRule(broken)).toMatch(rule);
    if (code !== null) expect(fault(broken)).toBe(code);
  });

  test('may state VAT and an amount that differ by rounding, and an invoice may not', () => {
    const [first, ...rest] = note.totals.rates;
    const rates = [{ ...first!, tax: first!.tax + 1 }, ...rest];
    const { tax, gross } = note.totals;
    const changes = { totals: { ...note.totals, rates, tax: tax + 1, gross: gross + 1 }, amount: gross - 3 };
    expect(fault(write({ ...note, ...changes }).xml)).toBeNull();
    expect(() => write({ ...sampleInvoice(), ...changes })).toThrow(InvalidDocument);
  });
});
