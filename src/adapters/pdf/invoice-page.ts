import QRCode from 'qrcode';
import { amountInFrenchWords } from '../../domain/french-words.ts';
import type { LegalInvoice, PrintedInvoice } from '../../domain/invoice/ports.ts';
import { html, isolated, Markup } from '../../domain/markup.ts';
import { fontFaces } from './fonts.ts';
import { amount, longDate, moment, money, NO_BREAK_SPACE, percent, quantity } from './french-format.ts';
import { FRENCH as LABELS } from './french-labels.ts';
import { pageStyle } from './page-style.ts';

/**
 * The invoice as a page to print: complete HTML that refers to nothing outside itself. It shows the mandatory mentions (CGI
 * art. 145-III) and the authority's acceptance. Texts of clients are hostile: they appear as text, names and descriptions each in
 * a direction of their own.
 */
export async function invoicePage(printed: PrintedInvoice): Promise<string> {
  const { invoice } = printed;
  const style = pageStyle({
    runningHead: `${LABELS.invoice} ${isolated(invoice.number)} · ${isolated(shortened(invoice.seller.legalName))}`,
    legalFoot: legalFoot(invoice),
    pageWord: LABELS.page,
  });
  const body = html`<body>
${testMark(invoice)}
${head(invoice)}
${parties(invoice)}
${lines(invoice)}
${sums(invoice)}
${words(invoice)}
${await acceptance(printed)}
</body>`.text;
  const fonts = await fontFaces(style + body + printableText(invoice));
  return `<!doctype html>
<html lang="${LABELS.language}" dir="${LABELS.direction}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src data:">
<title>${html`${documentTexts(printed).title}`.text}</title>
<style>${fonts}${style}</style>
</head>
${body}
</html>`;
}

/** What names the document and the file inside it. */
export function documentTexts({ invoice }: PrintedInvoice) {
  const name = `facture-${invoice.number.replaceAll(/[^\w.-]/g, '_')}.xml`;
  return {
    title: `${LABELS.invoice} ${invoice.number} – ${invoice.seller.legalName}`,
    attachment: { name, description: LABELS.signedXml },
  };
}

/** What the margins show, which is escaped in the style sheet. */
function printableText({ seller, number }: LegalInvoice): string {
  return number + Object.values(seller).join('');
}

function name(text: string): Markup {
  return html`<bdi dir="auto">${text}</bdi>`;
}

function testMark({ environment, specimen }: LegalInvoice): Markup | null {
  if (environment === 'live' && !specimen) return null;
  return html`<div class="mark"><span>${specimen ? LABELS.specimen : LABELS.test}</span></div>
<p class="notice">${specimen ? LABELS.specimenNotice : LABELS.testNotice}</p>`;
}

function head({ seller, number, currency, issueDate }: LegalInvoice): Markup {
  const { street, postalCode, city } = seller.address;
  return html`<header class="head">
<div class="seller">
<p class="name">${name(seller.legalName)}</p>
<p class="under">${name(seller.legalForm)} ${LABELS.capital} <span class="nowrap">${money(seller.capital, currency)}</span></p>
<p>${name(street)}<br>${postalCode === null ? null : html`${name(postalCode)} `}${name(city)}</p>
<p>${name(seller.email)}</p>
</div>
<div class="title">
<h1>${LABELS.invoice}</h1>
<p class="number">${LABELS.number} ${name(number)}</p>
</div>
</header>
<dl class="facts">
${fact(LABELS.issueDate, html`${longDate(issueDate)}`)}
${fact(LABELS.paymentMode, name(seller.paymentMode))}
${fact(LABELS.currency, html`${LABELS.currencyName}`)}
</dl>`;
}

function fact(label: string, value: Markup): Markup {
  return html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
}

function parties({ seller, customer }: LegalInvoice): Markup {
  return html`<div class="parties">
<section>
<h2>${LABELS.sellerIds}</h2>
<dl class="ids">
${identifier(LABELS.ice, seller.ice)}
${identifier(LABELS.taxId, seller.taxId)}
${identifier(LABELS.tradeRegister, seller.tradeRegister)}
${identifier(LABELS.professionalTax, seller.professionalTax)}
${identifier(LABELS.cnss, seller.cnss)}
</dl>
</section>
<section>
<h2>${LABELS.customer}</h2>
<p class="name">${name(customer.name)}</p>
${customer.address === null ? null : html`<p>${name(customer.address)}</p>`}
<dl class="ids">${identifier(LABELS.ice, customer.ice)}</dl>
</section>
</div>`;
}

function identifier(label: string, value: string): Markup {
  return html`<dt>${label}</dt><dd>${name(value)}</dd>`;
}

function lines(invoice: LegalInvoice): Markup {
  return html`<table class="lines">
<thead><tr>
<th class="index">${LABELS.line}</th><th class="text">${LABELS.description}</th><th class="figure">${LABELS.quantity}</th>
<th class="figure">${LABELS.unitPrice}</th><th class="figure">${LABELS.taxRate}</th><th class="figure">${LABELS.lineAmount}</th>
</tr></thead>
<tbody>${invoice.lines.map(
    (line, index) => html`<tr>
<td class="index">${index + 1}</td><td class="text lines-of-text" dir="auto">${line.description}</td>
${figure(quantity(line.quantity))}${figure(amount(line.unitPrice))}
${figure(percent(line.taxRate))}${figure(amount(line.amount))}
</tr>`,
  )}</tbody>
</table>`;
}

function sums(invoice: LegalInvoice): Markup {
  const { totals, amount: stated, currency } = invoice;
  const rounding = stated - totals.gross;
  return html`<div class="sums">
<div class="tax"><table>
<caption>${LABELS.taxDetail}</caption>
<thead><tr><th>${LABELS.rate}</th><th class="figure">${LABELS.base}</th><th class="figure">${LABELS.tax}</th></tr></thead>
<tbody>${totals.rates.map(
    ({ rate, base, tax }) => html`<tr><td>${percent(rate)}</td>${figure(amount(base))}${figure(amount(tax))}</tr>`,
  )}</tbody>
</table>
${exemption(invoice)}
</div>
<div class="totals"><table><tbody>
${total(LABELS.net, money(totals.net, currency))}
${total(LABELS.totalTax, money(totals.tax, currency))}
${total(LABELS.gross, money(totals.gross, currency))}
${rounding === 0 ? null : total(LABELS.rounding, money(rounding, currency))}
${total(LABELS.payable, money(stated, currency), 'payable')}
</tbody></table></div>
</div>`;
}

/** A number in its column. */
function figure(text: string): Markup {
  return html`<td class="figure">${text}</td>`;
}

function total(label: string, value: string, kind = ''): Markup {
  return html`<tr class="${kind}"><td>${label}</td>${figure(value)}</tr>`;
}

function words(invoice: LegalInvoice): Markup {
  return html`<p class="words">${LABELS.inWords} <strong>${amountInFrenchWords(invoice.amount)}</strong></p>`;
}

function exemption({ seller, totals }: LegalInvoice): Markup | null {
  if (seller.exemptionReason === null || !totals.rates.some(({ rate }) => rate === 0)) return null;
  return html`<p class="note"><span class="label">${LABELS.exemption}</span> ${name(seller.exemptionReason)}</p>`;
}

async function acceptance({ invoice, dgiId, acceptedAt, verifyUrl }: PrintedInvoice): Promise<Markup> {
  const code = await QRCode.toString(verifyUrl, { type: 'svg', errorCorrectionLevel: 'M', margin: 0 });
  return html`<section class="accepted">
${new Markup(code)}
<div>
<h2>${invoice.environment === 'test' ? LABELS.acceptedInTest : LABELS.accepted}</h2>
<p><span class="label">${LABELS.dgiId}</span> <strong>${name(dgiId)}</strong></p>
<p><span class="label">${LABELS.acceptedAt}</span> ${moment(acceptedAt)} ${LABELS.timeZone}</p>
<p class="label">${LABELS.verifyHow}</p>
<p class="address">${name(verifyUrl)}</p>
</div>
</section>`;
}

/** At most 80 characters: the head of a page has one line. */
function shortened(text: string): string {
  const characters = [...text];
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : text;
}

/** The seller's identity in one line, for the foot of every page. */
function legalFoot({ seller, currency }: LegalInvoice): string {
  const identifiers: [string, string][] = [
    [LABELS.ice, seller.ice],
    [LABELS.taxIdShort, seller.taxId],
    [LABELS.tradeRegisterShort, seller.tradeRegister],
    [LABELS.professionalTaxShort, seller.professionalTax],
    [LABELS.cnss, seller.cnss],
  ];
  return [
    `${isolated(seller.legalName)}, ${isolated(seller.legalForm)} ${LABELS.capital} ${money(seller.capital, currency)}`,
    ...identifiers.map(([label, value]) => `${label}${NO_BREAK_SPACE}${isolated(value)}`),
  ].join(' · ');
}
