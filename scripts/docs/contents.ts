/** The languages of the documentation, the default first. Only guides are in both. */
export const LANGUAGES = ['en', 'fr'] as const;
export type DocsLanguage = (typeof LANGUAGES)[number];

interface Section {
  readonly title: Readonly<Record<DocsLanguage, string>>;
  /** The last part of each page's address, in the order of the navigation. */
  readonly pages: readonly string[];
}

/** The Markdown file of each page that is written by hand, by the last part of its address. `''` is the first page. */
export const SOURCES: Readonly<Record<string, string>> = {
  '': 'docs/home.md',
  ...inFolder('docs/api', [
    'quick-start',
    'authentication',
    'idempotency',
    'pagination',
    'errors',
    'lines',
    'customers',
    'deposits',
    'particulars',
    'withholding',
    'drafts',
    'corrections',
    'exports',
    'imports',
    'import-files',
    'graphql',
    'embedding',
    'test-environment',
    'going-live',
    'contract',
  ]),
  ...inFolder('docs', ['webhooks', 'live-pages', 'corrections-for-accountants', 'rules']),
  ...Object.fromEntries(
    ['typescript', 'python', 'php', 'java', 'go', 'cli', 'live', 'collections'].map((name) => [
      `clients/${name}`,
      `clients/${name}/README.md`,
    ]),
  ),
  changelog: 'CHANGELOG.md',
};

/** The navigation. A page that is in none of its sections is found by links and by the search. */
export const SECTIONS: readonly Section[] = [
  {
    title: { en: 'Start', fr: 'Démarrer' },
    pages: ['', 'quick-start', 'authentication', 'test-environment', 'going-live'],
  },
  {
    title: { en: 'Invoices', fr: 'Factures' },
    pages: [
      'idempotency',
      'pagination',
      'lines',
      'customers',
      'deposits',
      'particulars',
      'withholding',
      'drafts',
      'corrections',
      'corrections-for-accountants',
      'exports',
      'imports',
      'import-files',
    ],
  },
  {
    title: { en: 'Live', fr: 'En direct' },
    pages: ['live-pages', 'webhooks', 'embedding', 'graphql'],
  },
  {
    title: { en: 'Clients', fr: 'Clients' },
    pages: [
      'clients/typescript',
      'clients/python',
      'clients/php',
      'clients/java',
      'clients/go',
      'clients/cli',
      'clients/live',
      'clients/collections',
    ],
  },
  {
    title: { en: 'Reference', fr: 'Référence' },
    pages: [
      'reference/invoices',
      'reference/webhook-endpoints',
      'reference/graphql-queries',
      'reference/graphql-mutations',
      'reference/graphql-subscriptions',
      'errors',
      'warnings',
      'rules',
      'contract',
      'changelog',
    ],
  },
];

function inFolder(folder: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `${folder}/${name}.md`]));
}

/** Returns the address of a page. @param slug the last part of its address; empty: the first page */
export function addressOf(slug: string, language: DocsLanguage): string {
  return ['/docs', ...(language === 'en' ? [] : [language]), ...(slug === '' ? [] : [slug])].join('/');
}
