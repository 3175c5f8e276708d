import MailComposer from 'nodemailer/lib/mail-composer';
import { spacedBankAccount } from '../../domain/bank-account.ts';
import type { DocumentLanguage } from '../../domain/document-language.ts';
import { isAsciiAddress, mailAddress } from '../../domain/email-address.ts';
import type { InvoiceMail } from '../../domain/invoice/email.ts';
import { documentFileName } from '../../domain/invoice/legal-invoice.ts';
import { statedWithholding } from '../../domain/invoice/withholding.ts';
import { netToPay } from '../../domain/net-to-pay.ts';
import { CREDIT_LABELS } from '../../text/credit-labels.ts';
import { CREDIT_REASON_TEXTS } from '../../text/credit-reasons.ts';
import { directionOf, FORMATS } from '../../text/document-format.ts';
import { html, type Markup } from '../../text/markup.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { headerText, oneLine } from './header-text.ts';
import { mailTexts } from './texts.ts';

/**
 * Composes the mail (RFC 5322, MIME): text and HTML, with the PDF and the XML attached. Equal input gives equal bytes,
 * MIME boundaries included. A non-ASCII Reply-To address is left out unless the receiver's address is non-ASCII too,
 * because a mail server without SMTPUTF8 would refuse the mail.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
export async function composeMessage(mail: InvoiceMail, from: string, to: string): Promise<Buffer> {
  const { invoice } = mail;
  const language = invoice.seller.documentLanguage;
  const format = FORMATS[language];
  const texts = textsOf(invoice);
  const seller = headerText(invoice.seller.legalName);
  const original = headerText(invoice.credit?.original.number ?? '');
  const replyTo = mailAddress(invoice.seller.email);
  const marked = invoice.environment === 'test';
  const facts: Fact[] = [
    [texts.title, invoice.number],
    [texts.date, format.longDate(invoice.issueDate)],
    ...correctionFacts(mail),
    ...withheldFacts(mail),
    [texts.payable, format.money(netToPay(invoice), invoice.currency)],
    ...paymentFacts(mail),
    [texts.dgiId, oneLine(mail.dgiId)],
  ];
  const composer = new MailComposer({
    from: { name: seller, address: from },
    to: { name: '', address: to },
    // No Reply-To for the specimen seller, whose address belongs to nobody.
    ...(!invoice.specimen &&
      replyTo !== null &&
      (isAsciiAddress(replyTo) || !isAsciiAddress(to)) && { replyTo: { name: seller, address: replyTo } }),
    subject: `${marked ? `[${texts.test}] ` : ''}${texts.subject(invoice.number, seller, original)}`,
    date: mail.date,
    messageId: mail.messageId,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Invoice-Id': invoice.id },
    text: plainText(mail, facts, seller),
    html: page(mail, facts, seller).text,
    attachments: [
      attachment(documentFileName(invoice.kind, invoice.number, 'pdf'), 'application/pdf', mail.pdf),
      attachment(documentFileName(invoice.kind, invoice.number, 'xml'), 'application/xml', mail.xml),
    ],
    baseBoundary: invoice.id,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

type Fact = readonly [label: string, value: string];

/** Returns the total and the VAT that the buyer withholds; nothing if the buyer pays the total. */
function withheldFacts({ invoice }: InvoiceMail): Fact[] {
  const stated = statedWithholding(invoice);
  if (stated === null) return [];
  const { documentLanguage } = invoice.seller;
  const [labels, format] = [WITHHOLDING_LABELS[documentLanguage], FORMATS[documentLanguage]];
  return [
    [labels.total, format.money(invoice.amount, invoice.currency)],
    [`${labels.withheld} (${format.percent(stated.percent)})`, format.money(-stated.amount, invoice.currency)],
  ];
}

/** Returns due date, bank account and payment reference, as far as the invoice has them. */
function paymentFacts({ invoice }: InvoiceMail): Fact[] {
  const { seller, terms } = invoice;
  const texts = textsOf(invoice);
  const { dueDate, bankAccount, paymentReference } = terms;
  return [
    ...(dueDate === null ? [] : [[texts.dueDate, FORMATS[seller.documentLanguage].longDate(dueDate)] as const]),
    ...(bankAccount === null ? [] : [[texts.bankAccount, spacedBankAccount(bankAccount)] as const]),
    ...(bankAccount === null || paymentReference === null
      ? []
      : [[texts.paymentReference, oneLine(paymentReference)] as const]),
  ];
}

/** Names the invoice that a credit note corrects, with the reason, or that an invoice replaces. */
function correctionFacts({ invoice: { credit, replaces, seller } }: InvoiceMail): Fact[] {
  const corrected = credit?.original ?? replaces;
  if (!corrected) return [];
  const language = seller.documentLanguage;
  const labels = CREDIT_LABELS[language];
  const named = `${isolate(oneLine(corrected.number), language)} (${FORMATS[language].longDate(corrected.issueDate)})`;
  if (!credit) return [[labels.replaced, named]];
  const { reason, note } = credit;
  const words = CREDIT_REASON_TEXTS[reason][language];
  return [
    [labels.original, named],
    [labels.reason, note === null ? words : `${words} – ${isolate(oneLine(note), language)}`],
  ];
}

function textsOf({ kind, isDeposit, seller }: InvoiceMail['invoice']) {
  return mailTexts(kind, seller.documentLanguage, isDeposit);
}

/** Isolates a text in Arabic. Otherwise 2026-000123 after Arabic letters is displayed as 000123-2026. */
function isolate(text: string, language: DocumentLanguage): string {
  return directionOf(language) === 'rtl' ? `\u2068${text}\u2069` : text;
}

function introOf({ invoice }: InvoiceMail): string {
  const texts = textsOf(invoice);
  return invoice.environment === 'test' ? texts.introOfTest : texts.intro;
}

function attachment(filename: string, contentType: string, bytes: Uint8Array) {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { filename, contentType, content, contentTransferEncoding: 'base64' };
}

function plainText(mail: InvoiceMail, facts: readonly Fact[], seller: string): string {
  const language = mail.invoice.seller.documentLanguage;
  const texts = textsOf(mail.invoice);
  return [
    ...(mail.invoice.environment === 'test' ? [`*** ${texts.testNotice} ***`, ''] : []),
    texts.greeting,
    '',
    introOf(mail),
    '',
    ...facts.map(([label, value]) => `${label}${texts.colon}${isolate(value, language)}`),
    '',
    texts.attached,
    '',
    `${texts.verify}${texts.colon}${mail.verifyUrl}`,
    '',
    seller,
    '',
    '-- ',
    texts.automatic(seller),
    '',
  ].join('\n');
}

// Mail programs support style sheets poorly: the layout uses tables and a style attribute on each element.
const FONT = 'font-family:Arial,Helvetica,sans-serif';

function page(mail: InvoiceMail, facts: readonly Fact[], seller: string): Markup {
  const { invoice, verifyUrl } = mail;
  const language = invoice.seller.documentLanguage;
  const texts = textsOf(mail.invoice);
  const direction = directionOf(language);
  const notice =
    invoice.environment === 'test'
      ? html`<tr><td style="padding:12px 32px;background:#fff4d6;color:#6b4b00;font-size:14px">${texts.testNotice}</td></tr>`
      : null;
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${texts.title} ${invoice.number}</title></head>
<body style="margin:0;background:#f2f4f3">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" dir="${direction}" style="background:#f2f4f3"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:8px;${FONT};color:#1d2b26;font-size:15px;line-height:1.5">
${notice}
<tr><td style="padding:28px 32px 0;font-size:18px;font-weight:bold"><bdi>${seller}</bdi></td></tr>
<tr><td style="padding:20px 32px 0">${texts.greeting}<br><br>${introOf(mail)}</td></tr>
<tr><td style="padding:20px 32px 0"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="${FONT};font-size:15px">
${facts.map(
  ([label, value]) => html`<tr><td style="padding:8px 0;border-top:1px solid #e3e8e6;color:#5b6b65">${label}</td>
<td align="${direction === 'rtl' ? 'left' : 'right'}" style="padding:8px 0;border-top:1px solid #e3e8e6;font-weight:bold"><bdi>${value}</bdi></td></tr>`,
)}
</table></td></tr>
<tr><td style="padding:24px 32px 0"><a href="${verifyUrl}" style="display:inline-block;padding:11px 20px;border-radius:6px;background:#0b6b4f;color:#ffffff;text-decoration:none;font-weight:bold">${texts.verify}</a></td></tr>
<tr><td style="padding:24px 32px 28px">${texts.attached}</td></tr>
<tr><td style="padding:16px 32px;border-top:1px solid #e3e8e6;color:#5b6b65;font-size:13px">${texts.automatic(seller)}</td></tr>
</table></td></tr></table>
</body>
</html>
`;
}
