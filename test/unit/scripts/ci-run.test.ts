import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolPath } from '../../support/tools.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const REFERENCE = join(PROJECT, '../shared/mongodb-references/start');

/** What .ci/run calls. A machine's whole PATH would be linked anew in each run, and may have an apt-get that installs. */
const TOOLS = [
  'bash',
  'cat',
  'dirname',
  'env',
  'find',
  'grep',
  'ln',
  'mkdir',
  'mktemp',
  'rm',
  'seq',
  'sh',
  'sleep',
  'sort',
  'tail',
  'tee',
  'timeout',
  'uname',
];

let parent: string;
let project: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'ci-'));
  mkdirSync(join(parent, 'tools'));
  for (const tool of TOOLS) symlinkSync(toolPath(tool) as string, join(parent, 'tools', tool));
  project = join(parent, 'project');
  mkdirSync(join(project, '.ci'), { recursive: true });
  copyFileSync(join(PROJECT, '.ci/run'), join(project, '.ci/run'));
  for (const tool of ['xmlsec1', 'pdftotext', 'xmllint', 'chromium', 'softhsm2-util', 'haproxy', 'python3'])
    script(`../bin/${tool}`, '');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** Writes an executable, its path relative to the project. */
function script(path: string, text: string): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

/** Runs .ci/run with an `npm` that does what is given for each of its commands. */
function run(npm: { ci?: string; check?: string; advisories?: string; test?: string }): {
  code: number | null;
  output: string;
  last: string;
} {
  const runs = `case $3 in check) ${npm.check ?? ':'};; advisories) ${npm.advisories ?? ':'};; esac`;
  script('../bin/npm', `case $1 in ci) ${npm.ci ?? ':'};; run) ${runs};; test) ${npm.test ?? ':'};; esac`);
  const { status, stdout } = spawnSync('bash', ['.ci/run'], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(parent, 'bin')}:${join(parent, 'tools')}`, TMPDIR: parent },
  });
  return { code: status, output: stdout, last: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

const GOOD = 'echo "tests: 12 passed, 0 failed, 2 skipped"';

describe.skipIf(process.platform !== 'linux')('.ci/run', () => {
  it('passes when every step passes, its count on the last line', () => {
    const { code, output, last } = run({ test: GOOD });
    expect({ code, last }).toEqual({ code: 0, last: 'ci: 12 passed, 0 failed, 2 skipped' });
    expect(output).toContain('no second server here');
  });

  it.each([
    ['the install fails, and runs nothing else', { ci: 'exit 1', test: GOOD }, 'ci: 0 passed, 1 failed, 0 skipped'],
    [
      'the checks fail, and runs the tests all the same',
      { check: 'exit 1', test: GOOD },
      'ci: 12 passed, 1 failed, 2 skipped',
    ],
    [
      'an advisory concerns a locked package',
      { advisories: 'exit 1', test: GOOD },
      'ci: 12 passed, 1 failed, 2 skipped',
    ],
    ['tests fail', { test: 'echo "tests: 3 passed, 4 failed"; exit 1' }, 'ci: 3 passed, 4 failed, 0 skipped'],
    ['a run fails that says it passed', { test: `${GOOD}; exit 1` }, 'ci: 12 passed, 1 failed, 2 skipped'],
    ['a run says nothing', { test: ':' }, 'ci: 0 passed, 1 failed, 0 skipped'],
  ])('fails when %s', (_, npm, last) => {
    expect(run(npm)).toMatchObject({ code: 1, last });
  });

  it('says at its end once more which steps and tests failed', () => {
    const failing = 'echo "-- failed: a.test.ts > b: c"; seq 9999; echo "tests: 3 passed, 1 failed"; exit 1';
    const { output } = run({ check: 'exit 1', test: failing });
    expect(output.trimEnd().split('\n').slice(-4)).toEqual([
      '-- failed: npm run --silent check',
      '-- failed: npm test',
      '-- failed: a.test.ts > b: c',
      'ci: 3 passed, 2 failed, 0 skipped',
    ]);
  });

  it('runs all tests without the tools that a machine may lack, then those with them that ask for one', () => {
    const asksFor = (tool: string) => `it.skipIf(!hasTool${`('${tool}')`})`;
    script('test/unit/asks.test.ts', asksFor('xmlsec1'));
    script('test/unit/asks-poppler.test.ts', asksFor('pdfsig'));
    script('test/unit/asks-for-what-is-there.test.ts', asksFor('openssl'));
    script('test/unit/asks-nothing.test.ts', '');
    script('test/long/asks.test.ts', asksFor('xmlsec1'));
    const found =
      '$(for each in chromium xmlsec1 pdftotext xmllint; do command -v $each >/dev/null && echo -n "$each "; done)';
    const { last } = run({ test: `echo "${found}$*" >> calls; echo "tests: 5 passed, 0 failed"` });
    expect(last).toBe('ci: 10 passed, 0 failed, 0 skipped');
    expect(readFileSync(join(project, 'calls'), 'utf8').trimEnd().split('\n')).toEqual([
      'xmllint test',
      'chromium xmlsec1 pdftotext xmllint test -- test/unit/asks-poppler.test.ts test/unit/asks.test.ts',
    ]);
  });

  it('finds every test that depends on a tool: no helper asks for one', () => {
    const helpers = globSync('test/**/*.ts', { cwd: PROJECT }).filter((file) => !file.endsWith('.test.ts'));
    const asking = helpers.filter((file) => /\bhasTool\b/.test(readFileSync(join(PROJECT, file), 'utf8')));
    expect(asking).toEqual(['test/support/tools.ts']);
    // And .ci/run can read which tool it is.
    const unread = globSync('test/**/*.test.ts', { cwd: PROJECT }).filter((file) =>
      /\bhasTool\((?!')/.test(readFileSync(join(PROJECT, file), 'utf8')),
    );
    expect(unread).toEqual([]);
  });

  it('skips each test of pages where there is no browser', () => {
    const files = globSync('test/browser/*.test.ts', { cwd: PROJECT });
    expect(files.length).toBeGreaterThan(10);
    const withoutSkip = files.filter(
      (file) =>
        !/^(describe|it|test)\.skipIf\(BROWSER_PATH === null\)/m.test(readFileSync(join(PROJECT, file), 'utf8')),
    );
    expect(withoutSkip).toEqual([]);
  });

  describe('with a second server beside the project', () => {
    const suite = 'echo "$TEST_MONGODB_URL $*" >> calls; echo "tests: 5 passed, 0 failed"';
    beforeEach(() => {
      script('test/storage/a.test.ts', 'startTestMongo');
      script('test/storage/without-a-store.test.ts', '');
      mkdirSync(join(project, 'test/conformance'), { recursive: true });
      symlinkSync(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
    });

    it('fails when that does not start', () => {
      script('../shared/mongodb-references/start', 'echo no store >&2; exit 1');
      const { code, output, last } = run({ test: suite });
      expect({ code, last }).toEqual({ code: 1, last: 'ci: 5 passed, 1 failed, 0 skipped' });
      expect(output).toContain('no store');
    });

    it.skipIf(!existsSync(REFERENCE))('runs the suites that have a store on it too, and ends it', () => {
      script('../shared/mongodb-references/start', `echo $$ > pid; exec ${REFERENCE} "$@"`);
      const { code, last } = run({ test: suite });
      expect({ code, last }).toEqual({ code: 0, last: 'ci: 10 passed, 0 failed, 0 skipped' });
      const [first, second] = readFileSync(join(project, 'calls'), 'utf8').split('\n');
      expect(first).toBe(' test');
      expect(second).toMatch(
        /^mongodb:\/\/127\.0\.0\.1:\d+\/\?replicaSet=secantus test -- test\/storage\/a\.test\.ts$/,
      );
      const pid = Number(readFileSync(join(project, 'pid'), 'utf8'));
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });
  });
});
