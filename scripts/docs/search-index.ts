import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from '../../src/transport/docs/site/search-options.ts';
import { addressOf, type DocsLanguage } from './contents.ts';
import type { Page } from './layout.ts';

/**
 * Builds the index of a language: its pages, and those in English that it lacks, with a document for each heading,
 * which the page's script searches.
 * @param pages of all languages
 * @returns JSON for `MiniSearch.loadJSON`
 */
export function searchIndex(pages: readonly Page[], reader: DocsLanguage): string {
  const own = pages.filter(({ language }) => language === reader);
  const slugs = new Set(own.map(({ slug }) => slug));
  const lacking = pages.filter(({ slug, language }) => language === 'en' && !slugs.has(slug));
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const { slug, language, title, passages } of [...own, ...lacking])
    for (const [at, { heading, text }] of passages.entries()) {
      const address = addressOf(slug, language);
      index.add({
        id: at === 0 ? address : `${address}#${heading.id}`,
        title: heading.text,
        page: at === 0 ? '' : title,
        text,
        ...(language !== reader && { language }),
      });
    }
  return JSON.stringify(index);
}
