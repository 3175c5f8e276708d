import { addressOf, SECTIONS } from './contents.ts';
import type { Page } from './layout.ts';
import { markdownAddress } from './links.ts';

/** Writes the list of pages for programs that read them (llmstxt.org): English, as Markdown, by section. */
export function llmsText(pages: readonly Page[]): string {
  const english = new Map(pages.flatMap((page) => (page.language === 'en' ? [[page.slug, page]] : [])));
  const line = ({ slug, title, description }: Page) =>
    `- [${title}](${markdownAddress(addressOf(slug, 'en'))}): ${description}`;
  const sections = SECTIONS.map(
    ({ title, pages: slugs }) =>
      `## ${title.en}\n\n${slugs
        .flatMap((slug) => english.get(slug) ?? [])
        .map(line)
        .join('\n')}\n`,
  );
  const errors = [...english.values()].filter(({ slug }) => slug.startsWith('errors/'));
  return `# Fatoura

> Electronic invoicing for Morocco: post an invoice as JSON; it is written as UBL 2.1, signed, transmitted to the tax
> authority, and followed by polling, streams, GraphQL or webhooks.

REST is described by [/v1/openapi.json](/v1/openapi.json).

${sections.join('\n')}
## Error codes

${errors.map(line).join('\n')}
`;
}
