import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientSuite, firstExample, root } from '../support/client-suite.ts';
import { hasTool } from '../support/tools.ts';

// The client for Go: its promises, its README, and the strict checks of its ecosystem.

const CLIENT = join(root, 'clients/go');
const CACHE = join(root, 'node_modules/.cache/client-go');
/** Downloaded by Go on the first run. */
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2';

describe.skipIf(!hasTool('go'))('with Go', () => {
  const program = join(CACHE, 'conformance');
  if (hasTool('go')) run(CLIENT, 'go', 'build', '-o', program, './conformance');

  clientSuite('Go', program, []);

  firstExample({ folder: 'go', fence: 'go', start: startExample, prints: /^accepted$/m });

  it.each([
    ['go', 'vet', './...'],
    ['go', 'test', './...'],
    ['go', 'run', STATICCHECK, '-checks', 'all', './...'],
  ])('%s %s finds nothing', (...command) => {
    run(CLIENT, ...command);
  });

  it('gofmt changes nothing', () => {
    expect(run(CLIENT, 'gofmt', '-l', '.')).toBe('');
  });
});

/** Puts the example into the program that the README speaks of. */
function startExample(example: string): [string, ...string[]] {
  const folder = join(CACHE, 'example');
  mkdirSync(folder, { recursive: true });
  const module = 'fatoura.example/fatoura';
  const imports = ['context', 'fmt', 'os', module].map((each) => `\t"${each}"\n`).join('');
  writeFileSync(
    join(folder, 'go.mod'),
    `module example\n\ngo 1.24\n\nrequire ${module} v0.0.0\n\nreplace ${module} => ${CLIENT}\n`,
  );
  writeFileSync(join(folder, 'main.go'), `package main\n\nimport (\n${imports})\n\nfunc main() {\n${example}}\n`);
  return ['go', 'run', '-C', folder, '.'];
}

function run(cwd: string, ...[program = '', ...args]: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}
