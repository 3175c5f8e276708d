import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

// The packages for npm, as they would be published: built, packed, checked by publint and "are the types wrong", and
// installed into an empty project.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TOOLS = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];
const CACHE = join(ROOT, 'node_modules/.cache/npm-packages');
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];

const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
const tool = (name: string, ...args: string[]) => run(join(CACHE, 'node_modules/.bin', name), args, CACHE);

/** Installs the tools. @returns whether they are there */
function isInstalled(): boolean {
  try {
    mkdirSync(CACHE, { recursive: true });
    run('npm', ['install', '--prefix', CACHE, '--save-exact', '--prefer-offline', ...QUIET, ...TOOLS], CACHE);
    return true;
  } catch {
    console.warn('skipped: publint cannot be installed (no network?)');
    return false;
  }
}

const PACKAGES = [
  {
    folder: 'typescript',
    files: ['dist/index.js', 'dist/index.d.ts'],
    use: `import { Fatoura } from '@fatoura/client';
      const fatoura = new Fatoura('sk_test_1', { baseUrl: 'http://localhost' });
      export const amount: Promise<number> = fatoura.invoices.get('inv_1').then((invoice) => invoice.amount);`,
  },
  {
    folder: 'live',
    files: ['dist/fatoura-live.js'],
    use: `import type { FatouraInvoice } from '@fatoura/live';
      export const show = (element: HTMLElementTagNameMap['fatoura-invoice']): FatouraInvoice => element;`,
  },
  // A command without an interface for programs.
  { folder: 'cli', files: ['dist/fatoura.js', 'dist/mcp.js', 'dist/licences.md'], use: null },
] as const;

describe.skipIf(!isInstalled())('the packages for npm (skipped without a registry)', () => {
  const project = mkdtempSync(join(tmpdir(), 'fatoura-packages-'));
  afterAll(() => rmSync(project, { recursive: true }));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');

  describe.each(PACKAGES)('clients/$folder', ({ folder, files, use }) => {
    const destination = join(project, 'packed', folder);
    const packed = () => join(destination, readdirSync(destination)[0] ?? '');

    it('is built when it is packed, and has what it needs', () => {
      mkdirSync(destination, { recursive: true });
      run('npm', ['pack', '--silent', '--pack-destination', destination], join(ROOT, 'clients', folder));
      const names = run('tar', ['-tzf', packed()], project).split('\n');
      for (const file of [...files, 'README.md']) expect(names).toContain(`package/${file}`);
      // Sources and tests stay at home.
      expect(names.filter((name) => /(?<!\.d)\.tsx?$/.test(name))).toEqual([]);
    });

    it('has no finding of publint', () => {
      expect(tool('publint', 'run', packed(), '--strict')).toContain('All good!');
    });

    it.runIf(use)('has types that every resolution of modules finds', () => {
      const { analysis } = JSON.parse(tool('attw', packed(), '--format', 'json', '--profile', 'esm-only'));
      expect(analysis.types).toMatchObject({ kind: 'included' });
      // They are modules, which CommonJS loads by import(), or by require() since Node 20.19.
      const isCommonJs = (kind?: string) => kind === 'node10' || kind === 'node16-cjs';
      const problems = analysis.problems as readonly { readonly resolutionKind?: string }[];
      expect(problems.filter(({ resolutionKind }) => !isCommonJs(resolutionKind))).toEqual([]);
    });

    it.runIf(use)('is used with strict types, without any other package', () => {
      run('npm', ['install', '--offline', ...QUIET, packed()], project);
      writeFileSync(join(project, `${folder}.ts`), use ?? '');
      for (const resolution of ['--module nodenext', '--module esnext --moduleResolution bundler']) {
        const options = `--noEmit --strict --exactOptionalPropertyTypes --target es2022 ${resolution}`;
        run(join(ROOT, 'node_modules/.bin/tsc'), [...options.split(' '), `${folder}.ts`], project);
      }
    });
  });

  it('the command runs where only its package is installed', () => {
    const folder = join(project, 'packed/cli');
    run('npm', ['install', '--offline', ...QUIET, join(folder, readdirSync(folder)[0] ?? '')], project);
    expect(run('npx', ['--no-install', 'fatoura', '--version'], project)).toMatch(/^fatoura \d/);
  });
});
