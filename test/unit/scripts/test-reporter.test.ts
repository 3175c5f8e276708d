import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const projectPath = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reporter-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the given test files in a vitest of their own; returns its exit code and its last line of output. */
function run(files: Record<string, string>): { code: number | null; lastLine: string | undefined } {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      projectPath('node_modules/vitest/vitest.mjs'),
      ...['run', '--root', folder, '--globals', '--reporter=default'],
      `--reporter=${projectPath('scripts/test-reporter.ts')}`,
    ],
    { encoding: 'utf8' },
  );
  return { code: status, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

it('closes a good run with the counts alone on a line', () => {
  const passing = `it('a', () => {}); it('b', () => {}); describe('s', () => { it('c', () => {}); });`;
  expect(run({ 'a.test.ts': passing })).toEqual({ code: 0, lastLine: 'tests: 3 passed, 0 failed' });
});

it('counts skipped tests, and what failed outside a test', () => {
  const result = run({
    'tests.test.ts': `it('a', () => {}); it.skip('b', () => {}); it.todo('c'); it('d', () => expect(1).toBe(2));`,
    'hook.test.ts': `describe('s', () => { afterAll(() => { throw new Error('hook'); }); it('e', () => {}); });`,
    'import.test.ts': `import './missing.ts';`,
  });
  expect(result).toEqual({ code: 1, lastLine: 'tests: 2 passed, 3 failed, 2 skipped' });
});

it('never says that nothing failed when no test was found', () => {
  expect(run({})).toEqual({ code: 1, lastLine: 'tests: 0 passed, 1 failed' });
});
