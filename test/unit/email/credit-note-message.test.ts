import { expect, it } from 'vitest';
import { composeMessage } from '../../../src/adapters/email/message.ts';
import type { InvoiceMail } from '../../../src/domain/invoice/email.ts';
import { creditNoteMail } from '../../support/mail.ts';
import { parts, shown, split } from './mime.ts';

const compose = async (mail: InvoiceMail) =>
  (await composeMessage(mail, 'factures@example.net', 'client@example.com')).toString('latin1');

it.each([
  [
    'fr',
    '[TEST] Avoir AV-2026-000001 sur la facture 2026-000123 de ',
    ['en votre faveur', 'l’avoir signé', 'Vérifier l’avoir', 'cet avoir n’a aucune valeur'],
    [
      'Avoir : AV-2026-000001',
      'Facture d’origine : 2026-000123 (21 novembre 2026)',
      'Motif de l’avoir : Retour de marchandises – Deux manuels abîmés',
      'Montant en votre faveur : 120,00 MAD',
    ],
    /[Ff]acture(?! d’origine)/,
  ],
  [
    'ar',
    '[اختبار] إشعار دائن \u2068AV-2026-000001\u2069 عن الفاتورة \u20682026-000123\u2069 من ',
    ['لفائدتكم', 'الإشعار الدائن الموقع', 'التحقق من الإشعار الدائن', 'ليست لهذا الإشعار الدائن'],
    [
      'الإشعار الدائن: \u2068AV-2026-000001\u2069',
      'الفاتورة الأصلية: \u2068\u20682026-000123\u2069 (21 نونبر 2026)\u2069',
      'سبب الإشعار: \u2068إرجاع البضائع – \u2068Deux manuels abîmés\u2069\u2069',
      'المبلغ المستحق لفائدتكم: \u2068120,00 MAD\u2069',
    ],
    /فاتور(?!ة الأصلية)/,
  ],
  [
    'en',
    '[TEST] Credit note AV-2026-000001 for invoice 2026-000123 from ',
    ['in your favour', 'the signed credit note', 'Verify the credit note', 'this credit note has no'],
    [
      'Credit note: AV-2026-000001',
      'Original invoice: 2026-000123 (21 November 2026)',
      'Reason for the credit: Return of goods – Deux manuels abîmés',
      'Amount in your favour: 120.00 MAD',
    ],
    /(?<!Original )[Ii]nvoice/,
  ],
] as const)(
  'a credit note in %s names its invoice and the amount in the customer’s favour, and asks for no payment',
  async (documentLanguage, subject, phrases, facts, invoiceWord) => {
    const { invoice } = creditNoteMail();
    const mail = { ...creditNoteMail(), invoice: { ...invoice, seller: { ...invoice.seller, documentLanguage } } };
    const message = await compose(mail);
    expect(shown(split(message).headers.subject)).toContain(subject);
    const [text, page, pdf, xml] = parts(message);
    const plain = text!.body.toString().replaceAll('\u00a0', ' ');
    const shownPage = page!.body
      .toString()
      .replaceAll('\u00a0', ' ')
      .replaceAll(/<[^>]*>/g, '\n');
    for (const body of [plain, shownPage]) {
      for (const phrase of phrases) expect(body).toContain(phrase);
      expect(body).not.toMatch(invoiceWord);
      expect(body).not.toMatch(/RIB|999 780|CMD 4711|échéance|الاستحقاق|Due date|undefined/);
    }
    expect(plain.split('\n')).toEqual(expect.arrayContaining([...facts]));
    const [title] = facts;
    expect(page!.body.toString()).toMatch(new RegExp(`<title>${title.split(':')[0]!.trim()} AV-2026-000001</title>`));
    expect(pdf?.headers['content-disposition']).toBe('attachment; filename=avoir-AV-2026-000001.pdf');
    expect(xml?.headers['content-disposition']).toBe('attachment; filename=avoir-AV-2026-000001.xml');
  },
);

it('a live credit note has no mark', async () => {
  expect(await compose(creditNoteMail({ environment: 'live' }))).not.toMatch(/test/i);
});

it('hostile texts of a credit note inject no header, line or markup', async () => {
  const { invoice } = creditNoteMail();
  const evil = '=?utf-8?Q?x?=\r\nBcc: x@example.org\r\n<b>\u202e';
  const credit = { ...invoice.credit!, note: evil, original: { ...invoice.credit!.original, number: evil } };
  const message = await compose({ ...creditNoteMail(), invoice: { ...invoice, credit } });
  const { headers } = split(message);
  expect(Object.keys(headers)).not.toContain('bcc');
  expect(shown(headers.subject)).toContain('= ?utf-8?Q?x?= Bcc: x@example.org <b> de');
  const [text, page] = parts(message);
  expect(text!.body.toString()).not.toMatch(/^Bcc|\u202e/m);
  expect(page!.body.toString()).not.toContain('<b>');
});
