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

/** Runs the given test files with a separate vitest; returns its exit code and its output. */
function output(files: Record<string, string>): { code: number | null; lines: string[] } {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      projectPath('node_modules/vitest/vitest.mjs'),
      ...['run', '--root', folder, '--globals', '--maxWorkers=1', '--no-isolate', '--reporter=default'],
      `--reporter=${projectPath('scripts/test-reporter.ts')}`,
    ],
    { encoding: 'utf8' },
  );
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

/** Like `output`, but with the last line only. */
function run(files: Record<string, string>): { code: number | null; lastLine: string | undefined } {
  const { code, lines } = output(files);
  return { code, lastLine: lines.at(-1) };
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

it('says once more before the closing line what failed, where and why', () => {
  const { lines } = output({
    'tests.test.ts': `it('a', () => {});\ndescribe('s', () => { it('b', () => {\n expect('x\\n'.repeat(9999)).toBe('y');\n}); });`,
    'hook.test.ts': `describe('t', () => { afterAll(() => { throw new Error('broken hook'); }); it('e', () => {}); });`,
    'import.test.ts': `import './missing.ts';`,
    'rejection.test.ts': `it('f', async () => { void Promise.reject(new Error('nobody waits')); await new Promise(setImmediate); });`,
  });
  expect(lines.at(-1)).toBe('tests: 3 passed, 4 failed');
  const told = lines.slice(-5, -1).sort();
  expect(told[0]).toMatch(/^-- failed: hook\.test\.ts > t: broken hook \(.*hook\.test\.ts:1\)$/);
  expect(told[1]).toMatch(/^-- failed: import\.test\.ts: .*missing\.ts/);
  expect(told[2]).toMatch(/^-- failed: outside a test: nobody waits/);
  expect(told[3]).toMatch(/^-- failed: tests\.test\.ts > s > b: expected 'x.* to be 'y'.* \(.*tests\.test\.ts:3\)$/);
  expect(told.every((line) => line.length < 600)).toBe(true);
});

it('says what differs in lists whose elements the message leaves out', () => {
  const { lines } = output({
    'tests.test.ts': `it('a', () => expect(Array(9).fill({ a: 1 })).toEqual([...Array(8).fill({ a: 1 }), { a: 2 }]));`,
  });
  expect(lines.at(-2)).toMatch(
    /^-- failed: tests\.test\.ts > a: expected \[.* to deeply equal .* - "a": 2, \+ "a": 1, \(/,
  );
});
