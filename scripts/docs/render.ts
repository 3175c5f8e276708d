import GithubSlugger from 'github-slugger';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import go from 'highlight.js/lib/languages/go';
import graphql from 'highlight.js/lib/languages/graphql';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../../src/text/markup.ts';
import { pageAddress } from './links.ts';

for (const [name, language] of Object.entries({
  sh: bash,
  csharp,
  go,
  graphql,
  java,
  js: javascript,
  json,
  php,
  python,
  ts: typescript,
  html: xml,
}))
  highlighter.registerLanguage(name, language);

export interface Heading {
  readonly id: string;
  readonly text: string;
  /** 1 to 6. */
  readonly level: number;
}

/** The text below a heading, for the search. */
export interface Passage {
  readonly heading: Heading;
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly title: string;
  /** The first paragraph as plain text, at most 160 characters. */
  readonly description: string;
  readonly headings: readonly Heading[];
  readonly passages: readonly Passage[];
}

/** The longest description of a page, characters. */
const DESCRIPTION = 160;

/**
 * Converts a page's Markdown to HTML: headings get the anchors that GitHub would give them, code is marked up by its
 * language. Consecutive blocks of code whose language is followed by a name (`ts TypeScript`) become one group, which
 * the page's script shows as tabs.
 * @param words the names of a table and of a block of code, for screen readers
 * @throws Error if the page has no title, or code in an unknown language
 */
export function render(markdown: string, words: { readonly table: string; readonly code: string }): Rendered {
  const slugger = new GithubSlugger();
  const passages: { heading: Heading; text: string }[] = [];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const text = plainText(tokens);
        const heading = { id: slugger.slug(text), text, level: depth };
        passages.push({ heading, text: '' });
        const inner = this.parser.parseInline(tokens);
        const link =
          depth === 1 ? '' : ` <a class="anchor" href="#${heading.id}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth} id="${heading.id}">${inner}${link}</h${depth}>\n`;
      },
      code({ text, lang }) {
        return codeBlock(text, lang ?? '', words.code);
      },
      link({ href, tokens }) {
        const address = pageAddress(href);
        const isForeign = /^[a-z]+:/.test(address);
        return `<a href="${escapeHtml(address)}"${isForeign ? ' rel="noreferrer"' : ''}>${this.parser.parseInline(tokens)}</a>`;
      },
      // Markdown of the repository has no HTML but comments and the images of the README.
      html: () => '',
      table(token: Tokens.Table) {
        const row = (cells: Tokens.TableCell[], tag: 'td' | 'th') =>
          `<tr>${cells.map((cell) => `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        // A heading without a text would be announced as an empty one.
        const head = token.header.some(({ text }) => text !== '')
          ? `<thead>${row(token.header, 'th').replaceAll('<th scope="col"></th>', '<td></td>')}</thead>`
          : '';
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="table" role="group" aria-label="${words.table}" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const html = grouped(marked.parser(tokens));
  const [first] = passages;
  if (first?.heading.level !== 1) throw new Error('A page of the documentation begins with its title.');
  let current = -1;
  for (const token of tokens) {
    const passage = passages[token.type === 'heading' ? ++current : current];
    if (passage && token.type !== 'heading') passage.text += ` ${searchedText(token)}`;
  }
  const intro = tokens.find(({ type }) => type === 'paragraph');
  return {
    html,
    title: first.heading.text,
    description: shortened(intro ? plainText([intro]) : ''),
    headings: passages.map(({ heading }) => heading),
    passages: passages.map(({ heading, text }) => ({ heading, text: text.replaceAll(/\s+/g, ' ').trim() })),
  };
}

function codeBlock(text: string, info: string, label: string): string {
  const [language = '', ...name] = info.split(' ');
  const known = language === 'jsonc' ? 'json' : language;
  const inner = known === '' ? escapeHtml(text) : highlighter.highlight(text, { language: known }).value;
  const title = name.length > 0 ? ` data-title="${escapeHtml(name.join(' '))}"` : '';
  return `<pre role="group" tabindex="0" aria-label="${escapeHtml(name.join(' ') || label)}"${title}><code class="language-${known || 'text'}">${inner}</code></pre>\n`;
}

/** Puts neighbouring blocks with titles into one element. */
function grouped(html: string): string {
  return html.replaceAll(
    /(?:<pre [^>]*data-title=[^>]*>.*?<\/pre>\n){2,}/gs,
    (blocks) => `<div class="examples">\n${blocks}</div>\n`,
  );
}

/** Returns the text of tokens, without marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : ' '))
    .join('')
    .replaceAll(/\s+/g, ' ');
}

/** Returns the text of a block that the search finds: no code, but the names in tables and lists. */
function searchedText(token: Token): string {
  if (token.type === 'code' || token.type === 'html') return '';
  if (token.type === 'list')
    return (token as Tokens.List).items.map(({ tokens }) => tokens.map(searchedText).join(' ')).join(' ');
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((cells) => cells.map(({ tokens }) => plainText(tokens))).join(' ');
  }
  return plainText([token]);
}

function shortened(text: string): string {
  if (text.length <= DESCRIPTION) return text;
  return `${text.slice(0, DESCRIPTION - 1).replace(/\s+\S*$/, '')}…`;
}
