import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A check: its name and its arguments for Node, which runs in the project folder. */
export interface Check {
  name: string;
  args: readonly string[];
}

const LINT_OPTIONS = ['--error-on-warnings', '--diagnostic-level=warn', '--colors=off'];

/** The checks of `npm run check`. The builders themselves check the generated files. */
export const CHECKS: readonly Check[] = [
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json'] },
  {
    name: 'types of pages',
    args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'src/dashboard/tsconfig.json'],
  },
  {
    name: 'types of clients',
    args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'clients/typescript/tsconfig.json'],
  },
  {
    name: 'types of live',
    args: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'clients/live/tsconfig.json'],
  },
  { name: 'size of pages', args: ['scripts/check-pages.ts'] },
  { name: 'lint and format', args: ['node_modules/@biomejs/biome/bin/biome', 'check', ...LINT_OPTIONS, '.'] },
  { name: 'imports', args: ['scripts/check-imports.ts'] },
  { name: 'unused code', args: ['node_modules/knip/bin/knip.js', '--no-progress', '--treat-config-hints-as-errors'] },
  { name: 'documents', args: ['scripts/check-documents.ts'] },
  { name: 'licences', args: ['scripts/check-licences.ts'] },
  { name: 'monitoring', args: ['scripts/check-monitoring.ts'] },
  { name: 'deployment', args: ['scripts/check-deploy.ts'] },
  { name: 'schema', args: ['scripts/build-schema.ts', '--check'] },
  { name: 'openapi', args: ['scripts/build-openapi.ts', '--check'] },
  { name: 'models of clients', args: ['scripts/build-clients.ts', '--check'] },
  { name: 'rules', args: ['scripts/build-rules.ts', '--check'] },
];

/**
 * Runs the checks in parallel in `folder`. Writes a line for each when it ends (`ok types 1.2 s`), followed by its
 * output if it failed. Resolves to whether all passed.
 */
export async function runChecks(
  checks: readonly Check[],
  folder: string,
  write: (text: string) => void,
): Promise<boolean> {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const results = await Promise.all(
    checks.map(async ({ name, args }) => {
      const start = performance.now();
      const { ok, output } = await runNode(args, folder);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      write(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(width)}  ${seconds} s\n${ok ? '' : indent(output)}`);
      return ok;
    }),
  );
  return results.every((ok) => ok);
}

function runNode(args: readonly string[], cwd: string): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code, signal) => {
      const ending = output.trim() === '' ? `ended with ${signal ?? `code ${code}`} without output` : '';
      resolve({ ok: code === 0, output: output + ending });
    });
  });
}

const indent = (text: string): string => text.trimEnd().replace(/^(?=.)/gm, '      ') + '\n';

if (import.meta.main) {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const ok = await runChecks(CHECKS, folder, (text) => process.stdout.write(text));
  process.exitCode = ok ? 0 : 1;
}
