import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readName } from '../../scripts/release/packages.ts';
import { root } from '../support/client-examples.ts';
import { clientSuite, examplesInTurn, type FirstExample, firstExample } from '../support/client-suite.ts';
import { hasTool } from '../support/tools.ts';
import { verifyExample } from '../support/verify-example.ts';

// The client for Go: its promises, its README, and the strict checks of its ecosystem.

const CLIENT = join(root, 'clients/go');
const CACHE = join(root, 'node_modules/.cache/client-go');
/** Downloaded by Go on the first run. */
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2';

describe.skipIf(!hasTool('go'))('with Go', () => {
  const program = join(CACHE, 'conformance');
  if (hasTool('go')) run(CLIENT, 'go', 'build', '-o', program, './conformance');

  clientSuite('Go', program, []);

  const readme: FirstExample = {
    folder: 'go',
    fence: 'go',
    start: (source) => startProgram('example', ['context', 'fmt', 'os'], source),
    prints: /^accepted$/m,
  };
  firstExample(readme);
  examplesInTurn({
    ...readme,
    count: 4,
    start: (source) => startProgram('examples', ['context', 'errors', 'fmt', 'os'], source),
    joined: examplesProgram,
    prints: EXAMPLES_PRINT,
  });
  verifyExample({
    ...readme,
    start: (example) => startProgram('webhook', ['bytes', 'fmt', 'io', 'net/http', 'os'], webhookProgram(example)),
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

/** The further examples after the first, each in a function: one of them returns an error of the caller. */
function examplesProgram([first = '', ...further]: readonly string[]): string {
  const wrong =
    'invoice := fatoura.CreateInvoice{Customer: fatoura.CustomerInput{ICE: "1", Name: "Atlas"}, Lines: lines}';
  const amount = 'invoice.Amount, invoice.Currency = 12_000, "MAD"';
  const functions = further.map((example) => `fmt.Println(func() error {\n${example}return nil\n}())\n`);
  return `${first}${wrong}\n${amount}\n${functions.join('')}`;
}

/** The status of the first example, the refusal, the rejected invoice of the list, the status that is followed last. */
const EXAMPLES_PRINT = /^accepted\ncustomer\.ice: .+\n(inv_.+\n)+<nil>\n(\w+\n)*accepted\n<nil>\n$/;

/** The example with the request of a delivery, as a handler has it. */
function webhookProgram(example: string): string {
  const body = 'request, _ := http.NewRequest("POST", "/", bytes.NewBufferString(os.Getenv("BODY")))';
  const signature = 'request.Header.Set("Service-Signature", os.Getenv("SIGNATURE"))';
  return `${body}\n${signature}\n${example}`;
}

function startProgram(name: string, imports: readonly string[], body: string): [string, ...string[]] {
  return ['go', 'run', '-C', moduleOf(name, imports, `func main() {\n${body}}\n`), '.'];
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
