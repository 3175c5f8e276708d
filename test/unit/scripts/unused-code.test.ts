import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const project = fileURLToPath(new URL('../../../', import.meta.url));

const TREE: Record<string, string> = {
  'package.json': JSON.stringify({ type: 'module', scripts: { start: 'node src/main.ts' } }),
  'src/main.ts': `import { cents } from './money.ts';
    import { Page } from './dashboard/page.tsx';
    console.log(cents(1), Page, new URL('./work.ts', import.meta.url), await import('./late.ts'));`,
  'src/money.ts': `export const rate = 1;
    export interface Sum {}
    export interface Lonely {}
    export const cents = (sum: unknown): Sum => rate as Sum;
    export const [one, two] = [1, 2];
    /** @public */
    export function forOthers() {}
    export function tested() {}`,
  'src/work.ts': 'export default function run() {}',
  'src/late.ts': 'export const late = 1;',
  'src/own-thread.ts': 'export default function run() {}',
  'src/nobody.ts': 'export const nobody = 1;',
  'src/dashboard/page.tsx': 'export const Page = () => <p>…</p>; export const Part = () => <b />;',
  'test/a.test.ts': `import { tested } from '../src/money.ts'; tested();`,
};

it('knip.json lets exports pass that a module, a test or people use, and refuses the others', () => {
  const root = mkdtempSync(join(tmpdir(), 'unused-'));
  try {
    cpSync(join(project, 'knip.json'), join(root, 'knip.json'));
    symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'));
    for (const [file, text] of Object.entries(TREE)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    const script = `
      process.argv.push('--no-progress', '--no-exit-code', '--reporter', 'json');
      await import(${JSON.stringify(join(project, 'node_modules/knip/bin/knip.js'))});`;
    const found = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
    type Names = readonly { readonly name: string }[];
    const { issues } = JSON.parse(found.toString()) as {
      issues: Record<'files' | 'exports' | 'types', Names>[];
    };
    const named = issues.flatMap(({ files, exports, types }) =>
      [...files, ...exports, ...types].map(({ name }) => name),
    );
    expect(named.toSorted()).toEqual(['Lonely', 'Part', 'one', 'rate', 'src/nobody.ts', 'two']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
