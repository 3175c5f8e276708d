// Builds the web pages (src/dashboard) and the element for other sites (clients/live) into dist/dashboard. Does nothing if they were built from the present sources and
// the installed packages: `npm start` calls it each time.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildLive, LIVE_SOURCES } from './build-live.ts';

// The pages import sets and limits of the domain.
const SOURCES = [
  ...['src/dashboard', 'src/domain', 'scripts/build-dashboard.ts', 'package.json', 'package-lock.json'],
  ...LIVE_SOURCES,
];
const OUTPUT = 'dist/dashboard';
/** Holds the digest of the sources that the pages were built from. */
const STAMP = 'sources.sha256';
/** How often the folder is replaced once more when another build was in between. */
const MOST_ATTEMPTS = 20;

/**
 * Builds the pages of the project in `root` unless they are up to date. They appear all at once, so that an interrupted
 * build, or two at the same time, leave whole pages.
 * @returns whether it built
 * @throws Error if a source is invalid
 */
export async function buildDashboard(root: string): Promise<boolean> {
  const digest = digestOf(root);
  const output = join(root, OUTPUT);
  if (isBuilt(output, digest)) return false;
  // Loaded only here, because it takes longer than the comparison.
  const { build } = await import('vite');
  const unfinished = `${output}-${process.pid}`;
  await build({
    configFile: false,
    root: join(root, 'src/dashboard'),
    base: '/',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      // The content security policy allows no data: URLs, and no script in the page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  await buildLive(root, join(unfinished, 'live'));
  writeFileSync(join(unfinished, STAMP), digest);
  replace(unfinished, output, digest);
  return true;
}

/**
 * Puts a finished folder in the place of another. Another build may do the same at any moment: whoever finds pages of the
 * same sources in the place leaves them there.
 */
function replace(finished: string, output: string, digest: string): void {
  const former = `${finished}-former`;
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(output)) renameSync(output, former);
      renameSync(finished, output);
      break;
    } catch (error) {
      if (isBuilt(output, digest)) {
        rmSync(finished, { recursive: true, force: true });
        break;
      }
      if (attempt === MOST_ATTEMPTS) throw error;
    } finally {
      rmSync(former, { recursive: true, force: true });
    }
  }
}

function isBuilt(output: string, digest: string): boolean {
  const stamp = join(output, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest;
}

/** The digest of the names and contents of the sources. */
function digestOf(root: string): string {
  const files = SOURCES.flatMap((source) => filesOf(root, source)).sort();
  return hash('sha256', files.map((file) => `${file}\n${hash('sha256', readFileSync(join(root, file)))}`).join('\n'));
}

function filesOf(root: string, path: string): string[] {
  if (/\.\w+$/.test(path)) return existsSync(join(root, path)) ? [path] : [];
  return readdirSync(join(root, path)).flatMap((name) => filesOf(root, `${path}/${name}`));
}

if (import.meta.main && (await buildDashboard(fileURLToPath(new URL('..', import.meta.url)))))
  console.error('The web pages were built.');
