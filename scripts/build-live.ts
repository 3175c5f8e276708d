// Builds the element for other sites (clients/live) as one file. Run by itself, it also writes the package's types.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'clients/live';
/** What the file is made of, besides what the pages have too. */
export const LIVE_SOURCES = [`${PACKAGE}/src`, 'clients/typescript/src', 'scripts/build-live.ts'];
export const LIVE_FILE = 'fatoura-live.js';

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
    build: {
      outDir: output,
      emptyOutDir: true,
      target: 'baseline-widely-available',
      rolldownOptions: {
        input: join(root, PACKAGE, 'src/index.ts'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: LIVE_FILE },
      },
      modulePreload: false,
    },
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  await buildLive(root, join(root, PACKAGE, 'dist'));
  const compiler = ['node_modules/typescript/bin/tsc', '-p', `${PACKAGE}/tsconfig.json`];
  process.exitCode = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
