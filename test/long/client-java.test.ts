import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/client-examples.ts';
import { clientSuite, examplesInTurn, type FirstExample, firstExample } from '../support/client-suite.ts';
import { hasTool } from '../support/tools.ts';
import { verifyExample } from '../support/verify-example.ts';

// The client for Java: its promises, its README, and a build with every warning of the compiler as an error. Maven
// downloads what it needs on the first run.

const CLIENT = join(root, 'clients/java');
const CACHE = join(root, 'node_modules/.cache/client-java');
const CLASSES = [join(CLIENT, 'target/classes'), join(CLIENT, 'target/dependency/*')].join(':');
const hasTools = hasTool('java') && hasTool('javac') && hasTool('mvn');

describe.skipIf(!hasTools)('with Java and Maven', () => {
  if (hasTools) maven('clean', 'test-compile', 'dependency:copy-dependencies');

  clientSuite('Java', 'java', ['-cp', `${join(CLIENT, 'target/test-classes')}:${CLASSES}`, 'fatoura.Conformance']);

  const readme: FirstExample = {
    folder: 'java',
    fence: 'java',
    start: (source) => startProgram('First', '', source),
    prints: /^accepted$/m,
  };
  firstExample(readme);
  examplesInTurn({
    ...readme,
    count: 4,
    start: (source) => startProgram('Further', '', source),
    joined: examplesProgram,
    prints: EXAMPLES_PRINT,
  });
  verifyExample({
    ...readme,
    start: (example) => startProgram('Webhook', 'throws Exception ', webhookProgram(example)),
    error: 'FatouraException$Signature',
  });

  it('its own tests pass, and javac -Xlint:all -Werror has no warning', () => {
    expect(maven('verify')).not.toMatch(/WARNING/);
  });
});

/** The further examples after the first, each in a block: the service refuses the invoice of one. */
function examplesProgram([first = '', ...further]: readonly string[]): string {
  const wrong = 'var invoice = CreateInvoice.of(12_000, "MAD", CustomerInput.of("1", "Atlas"), lines);\n';
  return `${first}System.setErr(System.out);\n${wrong}${further.map((example) => `{\n${example}}\n`).join('')}`;
}

/** The status of the first example, the refusal, the rejected invoice of the list, the status that is followed last. */
const EXAMPLES_PRINT = /^accepted\ncustomer\.ice: .+\n(inv_.+\n)+(\w+\n)*accepted\n$/;

/** The example in the handler of a server that gets the delivery. It answers the type of the event, or the error. */
function webhookProgram(example: string): string {
  return `
    var server = com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      String answer;
      try {
        ${example}
        answer = event.type().toString();
      } catch (FatouraException.Signature error) {
        answer = error.toString();
      }
      exchange.sendResponseHeaders(200, 0);
      try (var written = exchange.getResponseBody()) {
        written.write(answer.getBytes());
      }
    });
    server.start();
    var delivery = java.net.http.HttpRequest
        .newBuilder(java.net.URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))
        .header("Service-Signature", System.getenv("SIGNATURE"))
        .POST(java.net.http.HttpRequest.BodyPublishers.ofString(System.getenv("BODY")))
        .build();
    var answer = java.net.http.HttpClient.newHttpClient()
        .send(delivery, java.net.http.HttpResponse.BodyHandlers.ofString())
        .body();
    System.out.println(answer);
    System.exit(answer.contains("Exception") ? 1 : 0);
  `;
}

/** Compiles a class whose `main` has this source and what the README says that it imports. @returns what runs it */
function startProgram(name: string, throws: string, source: string): [string, ...string[]] {
  const folder = join(CACHE, name);
  mkdirSync(folder, { recursive: true });
  const imports = ['fatoura.*', 'fatoura.Models.*', 'java.util.List'].map((each) => `import ${each};\n`).join('');
  const file = join(folder, `${name}.java`);
  writeFileSync(
    file,
    `${imports}\nclass ${name} {\npublic static void main(String[] args) ${throws}{\n${source}}\n}\n`,
  );
  run('javac', '-Xlint:all', '-Werror', '-proc:none', '-cp', CLASSES, '-d', folder, file);
  return ['java', '-cp', `${folder}:${CLASSES}`, name];
}

function maven(...goals: string[]): string {
  return run('mvn', '-B', ...goals);
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: CLIENT, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}
