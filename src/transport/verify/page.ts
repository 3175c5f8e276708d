import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DocumentLanguage } from '../../domain/document-language.ts';
import { PUBLIC_KINDS, type PublicFacts } from '../../domain/invoice/verify-publicly.ts';
import { CURRENCY } from '../../domain/money.ts';
import { CREDIT_LABELS } from '../../text/credit-labels.ts';
import { CREDITED_LABELS } from '../../text/credited-labels.ts';
import { directionOf, FORMATS } from '../../text/document-format.ts';
import { html, Markup } from '../../text/markup.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { commonTexts, type VerifyTexts, verifyTexts } from './texts.ts';

const STYLE = resource('page.css');
const SCRIPT = resource('check-file.js');

/**
 * Allows only the page's style and script, by their digests. Requiring Trusted Types keeps texts from becoming HTML or
 * a script.
 */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src '${digest(STYLE)}'`,
  `script-src '${digest(SCRIPT)}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The languages in the order of the other pages. */
const LANGUAGES: readonly DocumentLanguage[] = ['fr', 'en', 'ar'];

/** Results of the comparison of a file with the documents of the invoice or credit note. */
const OUTCOMES = [...PUBLIC_KINDS, 'other', 'failed', 'no-file', 'too-large'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Makes the page of an accepted invoice or credit note.
 * @param outcome the result for a file that was sent; null if none was sent
 */
export function verifyPage(facts: PublicFacts, language: DocumentLanguage, outcome: Outcome | null): string {
  const texts = verifyTexts(facts, language);
  const format = FORMATS[language];
  const { original, credited, replacedBy, withheld } = facts;
  const labels = CREDIT_LABELS[language];
  const withholding = WITHHOLDING_LABELS[language];
  return document(
    language,
    `${texts.number} ${facts.number} – ${texts.title}`,
    html`<section class="verdict" data-verdict="${facts.environment === 'test' ? 'test' : 'accepted'}">
${verdict(facts, texts)}
<dl>
${fact(texts.number, facts.number)}
${original && fact(labels[facts.kind === 'invoice' ? 'replaced' : 'original'], dated(original.number, format.longDate(original.issueDate)))}${fact(texts.seller, facts.seller.name)}
${fact(texts.ice, facts.seller.ice)}
${fact(texts.date, format.longDate(facts.issueDate))}
${
  withheld === null
    ? null
    : [
        fact(withholding.total, format.money(facts.amount, CURRENCY)),
        fact(withholding.withheld, format.money(-withheld, CURRENCY)),
      ]
}${fact(texts.payable, format.money(facts.amount - (withheld ?? 0), CURRENCY), 'amount')}
${credited && fact(CREDITED_LABELS[language][credited.isWhole ? 'inWhole' : 'inPart'], dated(format.money(credited.amount, CURRENCY), format.longDate(credited.lastDate)))}
${replacedBy && fact(labels.replacedBy, dated(replacedBy.number, format.longDate(replacedBy.issueDate)))}
${fact(texts.dgiId, facts.dgiId)}
${fact(texts.acceptedAt, format.moment(facts.acceptedAt))}
${
  facts.receipt && [
    fact(texts.receipt, texts.receiptVerified),
    fact(texts.decidedAt, format.moment(facts.receipt.decidedAt)),
  ]
}
</dl>
<p class="soft">${texts.compare}</p>
</section>
${fileCheck(facts, texts, language, outcome)}`,
    texts.foot,
    SCRIPT,
  );
}

/** Makes the page for a URL of no accepted invoice or credit note. */
export function unknownPage(language: DocumentLanguage): string {
  const texts = commonTexts(language);
  return document(
    language,
    texts.unknown,
    html`<section class="verdict" data-verdict="unknown">
<h1>${CROSS}${texts.unknown}</h1>
<p class="soft">${texts.unknownUnder}</p>
</section>`,
    null,
    null,
  );
}

/** Returns the page's statement. A test invoice is never called genuine, because it can name any seller. */
function verdict({ environment }: PublicFacts, texts: VerifyTexts): Markup {
  return environment === 'test'
    ? html`<h1>${ATTENTION}${texts.test}</h1><p class="soft">${texts.testUnder}</p>`
    : html`<h1>${CHECK_MARK}${texts.accepted}</h1><p class="soft">${texts.acceptedUnder}</p>`;
}

const ATTENTION = new Markup('<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4.5v9M12 19v.01"/></svg>');
const CHECK_MARK = new Markup('<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12.5l5.5 5.5L20 6.5"/></svg>');
const CROSS = new Markup('<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18"/></svg>');
/** The mark of `src/dashboard/interface/brand-mark.tsx`. */
const BRAND_MARK = new Markup(
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M10 24V8h12M10 16h9"/></svg>',
);

function document(
  language: DocumentLanguage,
  title: string,
  body: Markup,
  foot: string | null,
  script: string | null,
): string {
  const switches = LANGUAGES.map(
    (each) =>
      html`<a href="?lang=${each}" lang="${each}" hreflang="${each}"${each === language ? CURRENT : null}>${commonTexts(each).language}</a>`,
  );
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<header>
<p class="brand">${BRAND_MARK}Fatoura</p>
<nav aria-label="${commonTexts(language).languages}">${switches}</nav>
</header>
<main>
${body}
</main>
${foot && html`<footer>${foot}</footer>`}
${script === null ? null : html`<script>${new Markup(script)}</script>`}
</body>
</html>
`.text;
}

const CURRENT = new Markup(' aria-current="true"');

function fact(label: string, value: string | Markup, kind = ''): Markup {
  const shown = typeof value === 'string' ? html`<bdi>${value}</bdi>` : value;
  return html`<div class="${kind}"><dt>${label}</dt><dd>${shown}</dd></div>`;
}

/** A value and its date, in the direction of the page whatever the value begins with. */
function dated(value: string, date: string): Markup {
  return html`<bdi>${value}</bdi> (<bdi>${date}</bdi>)`;
}

function fileCheck(
  { invoiceId, documents }: PublicFacts,
  texts: VerifyTexts,
  language: DocumentLanguage,
  outcome: Outcome | null,
): Markup {
  return html`<section>
<h2>${texts.checkTitle}</h2>
<p class="soft">${texts.checkHow}</p>
<form method="post" enctype="multipart/form-data" action="/verify/${invoiceId}?lang=${language}" data-documents="${JSON.stringify(documents)}">
<input type="file" name="file" id="file" required accept=".pdf,.xml,application/pdf,application/xml,text/xml" aria-label="${texts.choose}">
<label class="pick" for="file">${texts.choose}</label>
<button>${texts.check}</button>
<p class="chosen" dir="auto"></p>
<p class="private">${texts.checkPrivate}</p>
<p class="sent">${texts.checkSent}</p>
</form>
<div role="status">${OUTCOMES.map((each) => outcomeText(each, texts, each === outcome))}</div>
<details><summary>${texts.digests}</summary>
${documents.map(({ kind, sha256 }) => html`<p>${texts.digestOf[kind]}<code dir="ltr">${sha256}</code></p>`)}
</details>
</section>`;
}

function outcomeText(outcome: Outcome, texts: VerifyTexts, shown: boolean): Markup {
  const [head, under, isGood] = (
    {
      pdf: [texts.same, texts.samePdf, true],
      xml: [texts.same, texts.sameXml, true],
      receipt: [texts.same, texts.sameReceipt, true],
      other: [texts.other, texts.otherUnder, false],
      failed: [texts.failed, null, false],
      'no-file': [texts.noFile, null, false],
      'too-large': [texts.tooLarge, null, false],
    } as const
  )[outcome];
  return html`<div class="outcome${isGood ? ' good' : ''}" data-outcome="${outcome}"${shown ? null : HIDDEN}>
<strong>${head}</strong>${under === null ? null : html`<br>${under}`}</div>`;
}

const HIDDEN = new Markup(' hidden');

function resource(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8').replaceAll('\r\n', '\n');
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
