import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const projectPath = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs the given test files with a separate vitest; returns its exit code and its output. */
function output(files: Record<string, string>): { code: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'reporter-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      projectPath('node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      folder,
      '--globals',
      '--maxWorkers=1',
      '--no-isolate',
      '--reporter=default',
      `--reporter=${projectPath('scripts/test-reporter.ts')}`,
    ],
    { encoding: 'utf8' },
  );
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

it('closes a good run with the counts alone on a line', () => {
  const passing = `it('a', () => {}); it('b', () => {}); describe('s', () => { it('c', () => {}); });`;
  const { code, lines } = output({ 'a.test.ts': passing });
  expect([code, lines.at(-1)]).toEqual([0, 'tests: 3 passed, 0 failed']);
});

it('never says that nothing failed when no test was found', () => {
  const { code, lines } = output({});
  expect([code, lines.at(-1)]).toEqual([1, 'tests: 0 passed, 1 failed']);
});

describe('a run with failures', () => {
  let run: ReturnType<typeof output>;
  beforeAll(() => {
    run = output({
      'tests.test.ts': `it('a', () => {});\ndescribe('s', () => { it('b', () => {\n expect('x\\n'.repeat(9999)).toBe('y');\n}); });`,
      'skipped.test.ts': `it('g', () => {}); it.skip('h', () => {}); it.todo('i'); it('j', () => expect(1).toBe(2));`,
      'hook.test.ts': `describe('t', () => { afterAll(() => { throw new Error('broken hook'); }); it('e', () => {}); });`,
      'import.test.ts': `import './missing.ts';`,
      'lists.test.ts': `it('k', () => expect(Array(9).fill({ a: 1 })).toEqual([...Array(8).fill({ a: 1 }), { a: 2 }]));`,
      'rejection.test.ts': `it('f', async () => { void Promise.reject(new Error('nobody waits')); await new Promise(setImmediate); });`,
    });
  });
  const told = () => run.lines.slice(-7, -1).sort();

  it('counts skipped tests, and what failed outside a test', () => {
    expect([run.code, run.lines.at(-1)]).toEqual([1, 'tests: 4 passed, 6 failed, 2 skipped']);
  });

  it('says once more before the closing line what failed, where and why', () => {
    const [ofHook, ofImport, ofList, outside, ofValue, ofText] = told();
    expect(ofHook).toMatch(/^-- failed: hook\.test\.ts > t: broken hook \(.*hook\.test\.ts:1\)$/);
    expect(ofImport).toMatch(/^-- failed: import\.test\.ts: .*missing\.ts/);
    expect(ofList).toMatch(/^-- failed: lists\.test\.ts > k: /);
    expect(outside).toMatch(/^-- failed: outside a test: nobody waits/);
    expect(ofValue).toMatch(/^-- failed: skipped\.test\.ts > j: expected 1 to be 2/);
    expect(ofText).toMatch(/^-- failed: tests\.test\.ts > s > b: expected 'x.* to be 'y'.* \(.*tests\.test\.ts:3\)$/);
    expect(told().every((line) => line.length < 600)).toBe(true);
  });

  it('says what differs in lists whose elements the message leaves out', () => {
    expect(told().find((line) => line.includes('lists.test.ts'))).toMatch(
      /^-- failed: lists\.test\.ts > k: expected \[.* to deeply equal .* - "a": 2, \+ "a": 1, \(/,
    );
  });
});
