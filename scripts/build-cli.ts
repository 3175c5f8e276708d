// Builds the command `fatoura` (clients/cli) as files without dependencies, into clients/cli/dist or the given folder.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'clients/cli';

/**
 * Builds the command of the project in `root` into the folder `output`. `fatoura mcp` is part of it if the packages of
 * clients/cli are installed, which nothing else needs.
 * @throws Error if a source is invalid
 */
export async function buildCli(root: string, output: string): Promise<void> {
  const { build } = await import('vite');
  const hasSdk = existsSync(join(root, PACKAGE, 'node_modules/@modelcontextprotocol/sdk'));
  const source = (name: string) => join(root, PACKAGE, 'src', name);
  await build({
    configFile: false,
    root: join(root, PACKAGE),
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: output,
      emptyOutDir: true,
      target: 'node20.19',
      minify: true,
      // The licences of the bundled packages.
      license: { fileName: 'licences.md' },
      // Only operators call a service without going through its proxy.
      rolldownOptions: {
        external: ['undici'],
        input: { fatoura: source('main.ts'), ...(hasSdk && { mcp: source('mcp/server.ts') }) },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  await buildCli(root, process.argv[2] ?? join(root, PACKAGE, 'dist'));
}
