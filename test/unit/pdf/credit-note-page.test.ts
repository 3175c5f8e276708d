import { expect, test } from 'vitest';
import { documentTexts, invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import { CREDIT, creditNote } from './credit-note.ts';
import { SELLER } from './support.ts';
import { wordsOf } from './words.ts';

test.each([
  [
    'fr',
    /Facture|facture/,
    'Avoir AV-2026-000001',
    'Avoir électronique accepté par la Direction générale des impôts Identifiant DGI DGI-2026-9b21ce04 Accepté le',
    'Facture d’origine N° 2026-000123 Date d’émission 21 novembre 2026 Identifiant DGI DGI-2026-7f3a91c0 ' +
      'Motif de l’avoir Retour de marchandises Deux manuels abîmés',
    'Montants crédités par taux de TVA',
    'Montant en votre faveur 2 046,00 MAD',
    'Arrêté le présent avoir à la somme de : deux mille quarante-six dirhams',
  ],
  [
    'ar',
    /فاتورة/,
    'إشعار دائن \u2068AV-2026-000001\u2069',
    'إشعار دائن إلكتروني مقبول من طرف المديرية العامة للضرائب معرف المديرية العامة للضرائب DGI-2026-9b21ce04 قبل في',
    'الفاتورة الأصلية رقم 2026-000123 تاريخ الإصدار 21 نونبر 2026 معرف المديرية العامة للضرائب DGI-2026-7f3a91c0 ' +
      'سبب الإشعار إرجاع البضائع Deux manuels abîmés',
    'المبالغ المقيدة لفائدتكم حسب سعر الضريبة',
    'المبلغ المستحق لفائدتكم 2 046,00 MAD',
    'حصر هذا الإشعار الدائن في مبلغ: ألفان وستة وأربعون درهماً',
  ],
  [
    'en',
    /[Ii]nvoice/,
    'Credit note AV-2026-000001',
    'Electronic credit note accepted by the Moroccan tax authority (Direction générale des impôts) ' +
      'DGI identifier DGI-2026-9b21ce04 Accepted on',
    'Original invoice No. 2026-000123 Issue date 21 November 2026 DGI identifier DGI-2026-7f3a91c0 ' +
      'Reason for the credit Return of goods Deux manuels abîmés',
    'Amounts credited by VAT rate',
    'Amount in your favour 2,046.00 MAD',
    'Amount credited, in words: two thousand and forty-six dirhams',
  ],
] as const)(
  'a credit note names itself, its invoice, the reason and the amount in the customer’s favour in %s',
  async (documentLanguage, invoice, title, accepted, correction, ...others) => {
    const page = creditNote({ seller: { ...SELLER, documentLanguage } });
    const words = await wordsOf(page);
    for (const text of [accepted, correction, ...others]) expect(words).toContain(text);
    expect(words).not.toContain(labelsOf('invoice', documentLanguage).payable);
    // Only the credited invoice is called an invoice.
    expect(words.replace(correction, '')).not.toMatch(invoice);
    const { title: told, xml } = documentTexts(page);
    expect(told).toContain(`${title} – `);
    expect(xml).toMatchObject({ name: 'avoir-AV-2026-000001.xml', description: expect.not.stringMatching(invoice) });
    expect(await invoicePage(page)).not.toMatch(/undefined|\[object/);
    const test = await wordsOf({ ...page, invoice: { ...page.invoice, environment: 'test' } });
    expect(test).toContain(labelsOf('credit_note', documentLanguage).acceptedInTest);
    expect(test.replace(correction, '')).not.toMatch(invoice);
  },
);

test('a credit note does not ask the customer to pay', async () => {
  for (const documentLanguage of DOCUMENT_LANGUAGES) {
    const { dueDate, paymentMode, paymentReference, bankAccount } = labelsOf('credit_note', documentLanguage);
    const words = await wordsOf(creditNote({ seller: { ...SELLER, documentLanguage } }));
    for (const text of [dueDate, paymentMode, paymentReference, bankAccount, 'Virement bancaire']) {
      expect(words).not.toContain(text);
    }
  }
});

test('a credit note leaves out what is not known of its invoice and reason', async () => {
  const credit = { ...CREDIT, original: { ...CREDIT.original, dgiId: null }, note: null };
  expect(await wordsOf(creditNote({ credit }))).toContain(
    'N° 2026-000123 Date d’émission 21 novembre 2026 Motif de l’avoir Retour de marchandises N° Désignation',
  );
});

test('hostile texts of a credit note stay texts', async () => {
  const evil = `"'><img src=http://evil.example/x onerror=alert(1)></style><script>1</script>`;
  const credit = { ...CREDIT, original: { ...CREDIT.original, number: evil, dgiId: evil }, note: evil };
  const words = await wordsOf(creditNote({ credit }));
  expect(words.split(evil)).toHaveLength(4);
  expect(await invoicePage(creditNote({ credit }))).not.toMatch(/<(?:img|script|a)\b/i);
});
