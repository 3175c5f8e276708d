// Builds the web pages (src/dashboard) and the element for other sites (clients/live) into dist/dashboard, and the
// documentation into dist/docs. Does nothing if they were built from the present sources and the installed packages:
// `npm start` calls it each time.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFolder } from './build/built-folder.ts';
import { buildDocs } from './build-docs.ts';
import { buildLive, copyReleases, LIVE_SOURCES } from './build-live.ts';

// The pages import sets and limits of the domain, and texts that documents have too.
const SOURCES = [
  'src/dashboard',
  'src/domain',
  'src/text',
  'scripts/build-dashboard.ts',
  'scripts/build',
  'package.json',
  'package-lock.json',
  ...LIVE_SOURCES,
];

/**
 * Builds the pages of the project in `root` unless they are up to date.
 * @returns whether it built
 * @throws Error if a source is invalid
 */
export function buildDashboard(root: string): Promise<boolean> {
  return buildFolder(root, 'dist/dashboard', SOURCES, async (folder) => {
    // Loaded only here, because it takes longer than the comparison.
    const { build } = await import('vite');
    await build({
      configFile: false,
      root: join(root, 'src/dashboard'),
      base: '/',
      logLevel: 'warn',
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        outDir: folder,
        emptyOutDir: true,
        // The content security policy allows no data: URLs, and no script in the page.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
      },
    });
    await buildLive(root, join(folder, 'live'));
    copyReleases(root, join(folder, 'live'));
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const built = [await buildDashboard(root), await buildDocs(root)];
  if (built.includes(true)) console.error('The web pages were built.');
}
