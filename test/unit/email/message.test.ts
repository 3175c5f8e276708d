import { describe, expect, it } from 'vitest';
import { composeInvitation } from '../../../src/adapters/email/account-mail.ts';
import { composeMessage } from '../../../src/adapters/email/message.ts';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import { invoiceMail } from '../../support/mail.ts';
import { parts, shown, split } from './mime.ts';

const FROM = 'factures@example.net';
const TO = 'client@example.com';

const compose = async (mail = invoiceMail()) => (await composeMessage(mail, FROM, TO)).toString('latin1');

it('contains the text, the HTML and both documents byte for byte', async () => {
  const mail = invoiceMail();
  const message = await compose(mail);
  const { headers } = split(message);
  expect(headers).toMatchObject({
    to: TO,
    'message-id': mail.messageId,
    date: 'Sat, 21 Nov 2026 10:00:00 +0000',
    'auto-submitted': 'auto-generated',
    'x-invoice-id': mail.invoice.id,
  });
  const [text, page, pdf, xml, ...others] = parts(message);
  expect(others).toEqual([]);
  expect(text?.headers['content-type']).toMatch(/^text\/plain; charset=utf-8/);
  expect(page?.headers['content-type']).toMatch(/^text\/html; charset=utf-8/);
  for (const each of [text, page]) {
    expect(each?.body.toString()).toContain('2026-000123');
    expect(each?.body.toString()).toContain('120,00');
    expect(each?.body.toString()).toContain('DGI-1');
    expect(each?.body.toString()).toContain(mail.verifyUrl);
  }
  expect(pdf?.headers).toMatchObject({
    'content-type': 'application/pdf; name=facture-2026-000123.pdf',
    'content-disposition': 'attachment; filename=facture-2026-000123.pdf',
  });
  expect(pdf?.body.equals(Buffer.from(mail.pdf))).toBe(true);
  expect(xml?.headers['content-type']).toMatch(/^application\/xml/);
  expect(xml?.body.equals(Buffer.from(mail.xml))).toBe(true);
});

it('states the total, what the buyer withholds and what it pays, if it withholds something', async () => {
  const { invoice } = invoiceMail();
  const withholding = { percent: 75, certificate: null };
  const bodies = parts(await compose(invoiceMail({ invoice: { ...invoice, withholding } }))).slice(0, 2);
  for (const body of bodies.map((part) => part.body.toString().replaceAll(/<[^>]*>/g, ''))) {
    expect(body.replaceAll('\u00a0', ' ')).toMatch(
      /Total TTC\s*(?:: )?120,00 MAD\s*TVA retenue à la source \(75 %\)\s*(?:: )?−15,00 MAD\s*Net à payer\s*(?:: )?105,00 MAD/,
    );
  }
  const [text] = parts(await compose());
  expect(text?.body.toString()).not.toMatch(/retenue|TTC/);
});

it.each([
  ['fr', '[TEST] Facture d’acompte 2026-000123 de ', 'Facture d’acompte : 2026-000123'],
  ['ar', '[اختبار] فاتورة تسبيق \u20682026-000123\u2069 من ', 'فاتورة تسبيق: \u20682026-000123\u2069'],
  ['en', '[TEST] Deposit invoice 2026-000123 from ', 'Deposit invoice: 2026-000123'],
] as const)('calls a deposit invoice one in %s, as its PDF does', async (documentLanguage, subject, fact) => {
  const { invoice } = invoiceMail();
  const seller = { ...invoice.seller, documentLanguage };
  const message = await compose(invoiceMail({ invoice: { ...invoice, isDeposit: true, seller } }));
  expect(shown(split(message).headers.subject)).toContain(subject);
  const [text, page] = parts(message);
  expect(text?.body.toString()).toContain(fact);
  const { title } = labelsOf('invoice', documentLanguage, true);
  expect(page?.body.toString()).toContain(`<title>${title} 2026-000123</title>`);
});

it('has the same bytes each time', async () => {
  expect(await compose()).toBe(await compose());
});

it('states due date, bank account and reference, as far as they are known', async () => {
  const { invoice } = invoiceMail();
  const terms = { ...invoice.terms, dueDate: '2027-01-20', bankAccount: '999780000128473900001726' };
  const hostile = { ...terms, paymentReference: 'CMD 4711\r\nBcc: x\u202e' };
  const bodies = parts(await compose(invoiceMail({ invoice: { ...invoice, terms: hostile } }))).slice(0, 2);
  for (const body of bodies.map((part) => part.body.toString().replaceAll(/<[^>]*>/g, ''))) {
    expect(body).toMatch(/Date d’échéance\s*(?:: )?20 janvier 2027/);
    expect(body).toMatch(/RIB\s*(?:: )?999 780 0001284739000017 26/);
    expect(body).toMatch(/Référence à rappeler\s*(?:: )?CMD 4711 Bcc: x(?:\n|Identifiant)/);
  }
  const [text] = parts(await compose());
  expect(text?.body.toString()).not.toMatch(/échéance|RIB|rappeler/);
});

describe('a test invoice', () => {
  it('is marked in the subject and at the start of the body', async () => {
    const message = await compose();
    expect(shown(split(message).headers.subject)).toMatch(/^\[TEST\] Facture 2026-000123 de /);
    const [text, page] = parts(message);
    expect(text?.body.toString()).toMatch(/^\*\*\* Message de test/);
    expect(page?.body.toString()).toContain('Message de test');
    expect(message).not.toContain('Direction');
  });

  it('a live invoice has no mark', async () => {
    const { invoice } = invoiceMail();
    const message = await compose(invoiceMail({ invoice: { ...invoice, environment: 'live' } }));
    expect(message).not.toMatch(/test/i);
  });
});

it.each(DOCUMENT_LANGUAGES)('in %s: all texts are in that language and direction', async (language) => {
  const { invoice } = invoiceMail();
  const seller = { ...invoice.seller, documentLanguage: language };
  const [text, page] = parts(await compose(invoiceMail({ invoice: { ...invoice, seller } })));
  const words = { fr: 'Bonjour', ar: 'تحية', en: 'Hello' };
  for (const [other, word] of Object.entries(words)) {
    expect(text?.body.toString().includes(word)).toBe(other === language);
    expect(page?.body.toString().includes(word)).toBe(other === language);
  }
  expect(page?.body.toString()).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
});

it('isolates numbers in Arabic texts, which would otherwise be displayed as 000123-2026', async () => {
  const { invoice } = invoiceMail();
  const terms = { ...invoice.terms, bankAccount: '999780000128473900001726', paymentReference: '2026-000123' };
  const seller = { ...invoice.seller, documentLanguage: 'ar' as const };
  const message = await compose(invoiceMail({ invoice: { ...invoice, seller, terms } }));
  expect(shown(split(message).headers.subject)).toContain('فاتورة \u20682026-000123\u2069 من');
  const lines = parts(message)[0]!.body.toString().split('\n');
  expect(lines).toContain('الفاتورة: \u20682026-000123\u2069');
  expect(lines).toContain('مرجع الأداء: \u20682026-000123\u2069');
});

it('lets no text be an encoded word that readers decode', async () => {
  const { invoice } = invoiceMail();
  const legalName = '=?utf-8?B?4oCuZXZpbOKArA==?= =?utf-8?Q?=0D=0ABcc:_x@example.org?= \u061cSARL';
  const seller = { ...invoice.seller, legalName, email: 'ventes@example.ma' };
  const live = { ...invoice, specimen: false, environment: 'live' as const, seller };
  const { headers } = split(await compose(invoiceMail({ invoice: live })));
  const invitation = await composeInvitation({ url: 'https://x.example', tenantName: legalName, to: TO }, FROM, TO);
  const subject = split(invitation.toString('latin1')).headers.subject;
  for (const field of [headers.from, headers['reply-to'], headers.subject, subject]) {
    expect(field).toContain('= ?utf-8?B?');
    expect(field).not.toContain('=?');
    expect(field).toContain('SARL');
  }
});

it('escapes hostile texts: they inject no header, markup or text direction', async () => {
  const { invoice } = invoiceMail();
  const legalName = 'Evil"\r\nBcc: x@example.org\r\n\r\n<script>alert(1)</script>\u202e <b>é</b>, y@example.org';
  const seller = { ...invoice.seller, legalName };
  const message = await compose(
    invoiceMail({ invoice: { ...invoice, seller, specimen: false }, dgiId: '<img src=x>\r\nBcc: z@example.org' }),
  );
  const { headers } = split(message);
  expect(Object.keys(headers)).not.toContain('bcc');
  expect(headers.to).toBe(TO);
  expect(shown(headers.from)).toMatch(/<factures@example\.net>$/);
  expect(shown(headers.from).match(/<[^<>@\s]+@[^<>\s]+>/g)).toHaveLength(1);
  const all = parts(message);
  expect(all).toHaveLength(4);
  expect(all[1]?.body.toString()).not.toMatch(/<script|<b>|<img/);
  expect(shown(headers.subject)).not.toContain('\u202e');
});

it('replies go to the seller, unless it is a specimen', async () => {
  const { invoice } = invoiceMail();
  expect(split(await compose()).headers['reply-to']).toBeUndefined();
  const message = await compose(invoiceMail({ invoice: { ...invoice, specimen: false } }));
  expect(split(message).headers['reply-to']).toContain(invoice.seller.email);
});

it('shows the name of a tenant in an invitation on one line, without controls of text direction', async () => {
  const tenantName = 'Atlas\u202e\r\nhttps://evil.example';
  const mail = await composeInvitation({ url: 'https://x.example', tenantName, to: TO }, FROM, TO);
  const [body] = parts(mail.toString('latin1'));
  expect(body?.body.toString()).toContain('les factures de Atlas https://evil.example dans Fatoura');
  expect(body?.body.toString()).toContain('the invoices of Atlas https://evil.example in Fatoura');
});
