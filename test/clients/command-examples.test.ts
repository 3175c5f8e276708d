import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildCli } from '../../scripts/build-cli.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { root } from '../support/client-examples.ts';
import { freePort } from '../support/free-ports.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { csvOf, HEADERS, row } from '../support/imports.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';
import { workbookFile } from '../support/workbook-file.ts';

// Runs the lines of the guides that call `fatoura`, and the receiver that one of them starts, as they stand, in their
// order: what lasts goes on while the lines after it run. The command is built once, because its users start it as a file.

const EXAMPLES = Object.entries(
  Object.groupBy(examplesRunBy('test/clients/command-examples.test.ts'), ({ guide }) => guide),
);
/** Of the receiver, instead of 4000. */
const port = await freePort();
/** Commands that run until they are interrupted, how it is known that they are ready, and how they end. */
const LASTING = [
  { is: /^fatoura listen\b/, isReady: (text: string) => text.includes('Listening.'), code: 130 },
  { is: /^fatoura import --watch\b/, isReady: (text: string) => text.includes('orders-3.csv'), code: 130 },
  {
    is: /^node\b/,
    isReady: () =>
      fetch(`http://localhost:${port}`).then(
        ({ ok }) => ok,
        () => false,
      ),
    code: null,
  },
] as const;

let folder: string;
let service: TestService;
let secretKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fatoura-examples-'));
  [service] = await Promise.all([startService(), buildCli(root, join(folder, 'dist'))]);
  ({ secretKey } = await service.tenant());
  const client = new Client(service.url, secretKey);
  const { xml_url } = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  await mkdir(join(folder, 'inbox'));
  await mkdir(join(folder, 'bin'));
  const run = `#!/bin/sh\nexec '${process.execPath}' '${folder}/dist/fatoura.js' "$@"\n`;
  await writeFile(join(folder, 'bin/fatoura'), run, { mode: 0o755 });
  for (const [name, content] of Object.entries({
    'invoice.json': JSON.stringify(invoiceBody()),
    'invoice.xml': await (await fetch(xml_url)).text(),
    'orders.csv': csvOf([row('FA-1')]),
    'orders.xlsx': await workbookFile({ sheets: [{ rows: [HEADERS.split(';'), row('FA-2')] }] }),
    'inbox/orders-3.csv': csvOf([row('FA-3')]),
  }))
    await writeFile(join(folder, name), content);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A line with the addresses, the port and the key of this test. */
const filled = (line: string): string =>
  line
    .replace(/https:\/\/invoices\.example|http:\/\/localhost:3000/, service.url)
    .replace(/(?<=\blocalhost:|\blisten\()4000\b/, String(port))
    .replace('sk_test_…', secretKey);

/** Starts a line. @param settings what lines before it have exported */
function start(line: string, settings: readonly string[]) {
  const child = spawn('bash', ['-c', [...settings, `exec ${filled(line)}`].join('\n')], {
    cwd: folder,
    env: {
      PATH: `${folder}/bin:${process.env.PATH}`,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      KEY: secretKey,
    },
  });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (printed.text += part));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  // What `login` asks for.
  child.stdin.end(`${secretKey}\n`);
  return { child, printed, ended };
}

describe.skipIf(!hasTool('bash'))('the lines of the guides that call fatoura', () => {
  const lasting: (ReturnType<typeof start> & { readonly line: string; readonly code: number | null })[] = [];
  afterEach(() => {
    for (const { child } of lasting.splice(0)) child.kill('SIGKILL');
  });

  it('are in three guides', () => {
    expect(EXAMPLES.map(([guide]) => guide)).toEqual([
      'clients/cli/README.md',
      'docs/api/imports.md',
      'docs/api/quick-start.md',
    ]);
  });

  it.each(EXAMPLES)('%s', async (guide, examples = []) => {
    // The quick start exports its variables at its beginning, and the README's first line keeps the key.
    const settings = guide.endsWith('README.md')
      ? []
      : [filled('export FATOURA_KEY=sk_test_… FATOURA_URL=http://localhost:3000')];
    for (const { text: line } of examples) {
      if (line.startsWith('export ')) {
        settings.push(filled(line));
        continue;
      }
      const started = start(line, settings);
      const kind = LASTING.find(({ is }) => is.test(line));
      if (kind) {
        lasting.push({ ...started, line, code: kind.code });
        await expect.poll(() => kind.isReady(started.printed.text), { timeout: 20_000 }).toBe(true);
      } else expect([line, await started.ended], started.printed.text).toEqual([line, 0]);
    }
    // The test event that the quick start sends reaches its receiver.
    const receiver = lasting.find(({ line }) => line.startsWith('node '));
    if (receiver) await expect.poll(() => receiver.printed.text).toContain('"type":"invoice.accepted"');
    expect(receiver !== undefined).toBe(guide.endsWith('quick-start.md'));
    for (const { child, printed, ended, line, code } of lasting.toReversed()) {
      child.kill('SIGINT');
      expect([line, await ended], printed.text).toEqual([line, code]);
    }
  });

  it('import leaves what the guide says', async () => {
    expect(await readdir(join(folder, 'inbox'))).toEqual(expect.arrayContaining(['imported', 'results']));
    expect(await readdir(folder)).toContain('orders-result.xlsx');
  });
});

it('guides of users name no command of the operators, but where only operators can', async () => {
  const folders = ['docs', 'docs/api', 'docs/fr', 'clients/cli'];
  const pages = (
    await Promise.all(folders.map(async (each) => (await readdir(join(root, each))).map((name) => `${each}/${name}`)))
  )
    .flat()
    .filter((path) => path.endsWith('.md'));
  const found: string[] = [];
  for (const path of pages) if ((await readFile(join(root, path), 'utf8')).includes('npm run -s cli')) found.push(path);
  expect(found.toSorted()).toEqual([
    'clients/cli/README.md',
    'docs/api/authentication.md',
    'docs/api/going-live.md',
    'docs/fr/authentication.md',
    'docs/fr/going-live.md',
    'docs/operations.md',
    'docs/runbook.md',
  ]);
});
