import QRCode from 'qrcode';
import { documentFileName } from '../../domain/invoice/legal-invoice.ts';
import { statedDiscountOf } from '../../domain/invoice/line-amounts.ts';
import type { DrawnDraft, LegalInvoice, LegalLine, PrintedInvoice } from '../../domain/invoice/ports.ts';
import { UNITS } from '../../domain/invoice/units.ts';
import { exemptionText } from '../../domain/morocco/exemptions.ts';
import { amountInWords } from '../../text/amount-in-words.ts';
import { FORMATS, NO_BREAK_SPACE } from '../../text/document-format.ts';
import { escapeHtml, html, Markup } from '../../text/markup.ts';
import { adjustmentRows } from './adjustment-rows.ts';
import { depositTable, saleTotals } from './deposit-parts.ts';
import { drawable } from './drawable-text.ts';
import { fontFaces } from './fonts.ts';
import { labelsOf } from './labels.ts';
import { correction, head, parties } from './page-head.ts';
import { inPlainText, pageMargins } from './page-margins.ts';
import { exemption, foreignValue } from './page-notes.ts';
import { columnHead, figure, name, type Texts } from './page-parts.ts';
import { pageStyle } from './page-style.ts';
import { stampDutyRow } from './stamp-duty-row.ts';
import { inWords, payableRows, taxCertificate } from './withholding-rows.ts';

/**
 * Writes the invoice, credit note or draft as a self-contained HTML page for printing. It shows the mandatory mentions
 * (CGI art. 145-III) and the authority's acceptance. Client texts are untrusted: they are escaped, and each name and
 * description is isolated in its own text direction.
 */
export async function invoicePage(printed: PrintedInvoice | DrawnDraft): Promise<string> {
  const { invoice, number, decision } = contentOf(printed);
  const language = invoice.seller.documentLanguage;
  const labels = labelsOf(invoice.kind, language, invoice.isDeposit);
  const texts: Texts = { invoice, decision, logo: printed.logo, labels, format: FORMATS[language] };
  const margins = pageMargins({ ...invoice, number }, labels, texts.format);
  const content = html`${mark(texts)}
${head(texts)}
${parties(texts)}${correction(texts)}
${lines(
  texts,
  html`${sums(texts)}
${words(texts)}
${decision && (await acceptance(texts, decision))}`,
)}`.text;
  const body = await drawable(content, escapeHtml);
  const drawn = {
    ...margins,
    runningHead: await drawable(margins.runningHead),
    legalFoot: await drawable(margins.legalFoot),
  };
  const style = pageStyle(drawn, labels.direction, invoice.kind);
  const fonts = await fontFaces(body + Object.values(drawn).join(''));
  return `<!doctype html>
<html lang="${language}" dir="${labels.direction}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:">
<title>${html`${titleOf(invoice, number)}`.text}</title>
<style>${fonts}${style}</style>
</head>
<body>
${body}
</body>
</html>`;
}

/** Returns the content of the page. A draft has no decision, and a word such as "draft" instead of its number. */
function contentOf(printed: PrintedInvoice | DrawnDraft) {
  if ('invoice' in printed) return { invoice: printed.invoice, number: printed.invoice.number, decision: printed };
  const { draft } = printed;
  return { invoice: draft, number: labelsOf(draft.kind, draft.seller.documentLanguage).draft, decision: null };
}

function titleOf({ kind, isDeposit, seller }: LegalInvoice, number: string): string {
  const labels = labelsOf(kind, seller.documentLanguage, isDeposit);
  return `${labels.title} ${inPlainText(labels, number)} – ${inPlainText(labels, seller.legalName)}`;
}

/** Returns the title of the document, and the names and descriptions of the attached files. */
export function documentTexts({ invoice }: PrintedInvoice) {
  const { kind, number, seller } = invoice;
  const labels = labelsOf(kind, seller.documentLanguage);
  return {
    title: titleOf(invoice, number),
    xml: { name: documentFileName(kind, number, 'xml'), description: labels.signedXml },
    receipt: { name: documentFileName(kind, number, 'receipt'), description: labels.receiptFile },
  };
}

/**
 * Writes the mark and the notice of a document without legal effect: a draft, a test or a specimen. Null for a live
 * document.
 */
function mark({ labels, decision, invoice: { environment, specimen } }: Texts): Markup | null {
  if (decision && environment === 'live' && !specimen) return null;
  const word = decision ? (specimen ? labels.specimen : labels.test) : labels.draft;
  const notices = [
    decision ? null : labels.draftNotice,
    specimen ? labels.specimenNotice : decision && labels.testNotice,
  ];
  return html`<div class="mark"><span>${word}</span></div>
<p class="notice">${notices.filter((notice) => notice !== null).join(' ')}</p>`;
}

/**
 * Writes the table of lines, with the totals and the acceptance (`closing`) in its last row. Browsers can keep the rows
 * of one group together on a page, but not a table's last rows with content after the table. For assistive technology,
 * the closing follows the table: see pades/closing-structure.ts.
 */
function lines(texts: Texts, closing: Markup): Markup {
  const { labels, format, invoice } = texts;
  const rows = invoice.lines.map(
    (line, index) => html`<tr>
<td class="index">${index + 1}</td><td class="text lines-of-text" dir="auto">${line.description}${discount(texts, line)}${lineExemption(texts, line)}</td>
${figure(measure(texts, line))}${figure(unitPrice(texts, line))}
${figure(format.percent(line.taxRate))}${figure(format.amount(line.amount))}
</tr>`,
  );
  return html`<table class="lines ${rows.length > 2 ? '' : 'whole'}">
<thead><tr>
${columnHead(labels.line, 'index')}${columnHead(labels.description, 'text')}${columnHead(labels.quantity, 'figure')}
${columnHead(labels.unitPrice, 'figure')}${columnHead(labels.taxRate, 'figure')}${columnHead(labels.lineAmount, 'figure')}
</tr></thead>
<tbody>${rows.slice(0, -2)}</tbody>
<tbody class="end">${rows.slice(-2)}
<tr role="presentation"><td role="presentation" colspan="6"><div class="closing">
${closing}
</div></td></tr></tbody>
</table>`;
}

/** Writes the quantity of a line with its unit: `1,5 h`. */
function measure(texts: Texts, { quantity, unit }: LegalLine): string | Markup {
  const written = texts.format.quantity(quantity);
  return unit ? withWord(texts, written, UNITS[unit][texts.invoice.seller.documentLanguage]) : written;
}

/**
 * Writes a number and the word after it in the direction of the page, because cells with figures run from left to
 * right.
 */
function withWord({ labels }: Texts, number: string, word: string): Markup {
  return html`<bdi dir="${labels.direction}">${number}${NO_BREAK_SPACE}${word}</bdi>`;
}

/** Writes a unit price. The head of its column says that prices are without tax, so one with tax says so. */
function unitPrice(texts: Texts, line: LegalLine): string | Markup {
  const price = texts.format.unitPrice(line.unitPrice);
  return line.taxIncluded ? withWord(texts, price, texts.labels.taxIncluded) : price;
}

/** Writes the discount of a line below its description; null if it has none. */
function discount(texts: Texts, line: LegalLine): Markup | null {
  if (line.discount == null) return null;
  const { labels, format, invoice } = texts;
  const { percent, reason } = line.discount;
  const language = { lang: invoice.seller.documentLanguage, dir: labels.direction };
  return html`<br><span class="discount" lang="${language.lang}" dir="${language.dir}">${labels.discount}${
    percent == null ? null : html` ${format.percent(percent)}`
  }${reason ? html` (<bdi>${reason}</bdi>)` : null} <bdi dir="ltr">${format.amount(-statedDiscountOf(line))}</bdi>${
    line.taxIncluded ? ` ${labels.taxIncluded}` : null
  }</span>`;
}

/** Writes the exemption of a line below its description, with the buyer's certificate; null if it states none. */
function lineExemption({ labels, format, invoice }: Texts, { exemption }: LegalLine): Markup | null {
  if (exemption == null) return null;
  const language = invoice.seller.documentLanguage;
  const { code, certificate } = exemption;
  return html`<br><span class="discount" lang="${language}" dir="${labels.direction}">${exemptionText(code, language)}${
    certificate == null
      ? null
      : html`<br>${labels.certificate} <bdi>${certificate.number}</bdi> (${format.longDate(certificate.date)})`
  }</span>`;
}

function sums(texts: Texts): Markup {
  const { labels, format, invoice } = texts;
  const { totals, amount: stated, currency } = invoice;
  const rounding = stated - totals.gross;
  const total = (label: string | Markup, value: number, kind = '') =>
    html`<tr class="${kind}"><th scope="row">${label}</th>${figure(format.money(value, currency))}</tr>`;
  return html`${depositTable(texts)}<div class="sums">
<div class="tax"><table>
<caption>${labels.taxDetail}</caption>
<thead><tr>${columnHead(labels.rate, 'figure')}${columnHead(labels.base, 'figure')}${columnHead(labels.tax, 'figure')}</tr></thead>
<tbody>${totals.rates.map(
    ({ rate, base, tax }) =>
      html`<tr>${figure(format.percent(rate))}${figure(format.amount(base))}${figure(format.amount(tax))}</tr>`,
  )}</tbody>
</table></div>
<div class="totals"><table><tbody>
${adjustmentRows(texts, total)}${saleTotals(texts).map(([label, value]) => total(label, value))}${total(labels.net, totals.net)}
${total(labels.totalTax, totals.tax)}
${total(labels.gross, totals.gross)}
${rounding === 0 ? null : total(labels.rounding, rounding)}
${payableRows(texts, total)}${stampDutyRow(texts, total)}
</tbody></table></div>
</div>
${exemption(texts)}
${taxCertificate(texts)}
${foreignValue(texts)}`;
}

function words(texts: Texts): Markup {
  const { amount, seller } = texts.invoice;
  return html`<p class="words">${inWords(texts)} <strong>${amountInWords(amount, seller.documentLanguage)}</strong></p>`;
}

async function acceptance(
  { labels, format, invoice }: Texts,
  { dgiId, acceptedAt, receipt, verifyUrl }: NonNullable<Texts['decision']>,
): Promise<Markup> {
  const code = await QRCode.toString(verifyUrl, { type: 'svg', errorCorrectionLevel: 'M', margin: 0 });
  return html`<section class="accepted">
<div class="code" role="img" aria-label="${labels.verify}">${new Markup(code)}</div>
<div>
<h2>${invoice.environment === 'test' ? labels.acceptedInTest : labels.accepted}</h2>
<p><span class="label">${labels.dgiId}</span> <strong>${name(dgiId)}</strong></p>
<p><span class="label">${labels.acceptedAt}</span> ${format.moment(acceptedAt)}</p>
${
  receipt &&
  html`<p><span class="label">${labels.receipt}</span> ${format.moment(receipt.decidedAt)}</p>
<p class="digest"><span class="label">${labels.receiptDigest}</span> <bdi dir="ltr">${receipt.sha256}</bdi></p>`
}
<p class="label">${labels.verifyHow}</p>
<p class="address"><bdi dir="ltr">${verifyUrl}</bdi></p>
</div>
</section>`;
}
