import { invoicePage } from '../../../src/adapters/pdf/invoice-page.ts';

/** The visible text of the page: without tags and styles, entities resolved, all spaces plain. */
export async function wordsOf(page: Parameters<typeof invoicePage>[0]): Promise<string> {
  const document = await invoicePage(page);
  return document
    .slice(document.indexOf('<body>'))
    .replaceAll(/<\/?(?:i|b|u)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/[\s\u202f\u00a0]+/g, ' ');
}
