import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli } from '../../scripts/build-cli.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { root } from '../support/client-examples.ts';
import { csvOf, HEADERS, row } from '../support/imports.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';
import { workbookFile } from '../support/workbook-file.ts';

// Runs the lines of the guides that call `fatoura`, as they stand, block by block. The command is built once, because
// its users start it as a file.

const GUIDES = ['clients/cli/README.md', 'docs/api/quick-start.md', 'docs/api/imports.md'];
/** Commands that run until they are interrupted, and what they say once they are ready. */
const LASTING = [
  [/^fatoura listen\b/, 'Listening.'],
  [/^fatoura import --watch\b/, 'orders-3.csv'],
] as const;

let folder: string;
let service: TestService;
let receiver: Receiver;
let secretKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fatoura-examples-'));
  [service, receiver] = await Promise.all([
    startService({ ALLOW_INSECURE_WEBHOOKS: 'true' }),
    startReceiver(),
    buildCli(root, join(folder, 'dist')),
  ]);
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
  await Promise.all([service.close(), receiver.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** The blocks of a guide that call the command, without the lines that install it. */
async function blocksOf(guide: string): Promise<string[][]> {
  const text = await readFile(join(root, guide), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, block = '']) => block.split('\n').filter((line) => /^(?:fatoura|export) /.test(line)))
    .filter((lines) => lines.some((line) => line.startsWith('fatoura ')));
}

/** A line with the addresses and the key of this test. */
const filled = (line: string): string =>
  line
    .replace(/https:\/\/invoices\.example|http:\/\/localhost:3000/, service.url)
    .replace(/(?:http:\/\/)?localhost:4000/, receiver.url)
    .replace('sk_test_…', secretKey);

/** Starts a line. @param settings what lines before it have exported */
function start(line: string, settings: readonly string[]) {
  const child = spawn('bash', ['-c', [...settings, `exec ${filled(line)}`].join('\n')], {
    cwd: folder,
    env: {
      ...{ PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') },
      ...{ KEY: secretKey },
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
  it.each(GUIDES)('%s', async (guide) => {
    const blocks = await blocksOf(guide);
    expect(blocks.length).toBeGreaterThan(0);
    // The quick start exports its variables at its beginning, and the README's first line keeps the key.
    const settings = guide.endsWith('README.md')
      ? []
      : [filled('export FATOURA_KEY=sk_test_… FATOURA_URL=http://localhost:3000')];
    for (const line of blocks.flat()) {
      if (line.startsWith('export ')) {
        settings.push(filled(line));
        continue;
      }
      const { child, printed, ended } = start(line, settings);
      const [, ready] = LASTING.find(([pattern]) => pattern.test(line)) ?? [];
      if (ready !== undefined) {
        await expect.poll(() => printed.text, { timeout: 20_000 }).toContain(ready);
        child.kill('SIGINT');
      }
      expect([line, await ended], printed.text).toEqual([line, ready === undefined ? 0 : 130]);
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
