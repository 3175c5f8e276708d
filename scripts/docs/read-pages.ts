import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES } from '../../src/domain/error-codes.ts';
import { addressOf, type DocsLanguage, LANGUAGES, SOURCES } from './contents.ts';
import { readExamples } from './examples.ts';
import { withFrenchSpaces } from './french-spaces.ts';
import { errorPage, tableOfErrors, warningsPage } from './generated.ts';
import { graphqlPages } from './graphql-reference.ts';
import type { Page } from './layout.ts';
import { withSiteLinks } from './links.ts';
import { type OpenApi, operationsOf, referencePages } from './reference.ts';
import { render } from './render.ts';
import { TEXTS } from './texts.ts';

/** The place of the English page's block of code in the French page. */
const PLACE_OF_CODE = /^( *)<!-- code -->$/gm;
const CODE = /^( *)```.*?^ *```$/gms;

/**
 * Reads and generates all pages.
 * @param root of the project
 * @throws Error if a page is invalid, or a French page has another number of blocks of code than the English one
 */
export function readPages(root: string): Page[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const written = LANGUAGES.map((language) => [language, writtenPages(root, language)] as const);
  const slugs = new Map(
    written.flatMap(([language, paths]) => [...paths].map(([slug, path]) => [path, addressOf(slug, language)])),
  );
  const markdowns = written.flatMap(([language, paths]) =>
    [...paths].map(([slug, path]) => {
      const text = language === 'en' ? read(path) : withCode(read(path), read(SOURCES[slug] ?? ''), path);
      return { slug, language, markdown: withSiteLinks(text, path, (file) => slugs.get(file) ?? null) };
    }),
  );
  const document = JSON.parse(read('openapi.json')) as OpenApi;
  const operations = operationsOf(document);
  const generated = {
    ...referencePages(document, readExamples(root)),
    ...graphqlPages(read('schema.graphql')),
    warnings: warningsPage(),
  };
  markdowns.push(...Object.entries(generated).map(([slug, markdown]) => ({ slug, language: 'en' as const, markdown })));
  for (const language of LANGUAGES) {
    const errors = markdowns.find((each) => each.slug === 'errors' && each.language === language);
    if (errors) errors.markdown += tableOfErrors(language);
    for (const code of ERROR_CODES)
      markdowns.push({ slug: `errors/${code}`, language, markdown: errorPage(code, operations, language) });
  }
  const inBoth = (slug: string) => markdowns.filter((each) => each.slug === slug).length === LANGUAGES.length;
  return markdowns.map(({ slug, language, markdown }) => {
    const text = language === 'fr' ? withFrenchSpaces(markdown) : markdown;
    return { slug, language, markdown: text, otherLanguage: inBoth(slug), ...rendered(text, slug, language) };
  });
}

function rendered(markdown: string, slug: string, language: DocsLanguage): ReturnType<typeof render> {
  try {
    return render(markdown, TEXTS[language]);
  } catch (error) {
    throw new Error(`The page ${addressOf(slug, language)} is invalid.`, { cause: error });
  }
}

/**
 * Returns the files of the pages that are written by hand, by slug. A French page is in docs/fr, under the same name.
 */
function writtenPages(root: string, language: DocsLanguage): Map<string, string> {
  if (language === 'en') return new Map(Object.entries(SOURCES));
  const paths = Object.keys(SOURCES).map((slug) => [slug, `docs/${language}/${slug || 'home'}.md`] as const);
  return new Map(paths.filter(([, path]) => existsSync(join(root, path))));
}

/** Inserts the code of the English page into the French one, so that code is stated only once. */
function withCode(translated: string, english: string, path: string): string {
  const blocks = [...english.matchAll(CODE)].map(([block, indent = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  let at = 0;
  const whole = translated.replaceAll(PLACE_OF_CODE, (_, indent: string) =>
    (blocks[at++] ?? '').replaceAll(/^(?=.)/gm, indent),
  );
  if (at !== blocks.length) throw new Error(`${path} has ${at} places of code; the English page has ${blocks.length}.`);
  return whole;
}
