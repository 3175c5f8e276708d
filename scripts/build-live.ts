// Builds the element for other sites (clients/live) as one file. Run by itself, it also writes the package's types, and
// with --publish keeps the file for pages that pin it.
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'clients/live';
/** The files of releases, which the service serves at the addresses that pages have pinned. */
const RELEASES = `${PACKAGE}/releases`;
/** The sources of the element's folder, besides those that the pages have too. */
export const LIVE_SOURCES = [`${PACKAGE}/src`, RELEASES, 'clients/typescript/src', 'scripts/build-live.ts'];
const FILE = 'fatoura-live.js';

/**
 * Builds the file of the project in `root` into the folder `output`.
 * @throws Error if a source is invalid
 */
export async function buildLive(root: string, output: string): Promise<void> {
  const { build } = await import('vite');
  await build({
    configFile: false,
    root: join(root, PACKAGE),
    logLevel: 'warn',
    publicDir: false,
    plugins: [
      {
        name: 'style without spaces',
        enforce: 'pre',
        transform: (code, id) =>
          id.endsWith('/style.ts') ? code.replaceAll(/\s*([{};])\s*|(?<=\w)(:) /g, '$1$2') : null,
      },
    ],
    build: {
      outDir: output,
      emptyOutDir: true,
      target: 'baseline-widely-available',
      rolldownOptions: {
        input: join(root, PACKAGE, 'src/index.ts'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: FILE },
      },
      modulePreload: false,
    },
  });
}

/** Copies the files of earlier releases beside the file of this version. */
export function copyReleases(root: string, output: string): void {
  for (const name of globSync('*.js', { cwd: join(root, RELEASES) }))
    copyFileSync(join(root, RELEASES, name), join(output, name));
}

/**
 * Returns the path, in the project, of a built file among the files of releases: with its digest, as in its address.
 * @param root of a tree in which the file is built
 */
export function releasedFile(root: string): string {
  const digest = hash('sha256', readFileSync(join(root, PACKAGE, 'dist', FILE)), 'hex').slice(0, 12);
  return `${RELEASES}/${FILE.replace('.js', `-${digest}.js`)}`;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const output = join(root, PACKAGE, 'dist');
  await buildLive(root, output);
  if (process.argv.includes('--publish')) {
    copyFileSync(join(output, FILE), join(root, releasedFile(root)));
    console.log(`${releasedFile(root)} written`);
  }
  const compiler = ['node_modules/typescript/bin/tsc', '-p', `${PACKAGE}/tsconfig.json`];
  process.exitCode = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
