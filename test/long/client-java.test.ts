import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examplesOf, root } from '../support/client-examples.ts';
import { clientSuite, firstExample } from '../support/client-suite.ts';
import { hasTool } from '../support/tools.ts';

// The client for Java: its promises, its README, and a build with every warning of the compiler as an error. Maven
// downloads what it needs on the first run.

const CLIENT = join(root, 'clients/java');
const CACHE = join(root, 'node_modules/.cache/client-java');
const CLASSES = [join(CLIENT, 'target/classes'), join(CLIENT, 'target/dependency/*')].join(':');
const hasTools = hasTool('java') && hasTool('javac') && hasTool('mvn');

describe.skipIf(!hasTools)('with Java and Maven', () => {
  if (hasTools) maven('clean', 'test-compile', 'dependency:copy-dependencies');

  clientSuite('Java', 'java', ['-cp', `${join(CLIENT, 'target/test-classes')}:${CLASSES}`, 'fatoura.Conformance']);

  firstExample({ folder: 'java', fence: 'java', start: startExample, prints: /^accepted$/m });

  it('the further examples of the README compile', () => {
    const methods = examplesOf('java', 'java').slice(1).map(methodOf);
    const file = sourceOf('Examples', methods.join('\n'));
    run('javac', '-Xlint:all', '-Werror', '-proc:none', '-cp', CLASSES, '-d', CACHE, file);
  });

  it('its own tests pass, and javac -Xlint:all -Werror has no warning', () => {
    expect(maven('verify')).not.toMatch(/WARNING/);
  });
});

/** Puts the example into the class that the README speaks of. */
function startExample(example: string): [string, ...string[]] {
  const main = `public static void main(String[] args) {\n${example}}\n`;
  return ['java', '-cp', CLASSES, sourceOf('Example', main)];
}

/** A method that has what an example speaks of. */
function methodOf(example: string, nth: number): string {
  const given =
    'Fatoura fatoura, CreateInvoice invoice, Invoices.Creation created, com.sun.net.httpserver.HttpExchange exchange';
  return `static void example${nth}(${given}) throws Exception {\n${example}}\n`;
}

/** Writes a class with the imports that the README names, and returns its file. */
function sourceOf(name: string, members: string): string {
  mkdirSync(CACHE, { recursive: true });
  const imports = ['fatoura.*', 'fatoura.Models.*', 'java.util.List'].map((each) => `import ${each};\n`).join('');
  const file = join(CACHE, `${name}.java`);
  writeFileSync(file, `${imports}\nclass ${name} {\n${members}}\n`);
  return file;
}

function maven(...goals: string[]): string {
  return run('mvn', '-B', ...goals);
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: CLIENT, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}
