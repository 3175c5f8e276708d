// Builds the documentation (docs/api and others) into dist/docs, if its sources have changed.
import { fileURLToPath } from 'node:url';
import { buildFolder } from './build/built-folder.ts';

const SOURCES = [
  'docs/api',
  'docs/fr',
  'docs/examples',
  'docs/home.md',
  'docs/webhooks.md',
  'docs/live-pages.md',
  'docs/rules.md',
  'docs/corrections-for-accountants.md',
  'CHANGELOG.md',
  'openapi.json',
  'schema.graphql',
  ...['typescript', 'python', 'php', 'java', 'go', 'cli', 'live', 'collections'].map(
    (client) => `clients/${client}/README.md`,
  ),
  'scripts/build-docs.ts',
  'scripts/build',
  'scripts/docs',
  'src/transport/docs/site',
  'src/dashboard/icon.svg',
  // Error codes, warnings and their limits.
  'src/domain',
  'src/text/markup.ts',
  'package.json',
  'package-lock.json',
];

/**
 * Builds the documentation of the project in `root` unless it is up to date.
 * @returns whether it built
 * @throws Error if a page is invalid
 */
export function buildDocs(root: string): Promise<boolean> {
  return buildFolder(root, 'dist/docs', SOURCES, async (folder) => {
    // Loaded only here, because it takes longer than the comparison.
    const { writeSite } = await import('./docs/write-site.ts');
    await writeSite(root, folder);
  });
}

if (import.meta.main && (await buildDocs(fileURLToPath(new URL('..', import.meta.url)))))
  console.error('The documentation was built.');
