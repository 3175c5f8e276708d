import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { build } from 'vite';
import { addressOf, LANGUAGES } from './contents.ts';
import { type Assets, layout, type Page } from './layout.ts';
import { markdownAddress } from './links.ts';
import { llmsText } from './llms.ts';
import { notFoundPage } from './not-found.ts';
import { readPages } from './read-pages.ts';
import { searchIndex } from './search-index.ts';

/** A file of the site in its manifest, by the path of its address, or by a name that no request can have. */
interface Entry {
  /** Its path in the folder. */
  readonly file: string;
  readonly type: string;
  /** Of the contents, so that a known version is answered without reading the file. */
  readonly etag: string;
}

const TYPES = {
  html: 'text/html',
  md: 'text/markdown',
  txt: 'text/plain',
  json: 'application/json',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
} as const;

/**
 * Writes the documentation of the project in `root` into a new folder: a file for each page and each page's Markdown,
 * the site's scripts and style, the indexes of the search, and `manifest.json`, by which the service finds them.
 * @throws Error if a page is invalid
 */
export async function writeSite(root: string, folder: string): Promise<void> {
  const pages = readPages(root);
  const entries: Record<string, Entry> = {};
  const put = (address: string, file: string, type: keyof typeof TYPES, content: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
    entries[address] = { file, type: TYPES[type], etag: `W/"${digestOf(content)}"` };
  };
  const bundles = await bundle(root, folder);
  for (const name of readdirSync(join(folder, 'assets'))) {
    const file = `assets/${name}`;
    put(`/docs/${file}`, file, extname(name).slice(1) as keyof typeof TYPES, readFileSync(join(folder, file), 'utf8'));
  }
  /** @returns its address, which contains the digest of the contents */
  const asset = (name: string, type: keyof typeof TYPES, content: string): string => {
    const file = `assets/${name}-${digestOf(content).slice(0, 8)}.${type}`;
    put(`/docs/${file}`, file, type, content);
    return `/docs/${file}`;
  };
  const icon = asset('icon', 'svg', readFileSync(join(root, 'src/dashboard/icon.svg'), 'utf8'));
  const indexes = LANGUAGES.map((language) => {
    return [language, asset(`search-${language}`, 'json', searchIndex(pages, language))] as const;
  });
  const assets = { ...bundles, icon, search: Object.fromEntries(indexes) as Assets['search'] };
  const titles = LANGUAGES.map((language) => {
    const own = pages.filter((page) => page.language === language);
    return [language, new Map(own.map(({ slug, title }) => [slug, title]))] as const;
  });
  const titlesOf = Object.fromEntries(titles) as Record<Page['language'], Map<string, string>>;
  for (const page of pages) {
    const address = addressOf(page.slug, page.language);
    const file = `pages${address.slice('/docs'.length) || '/index'}`;
    put(address, `${file}.html`, 'html', layout(page, titlesOf[page.language], titlesOf.en, assets));
    if (page.markdown !== null) put(markdownAddress(address), `${file}.md`, 'md', page.markdown);
  }
  for (const language of LANGUAGES) {
    const page = layout(notFoundPage(language), titlesOf[language], titlesOf.en, assets);
    put(`not-found-${language}`, `not-found-${language}.html`, 'html', page);
  }
  put('/llms.txt', 'llms.txt', 'txt', llmsText(pages));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(entries));
}

/** Bundles the scripts and the style. @returns their addresses, which contain the digests of their contents */
async function bundle(root: string, folder: string): Promise<Pick<Assets, 'style' | 'script'>> {
  const site = join(root, 'src/transport/docs/site');
  const result = await build({
    configFile: false,
    root: site,
    base: '/docs/',
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      target: 'baseline-widely-available',
      modulePreload: false,
      rolldownOptions: { input: { site: join(site, 'site.js'), style: join(site, 'site.css') } },
    },
  });
  const names = [result]
    .flat()
    .flatMap((each) => ('output' in each ? each.output.map(({ fileName }) => fileName) : []));
  const address = (pattern: RegExp): string => `/docs/${names.find((name) => pattern.test(name))}`;
  return { style: address(/\/style-.*\.css$/), script: address(/\/site-.*\.js$/) };
}

function digestOf(content: string): string {
  return hash('sha256', content, 'base64url').slice(0, 27);
}
