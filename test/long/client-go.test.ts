import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readName } from '../../scripts/release/packages.ts';
import { examplesOf, root } from '../support/client-examples.ts';
import { clientSuite, firstExample } from '../support/client-suite.ts';
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

  it('the further examples of the README compile', () => {
    run(root, 'go', 'vet', '-C', examplesModule(examplesOf('go', 'go').slice(1)), '.');
  });

  it.each([
    ['go', 'vet', './...'],
    ['go', 'test', './...'],
    ['go', 'run', STATICCHECK, '-checks', 'all', './...'],
  ])('%s %s %s finds nothing', (...command) => {
    run(CLIENT, ...command);
  });

  it('gofmt changes nothing', () => {
    expect(run(CLIENT, 'gofmt', '-l', '.')).toBe('');
  });
});

/** Puts the example into the program that the README speaks of. */
function startExample(example: string): [string, ...string[]] {
  const main = `func main() {\n${example}}\n`;
  return ['go', 'run', '-C', moduleOf('example', ['context', 'fmt', 'os'], main), '.'];
}

/** Puts each example into a function that has what it speaks of. */
function examplesModule(examples: readonly string[]): string {
  const given =
    'ctx context.Context, client *fatoura.Client, invoice fatoura.CreateInvoice, created *fatoura.Creation, request *http.Request';
  const functions = examples.map((example, nth) => `func Example${nth}(${given}) error {\n${example}return nil\n}\n`);
  return moduleOf(
    'examples',
    ['context', 'errors', 'fmt', 'io', 'net/http', 'os'],
    `${functions.join('\n')}func main() {}\n`,
  );
}

/** Writes a program with the client, and returns its folder. */
function moduleOf(name: string, imports: readonly string[], code: string): string {
  const folder = join(CACHE, name);
  mkdirSync(folder, { recursive: true });
  const client = readName('go.mod', readFileSync(join(CLIENT, 'go.mod'), 'utf8'));
  const required = `require ${client} v0.0.0\n\nreplace ${client} => ${CLIENT}\n`;
  writeFileSync(join(folder, 'go.mod'), `module example\n\ngo 1.24\n\n${required}`);
  const imported = [...imports, client].map((each) => `\t"${each}"\n`).join('');
  writeFileSync(join(folder, 'main.go'), `package main\n\nimport (\n${imported})\n\n${code}`);
  return folder;
}

function run(cwd: string, ...[program = '', ...args]: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}
