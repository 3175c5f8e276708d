import { posix } from 'node:path';

/** A fenced block of code, which is left as it is. */
const FENCED = /(^ *```.*?^ *```$)/gms;
const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/**
 * Changes the relative links of a Markdown file of the repository to addresses of the site's Markdown files
 * (`/docs/lines.md#amounts`). A file that the site does not have is named by its path in the repository instead.
 * @param source the path of the file in the repository: `docs/api/lines.md`
 * @param addressOfSource the address of the page that is made of a file; null if none is
 */
export function withSiteLinks(
  markdown: string,
  source: string,
  addressOfSource: (path: string) => string | null,
): string {
  return markdown
    .split(FENCED)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(LINK, (whole, text: string, target: string) => {
            if (/^(?:[a-z]+:|#|\/)/.test(target)) return whole;
            const [path = '', anchor] = target.split('#');
            const file = posix.join(posix.dirname(source), path);
            const address = addressOfSource(file);
            if (address === null) return `${text} (\`${file}\`)`;
            return `[${text}](${markdownAddress(address)}${anchor === undefined ? '' : `#${anchor}`})`;
          }),
    )
    .join('');
}

/** Returns the address of a page as Markdown. @param address of the page */
export function markdownAddress(address: string): string {
  return /^\/docs(?:\/[a-z]{2})?$/.test(address) ? `${address}/index.md` : `${address}.md`;
}

/**
 * Returns the address of the page that a link of a Markdown file leads to; a link to elsewhere is returned unchanged.
 */
export function pageAddress(link: string): string {
  return link.startsWith('/docs') ? link.replace(/(?:\/index)?\.md(?=#|$)/, '') : link;
}
