import { html, Markup } from '../../src/text/markup.ts';
import { addressOf, type DocsLanguage, SECTIONS } from './contents.ts';
import { markdownAddress } from './links.ts';
import type { Rendered } from './render.ts';
import { TEXTS } from './texts.ts';

export interface Page extends Rendered {
  /** The last part of its address; empty: the first page of the language. */
  readonly slug: string;
  readonly language: DocsLanguage;
  /** With links to the addresses of other pages as Markdown; null: the page is not available as Markdown. */
  readonly markdown: string | null;
  /** Whether the page exists in the other language, too. */
  readonly otherLanguage: boolean;
}

/** The addresses of the site's own files. */
export interface Assets {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
  /** By language: the index of the search. */
  readonly search: Readonly<Record<DocsLanguage, string>>;
}

/**
 * Builds the HTML of a page.
 * @param titles by the slug of a page in this language; a page that lacks one is linked in English
 * @param englishTitles by slug, of all pages
 */
export function layout(
  page: Page,
  titles: ReadonlyMap<string, string>,
  englishTitles: ReadonlyMap<string, string>,
  assets: Assets,
): string {
  const { slug, language } = page;
  const texts = TEXTS[language];
  const other = language === 'en' ? 'fr' : 'en';
  const address = addressOf(slug, language);
  const isHome = slug === '';
  const link = (each: string): Markup => {
    const own = titles.get(each);
    const title = each === '' ? texts.overview : (own ?? `${englishTitles.get(each)}${texts.inEnglish}`);
    const current = each === slug ? new Markup(' aria-current="page"') : null;
    const foreign = own === undefined ? new Markup(' hreflang="en"') : null;
    return html`<li><a href="${addressOf(each, own === undefined ? 'en' : language)}"${current}${foreign}>${title}</a></li>`;
  };
  const order = SECTIONS.flatMap(({ pages }) => pages).filter((each) => titles.has(each));
  const at = order.indexOf(slug);
  const neighbour = (step: -1 | 1): Markup | null => {
    const found = at === -1 ? undefined : order[at + step];
    if (found === undefined) return null;
    const [rel, label] = step === 1 ? (['next', texts.next] as const) : (['prev', texts.previous] as const);
    return html`<a rel="${rel}" href="${addressOf(found, language)}"><span>${label}</span> ${titles.get(found) ?? ''}</a>`;
  };
  const parts = page.headings.filter(({ level }) => level === 2);
  const otherAddress = page.otherLanguage ? addressOf(slug, other) : addressOf('', other);
  return `<!doctype html>
${
  html`<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isHome ? page.title : `${page.title} · ${texts.site}`}</title>
<meta name="description" content="${page.description}">
<link rel="icon" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
${page.markdown === null ? null : html`<link rel="alternate" type="text/markdown" href="${markdownAddress(address)}">\n`}${page.otherLanguage ? html`<link rel="alternate" hreflang="${other}" href="${otherAddress}">\n` : null}<script type="module" src="${assets.script}"></script>
</head>
<body data-search="${assets.search[language]}">
<a class="skip" href="#content">${texts.skip}</a>
<header class="bar">
<a class="brand" href="${addressOf('', language)}">Fatoura</a>
<button type="button" class="menu" aria-expanded="false" aria-controls="pages" hidden>${texts.menu}</button>
<span class="room"></span>
<button type="button" class="find" hidden>${texts.search} <kbd>/</kbd></button>
<a href="/docs/interactive">${texts.interactive}</a>
<a href="${otherAddress}" lang="${other}" hreflang="${other}">${texts.otherLanguage}</a>
</header>
<div class="frame">
<nav id="pages" aria-label="${texts.pages}">
${SECTIONS.map(({ title, pages }) => html`<h2>${title[language]}</h2>\n<ul>\n${pages.map(link)}</ul>\n`)}</nav>
<main id="content" tabindex="-1">
<article>
${new Markup(page.html)}</article>
<footer>
<nav aria-label="${texts.previous}, ${texts.next}">${neighbour(-1)}${neighbour(1)}</nav>
${page.markdown === null ? null : html`<a href="${markdownAddress(address)}">${texts.asMarkdown}</a>\n`}</footer>
</main>
${
  parts.length < 2
    ? null
    : html`<nav class="parts" aria-label="${texts.onThisPage}">
<h2>${texts.onThisPage}</h2>
<ul>
${parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`)}</ul>
</nav>
`
}</div>
</body>
</html>`.text
}
`;
}
