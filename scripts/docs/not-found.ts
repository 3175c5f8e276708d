import { html } from '../../src/text/markup.ts';
import { addressOf, type DocsLanguage } from './contents.ts';
import type { Page } from './layout.ts';
import { TEXTS } from './texts.ts';

/** Makes the page for an address of the documentation without a page: the search, and the first pages to read. */
export function notFoundPage(language: DocsLanguage): Page {
  const { notFound, search } = TEXTS[language];
  const link = (slug: string, title: string) => html`<li><a href="${addressOf(slug, language)}">${title}</a></li>\n`;
  return {
    slug: 'not-found',
    language,
    markdown: null,
    otherLanguage: false,
    title: notFound.title,
    description: notFound.explanation,
    headings: [],
    passages: [],
    html: html`<h1>${notFound.title}</h1>
<p>${notFound.explanation}</p>
<p><button type="button" class="find" hidden>${search} <kbd>/</kbd></button></p>
<ul>
${link('', notFound.home)}${link('quick-start', notFound.quickStart)}${link('errors', notFound.errors)}</ul>
`.text,
  };
}
