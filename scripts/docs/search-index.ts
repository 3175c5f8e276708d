import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from '../../src/transport/docs/site/search-options.ts';
import { addressOf } from './contents.ts';
import type { Page } from './layout.ts';

/**
 * Builds the index of a language's pages, a document for each heading, which the page's script searches.
 * @returns JSON for `MiniSearch.loadJSON`
 */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const { slug, language, title, passages } of pages)
    for (const [at, { heading, text }] of passages.entries()) {
      const address = addressOf(slug, language);
      index.add({
        id: at === 0 ? address : `${address}#${heading.id}`,
        title: heading.text,
        page: at === 0 ? '' : title,
        text,
      });
    }
  return JSON.stringify(index);
}
