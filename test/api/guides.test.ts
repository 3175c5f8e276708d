import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

// Runs the curl commands of the guides unchanged.

const ROOT = new URL('../../', import.meta.url);
const GUIDES = [
  'README.md',
  'docs/live-pages.md',
  ...readdirSync(new URL('docs/api/', ROOT)).map((f) => `docs/api/${f}`),
];
/** Placeholders that the reader of a guide fills in: `ID=inv_…`. */
const ASSIGNMENT = /^[A-Z_]+=\S*…\S*(?: +#.*)?\n/gm;

const commands = GUIDES.flatMap((guide) =>
  [...readFileSync(new URL(guide, ROOT), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
    .flatMap(([, block = '']) => block.replace(ASSIGNMENT, '').split(/(?<!\\)\n(?=curl |npm )/))
    .filter((command) => command.startsWith('curl '))
    .map((command, index) => [guide, index + 1, command] as const),
);

let service: TestService;
let folder: string;
let environment: Record<string, string>;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  const { secretKey, publishableKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const { id, client_secret } = (await client.post('/v1/invoices', invoiceBody())).body;
  const { xml_url, pdf_url } = await client.settled(id);
  folder = mkdtempSync(join(tmpdir(), 'guides-'));
  writeFileSync(join(folder, '.curlrc'), 'write-out = "\\n%{http_code}\\n"');
  environment = {
    KEY: secretKey,
    PUBLISHABLE: publishableKey,
    ID: id,
    SECRET: client_secret,
    XML_URL: xml_url,
    PDF_URL: pdf_url,
  };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

it('the guides show how to create, read, follow and list', () => {
  expect(commands.length).toBeGreaterThan(10);
});

const hasTools = ['curl', 'bash'].every((tool) => spawnSync(tool, ['--version']).status === 0);
it.skipIf(!hasTools).each(commands)('%s, command %i', async (_guide, _number, command) => {
  const { stdout } = await promisify(execFile)('bash', ['-c', command.replaceAll('localhost:3000', service.url)], {
    cwd: folder,
    env: { ...process.env, ...environment, CURL_HOME: folder },
  });
  expect(stdout).toMatch(/\n20[01]\n$/);
  expect(stdout).not.toMatch(/"errors?":/);
});
