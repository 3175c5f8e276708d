import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { examplesRunBy } from '../support/guide-examples.ts';
import { type TestService, withSharedService } from '../support/service.ts';

// Runs the curl commands of the guides unchanged. Those of `fatoura` are run by test/clients/command-examples.test.ts.

const commands = examplesRunBy('test/api/guides.test.ts').map(({ guide, line, text }) => [guide, line, text] as const);

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
const run = async (command: string): Promise<string> => {
  const { stdout } = await promisify(execFile)('bash', ['-c', command.replaceAll('localhost:3000', service.url)], {
    cwd: folder,
    env: { ...process.env, ...environment, CURL_HOME: folder },
  });
  return stdout;
};
/** Goes on with a download of the command before, which is to be interrupted first. */
const isRest = ([, , command]: (typeof commands)[number]) => command.includes('If-Range');
it.skipIf(!hasTools).each(commands.filter((each) => !isRest(each)))(
  '%s, block of line %i',
  async (_guide, _n, command) => {
    const stdout = await run(command);
    expect(stdout).toMatch(/\n20[01]\n$/);
    expect(stdout).not.toMatch(/"errors?":/);
  },
);

it.skipIf(!hasTools)('an archive that was interrupted goes on by the command of its guide', async () => {
  const at = commands.findIndex(isRest);
  const [download = '', goOn = ''] = commands.slice(at - 1, at + 1).map(([, , command]) => command);
  expect(await run(download)).toMatch(/\n200\n$/);
  const archive = join(folder, 'documents.zip');
  const whole = readFileSync(archive);
  truncateSync(archive, 100);
  const client = new Client(service.url, environment.KEY ?? '');
  await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  expect(await run(goOn)).toMatch(/\n206\n$/);
  expect(readFileSync(archive).equals(whole)).toBe(true);
});
