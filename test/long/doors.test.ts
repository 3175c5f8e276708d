import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readName } from '../../scripts/release/packages.ts';
import { BROWSER_PATH, startBrowser } from '../support/browser.ts';
import { examplesOf, root } from '../support/client-examples.ts';
import { type EmptyMachine, emptyMachine } from '../support/empty-machine.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { pressAt, typeAt } from '../support/keyboard.ts';
import { hasTool } from '../support/tools.ts';

// The first accepted invoice by each door, from an empty machine: no cache of any tool, each user with an empty home, and
// packages as a release has them, installed by the lines of their READMEs. It prints the seconds, which docs/figures.md
// has.

/** Seconds that a door may take. */
const MOST = 180;
const ACCEPTED = /status\W+accepted|^accepted$/m;
/** A spreadsheet of two invoices, as a program for accounts exports it. @param series what their own numbers begin with */
const spreadsheet = (series: string): string =>
  [
    'Facture;Client;ICE;Désignation;Qté;Prix unitaire HT;TVA',
    `${series}1;Atlas Distribution SARL;001234567000062;Réparation;2;1 234,50;20 %`,
    `${series}1;;;Pièces détachées;1,5;80,00;20 %`,
    `${series}2;Café du Rif;000230456000028;Œuvre reliée;1;12 000;10 %`,
  ].join('\r\n');

const examples = examplesRunBy('test/long/doors.test.ts');
const linesOf = (guide: string): string =>
  examples.flatMap((each) => (each.guide === guide ? [each.text] : [])).join('\n');
const START = linesOf('README.md');

let machine: EmptyMachine;
beforeAll(async () => {
  machine = await emptyMachine(root, START);
  console.log(`${START}: ${machine.startSeconds.toFixed(0)} s`);
}, 20 * 60_000);
afterAll(() => machine.close());

/** Runs what a user does at a door, and prints how long it takes. @param before seconds of what others did for him */
async function timed<Result>(door: string, open: () => Promise<Result>, before = 0): Promise<Result> {
  const started = performance.now();
  const result = await open();
  const seconds = before + (performance.now() - started) / 1000;
  console.log(`${door}: ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThanOrEqual(MOST);
  return result;
}

const first = (folder: string, fence: string): string => examplesOf(folder, fence)[0] ?? '';
/**
 * Installs a client as its README says.
 * @param given the package, in the folder or beside it @param before what the user has set up, for the same shell
 * @returns the folder of his program
 */
async function installed(client: string, given: RegExp, before = ''): Promise<string> {
  const folder = await machine.folder(given);
  const lines = linesOf(`clients/${client}/README.md`);
  if (!lines) throw new Error(`the README of ${client} does not say how it is installed`);
  machine.run(folder, 'bash', '-ec', `${before}\n${lines}`);
  return folder;
}
/** Starts the command as `npx fatoura` does once the package is published. */
const npx = (folder: string, ...args: string[]) =>
  machine.run(folder, 'npx', '--yes', `--package=${machine.package(/^fatoura-\d.*\.tgz$/)}`, 'fatoura', ...args);

it('curl, by the README', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section = ''] = readme.split('## First invoice');
  const [create, read] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, lines = '']) =>
    lines.replace('sk_test_…', machine.secretKey).replaceAll('localhost:3000', new URL(machine.url).host),
  );
  const script = `${create?.replace('curl', 'curl -o created.json')}
    ID=$(grep -o 'inv_[0-9a-f-]*' created.json | head -1)
    until { ${read?.replace('ID=inv_…', '')} } | tee read.json | grep -Eq '"status": ?"accepted"'; do sleep 0.2; done
    cat read.json`;
  const printed = await timed('curl', async () => machine.run(await machine.folder(), 'bash', '-ec', script));
  expect(printed).toMatch(ACCEPTED);
});

it('the client for TypeScript', async () => {
  const printed = await timed('TypeScript', async () => {
    const folder = await installed('typescript', /^fatoura-client-\d.*\.tgz$/);
    writeFileSync(join(folder, 'first.mjs'), first('typescript', 'ts'));
    return machine.run(folder, 'node', 'first.mjs');
  });
  expect(printed).toMatch(ACCEPTED);
});

it.skipIf(!hasTool('python3'))('the client for Python', async () => {
  const printed = await timed('Python', async () => {
    const folder = await installed('python', /\.whl$/, 'python3 -m venv venv && . venv/bin/activate');
    return machine.run(folder, 'venv/bin/python', '-c', first('python', 'python'));
  });
  expect(printed).toMatch(ACCEPTED);
});

it.skipIf(!hasTool('composer'))('the client for PHP', async () => {
  const printed = await timed('PHP', async () => {
    const folder = await installed('php', /^fatoura-client-php-/);
    return machine.run(folder, 'php', '-r', first('php', 'php'));
  });
  expect(printed).toMatch(ACCEPTED);
});

/** What the README says that a project depends on: group, artifact and version. */
const [, DEPENDENCY = ''] =
  /depend on `([^`]+)`/.exec(readFileSync(join(root, 'clients/java/README.md'), 'utf8')) ?? [];
/** A project of Maven with one dependency. */
function projectWith(dependency: string): string {
  const [group, artifact, version] = dependency.split(':');
  const named = (name: string) =>
    `<groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version>`;
  return `<project><modelVersion>4.0.0</modelVersion>${named('shop')}
    <dependencies><dependency>${named(artifact ?? '')}</dependency></dependencies></project>`;
}

it.skipIf(!hasTool('mvn'))('the client for Java', async () => {
  const printed = await timed('Java', async () => {
    const folder = await installed('java', /^fatoura-client-java-/);
    writeFileSync(join(folder, 'pom.xml'), projectWith(DEPENDENCY));
    machine.run(folder, 'mvn', '-B', '-q', 'dependency:copy-dependencies');
    const imports = ['fatoura.*', 'fatoura.Models.*', 'java.util.List'].map((each) => `import ${each};`).join('\n');
    const main = `public static void main(String[] args) {\n${first('java', 'java')}}`;
    writeFileSync(join(folder, 'First.java'), `${imports}\nclass First {\n${main}\n}\n`);
    return machine.run(folder, 'java', '-cp', 'target/dependency/*', 'First.java');
  });
  expect(printed).toMatch(ACCEPTED);
});

it.skipIf(!hasTool('go'))('the client for Go', async () => {
  const module = readName('go.mod', readFileSync(join(root, 'clients/go/go.mod'), 'utf8'));
  const printed = await timed('Go', async () => {
    const folder = await installed('go', /^fatoura-client-go-/);
    const imports = ['context', 'fmt', 'os', module].map((each) => `\t"${each}"`).join('\n');
    const main = `func main() {\n${first('go', 'go')}}\n`;
    writeFileSync(join(folder, 'main.go'), `package main\n\nimport (\n${imports}\n)\n\n${main}`);
    return machine.run(folder, 'go', 'run', '.');
  });
  expect(printed).toMatch(ACCEPTED);
});

it('the command', async () => {
  const printed = await timed('command', async () => {
    // Where `npm install --global` puts it: not into the folders of this machine.
    const global = 'export npm_config_prefix=$HOME/global PATH=$HOME/global/bin:$PATH';
    const folder = await installed('cli', /^fatoura-\d.*\.tgz$/, global);
    return machine.run(folder, 'bash', '-ec', `${global}\nfatoura invoices create --example --wait`);
  });
  expect(printed).toMatch(/accepted/);
});

it('a spreadsheet, by the command', async () => {
  const printed = await timed('spreadsheet, command', async () => {
    const folder = await machine.folder();
    writeFileSync(join(folder, 'ventes.csv'), spreadsheet('C'));
    return npx(folder, 'import', 'ventes.csv');
  });
  expect(printed).toMatch(/\b2 of them accepted/);
});

it('an agent, by fatoura mcp', async () => {
  const decided = await timed('MCP', async () => {
    const folder = await machine.folder();
    machine.run(folder, 'npm', 'install', machine.package(/^fatoura-\d.*\.tgz$/));
    const server = spawn('node_modules/.bin/fatoura', ['mcp', '--allow-issue'], {
      cwd: folder,
      env: machine.environment(folder),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const ask = async (method: string, params: object) => {
      send({ id: method, method, params });
      return JSON.parse((await lines.next()).value ?? '{}').result;
    };
    const call = async (name: string, given: object) =>
      JSON.parse((await ask('tools/call', { name, arguments: given })).content[0].text);
    const clientInfo = { name: 'doors', version: '1' };
    await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    send({ method: 'notifications/initialized' });
    const draft = await call('create_draft', {
      content: {
        amount: 12_000,
        currency: 'MAD',
        customer: { ice: '001234567000089', name: 'Atlas SARL' },
        lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000, taxRate: 20 }],
      },
    });
    const { invoice } = await call('issue_draft', { id: draft.id, version: draft.version });
    const result = await call('wait_for_decision', { id: invoice.id });
    server.stdin.end();
    return result;
  });
  expect(decided).toMatchObject({ status: 'accepted' });
});

describe.skipIf(BROWSER_PATH === null)('the pages (skipped without Chromium)', () => {
  let browser: Browser;
  let page: Page;
  /** Seconds from the link that the first start printed to the merchant's home. */
  let signUp = 0;
  beforeAll(async () => {
    const started = performance.now();
    browser = await startBrowser();
    page = await (await browser.createBrowserContext()).newPage();
    await page.goto(machine.invitationUrl);
    await typeAt(page, '[name=name]', 'Amina');
    await typeAt(page, '[name=email]', 'amina@example.com');
    await typeAt(page, '[name=chosenPassword]', 'correct horse battery 7');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.home h1');
    signUp = (performance.now() - started) / 1000;
  });
  afterAll(() => browser.close());

  it("the merchant's form", async () => {
    const open = async () => {
      await pressAt(page, '.sections a[href$="/invoices"]');
      await pressAt(page, 'main a[href$="/invoices/new"]');
      await typeAt(page, '#name', 'Café de la Gare');
      await pressAt(page, '.creation [type=submit]');
      await page.waitForSelector('.status[data-status=accepted]');
    };
    await timed('page', open, signUp);
  });

  it('a spreadsheet', async () => {
    const file = join(await machine.folder(), 'ventes.csv');
    writeFileSync(file, spreadsheet('P'));
    const open = async () => {
      await pressAt(page, '.sections a[href$="/imports"]');
      const input = await page.waitForSelector('input[type=file]');
      await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(file);
      await page.waitForSelector('[data-import=checked]');
      await pressAt(page, '.import-progress .primary');
      await page.waitForSelector('[data-import=done]');
      await page.waitForSelector('.imported [data-status=accepted]');
    };
    await timed('spreadsheet, page', open, signUp);
  });
});
