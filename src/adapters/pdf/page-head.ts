import { spacedBankAccount } from '../../domain/bank-account.ts';
import { countryName } from '../../text/country-names.ts';
import { CREDIT_LABELS } from '../../text/credit-labels.ts';
import { CREDIT_REASON_TEXTS } from '../../text/credit-reasons.ts';
import { html, type Markup } from '../../text/markup.ts';
import { PARTICULAR_LABELS } from '../../text/particular-labels.ts';
import { figures, name, type Texts } from './page-parts.ts';

/** Writes the seller, and the title with the dates and payment terms. */
export function head(texts: Texts): Markup {
  const { labels, format, logo, decision } = texts;
  const { seller, number, currency } = texts.invoice;
  const { street, postalCode, city } = seller.address;
  return html`<header class="head">
<div class="seller">
${logo && html`<img class="logo" alt="${seller.legalName}" src="data:${logo.contentType};base64,${Buffer.from(logo.content).toString('base64')}">`}
<p class="name">${name(seller.legalName)}</p>
<p class="under">${name(seller.legalForm)} ${labels.capital} ${figures(format.money(seller.capital, currency))}</p>
<p>${name(street)}<br>${name(postalCode === null ? city : `${postalCode} ${city}`)}</p>
<p>${name(seller.email)}</p>
</div>
<div class="title">
<h1>${labels.title}</h1>
${decision && html`<p class="number">${labels.number} ${name(number)}</p>`}
${paymentTerms(texts)}
</div>
</header>`;
}

/**
 * Writes dates and payment terms, one per line. Seven lines fit beside a seller with a logo. The payment mode says how
 * customers pay the seller, so a credit note does not state it.
 */
function paymentTerms(texts: Texts): Markup {
  const { labels, format, invoice } = texts;
  const { issueDate, terms, credit } = invoice;
  const { operationDate, dueDate, paymentMode, paymentReference, bankAccount } = terms;
  const day = (label: string, date: string | null) => date && fact(label, html`${format.longDate(date)}`);
  return html`<dl class="facts">
${day(labels.issueDate, issueDate)}
${day(labels.operationDate, operationDate)}
${period(texts)}
${day(labels.dueDate, dueDate)}
${references(texts)}
${credit ? null : fact(labels.paymentMode, name(paymentMode))}
${paymentReference && fact(labels.paymentReference, name(paymentReference))}
${bankAccount && fact(labels.bankAccount, figures(spacedBankAccount(bankAccount)))}
${fact(labels.currency, html`${labels.currencyName}`)}
</dl>`;
}

/** Writes the period of the service; null if there is none. */
function period({ format, invoice: { servicePeriod, seller } }: Texts): Markup | null {
  if (servicePeriod === null) return null;
  const labels = PARTICULAR_LABELS[seller.documentLanguage];
  const [from, to] = [format.longDate(servicePeriod.from), format.longDate(servicePeriod.to)];
  return fact(
    labels.servicePeriod,
    html`<bdi class="nowrap">${from}</bdi> ${labels.to} <bdi class="nowrap">${to}</bdi>`,
  );
}

/** Writes the numbers of the buyer's order and of the contract. */
function references({ invoice: { references, seller } }: Texts): Markup {
  const labels = PARTICULAR_LABELS[seller.documentLanguage];
  const { order = null, contract = null } = references ?? {};
  return html`${order && fact(labels.order, name(order))}
${contract && fact(labels.contract, name(contract))}`;
}

function fact(label: string, value: Markup): Markup {
  return html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
}

/** Writes the identifiers of the seller, and the customer. */
export function parties(texts: Texts): Markup {
  const { labels } = texts;
  const { seller, customer } = texts.invoice;
  return html`<div class="parties">
<section>
<h2>${labels.sellerIds}</h2>
<dl class="ids">
${identifier(labels.ice, seller.ice)}
${identifier(labels.taxId, seller.taxId)}
${identifier(labels.tradeRegister, seller.tradeRegister)}
${identifier(labels.professionalTax, seller.professionalTax)}
${identifier(labels.cnss, seller.cnss)}
</dl>
</section>
<section class="customer">
<h2>${labels.customer}</h2>
<p class="name">${name(customer.name)}</p>
${customer.address === null ? null : html`<p>${name(customer.address)}</p>`}
${customerIds(texts)}
</section>
</div>`;
}

/** Writes the ICE of a company, and the country and the tax number of a customer abroad; null for a private person. */
function customerIds({ labels, invoice: { seller, customer } }: Texts): Markup | null {
  const { ice, country, taxNumber } = customer;
  const ids = [
    ice === null ? null : identifier(labels.ice, ice),
    country === null ? null : identifier(labels.country, countryName(country, seller.documentLanguage)),
    taxNumber === null ? null : identifier(labels.taxNumber, taxNumber),
  ].filter((each) => each !== null);
  return ids.length === 0 ? null : html`<dl class="ids">${ids}</dl>`;
}

/**
 * Writes the invoice that a credit note corrects, with the reason, or that an invoice replaces; null if there is none.
 */
export function correction({ labels, format, invoice: { credit, replaces, seller } }: Texts): Markup | null {
  const corrected = credit?.original ?? replaces;
  if (!corrected) return null;
  const language = seller.documentLanguage;
  const texts = CREDIT_LABELS[language];
  return html`
<section class="correction">
<h2>${credit ? texts.original : texts.replaced}</h2>
<dl class="ids">
<dt>${labels.number}</dt><dd><strong>${name(corrected.number)}</strong></dd>
<dt>${labels.issueDate}</dt><dd>${format.longDate(corrected.issueDate)}</dd>
${corrected.dgiId && identifier(labels.dgiId, corrected.dgiId)}
${credit && html`<dt>${texts.reason}</dt><dd><strong>${CREDIT_REASON_TEXTS[credit.reason][language]}</strong>${credit.note && html`<br>${name(credit.note)}`}</dd>`}
</dl>
</section>`;
}

function identifier(label: string, value: string): Markup {
  return html`<dt>${label}</dt><dd>${name(value)}</dd>`;
}
