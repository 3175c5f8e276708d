import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';
import { csvOf, HEADERS, row } from '../support/imports.ts';
import { runWithKey } from '../support/run-with-key.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function start(service: TestService, tenant: TestTenant, args: readonly string[]) {
  const child = startCommandLine(['import', ...args, '--url', service.url], { FATOURA_KEY: tenant.secretKey });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (printed.text += chunk));
  return { child, printed, ended: once(child, 'close').then(([code]) => ({ code, text: printed.text })) };
}

const run = (service: TestService, tenant: TestTenant, args: readonly string[]) =>
  runWithKey(['import', ...args, '--url', service.url], tenant.secretKey);

const countOf = async (service: TestService, tenant: TestTenant): Promise<number> => {
  const client = new Client(service.url, tenant.secretKey);
  return (await client.graphql('{ invoices(first: 100) { nodes { id } } }')).body.data.invoices.nodes.length;
};

withSharedService(
  'import checks or issues a file, names each problem and writes the file back',
  async ({ service }) => {
    const tenant = await service.tenant();
    const file = join(folder, 'ventes.csv');
    const out = join(folder, 'retour.csv');
    const rows = [
      ...[row('F-1'), row('F-2', { ice: '123' }), row('F-3')].map((cells) => [...cells, 'x']),
      ['', 'Total'],
    ];
    await writeFile(file, csvOf(rows, `${HEADERS};Remarque interne`));

    const dry = await run(service, tenant, [file, '--dry-run']);
    expect(dry).toMatchObject({ code: 1, text: expect.stringMatching(/row 3, column C "ICE du client", "123":.*ICE/) });
    expect(dry.text).toContain('Not used: Remarque interne.');
    expect(dry.text).toContain('Rows left out: 5 (total).');
    expect(dry.text).toContain('3 invoices: 2 ready to issue, 1 to be corrected.');
    expect(await countOf(service, tenant)).toBe(0);

    const issued = await run(service, tenant, [file, '--out', out]);
    expect(issued).toMatchObject({
      code: 1,
      text: expect.stringContaining('3 invoices: 2 issued, 2 of them accepted, 1 to be corrected.'),
    });
    expect(await countOf(service, tenant)).toBe(2);
    expect(await readFile(out, 'utf8')).toMatch(/;F-1;Acceptée/);

    const wrong = await run(service, tenant, [join(folder, 'missing.csv')]);
    expect(wrong).toMatchObject({ code: 2, text: expect.stringContaining('it does not exist') });
  },
);

withSharedService('import says which columns are to be chosen, and takes the choice', async ({ service }) => {
  const tenant = await service.tenant();
  const file = join(folder, 'remises.csv');
  await writeFile(file, csvOf([['Amina', 'Tapis', '200,00', 20, 10]], 'Client;Désignation;Prix;Taux de TVA;Remise'));
  const asked = await run(service, tenant, [file, '--dry-run']);
  expect(asked).toMatchObject({
    code: 1,
    text: expect.stringContaining(
      'Column "Remise" may be line.discount.percent or line.discount.amount, or not used: add --columns "remise=line.discount.percent" or --columns "remise=line.discount.amount" or --columns "remise=none".',
    ),
  });
  expect(asked.text).toContain('--columns "prix=line.unitPriceWithTax"');
  const chosen = 'Remise=line.discount.percent, Prix=line.unitPriceWithTax';
  const issued = await run(service, tenant, [file, '--columns', chosen, '--private-customers']);
  expect(issued).toMatchObject({ code: 0, text: expect.stringContaining('1 invoices: 1 issued, 1 of them accepted.') });
  const wrong = await run(service, tenant, [file, '--columns', 'Rabais=line.discount.percent']);
  expect(wrong).toMatchObject({ code: 2, text: expect.stringContaining("the file has no column 'Rabais'") });
  expect(await run(service, tenant, [file, '--columns', 'Remise'])).toMatchObject({ code: 2 });
});

withSharedService('import --watch takes each file once it has stopped growing', async ({ service }) => {
  const tenant = await service.tenant();
  const inbox = join(folder, 'inbox');
  const whole = csvOf([row('W-1'), row('W-2')]);
  const { child, printed, ended } = start(service, tenant, [inbox, '--watch']);
  await expect.poll(() => printed.text, { timeout: 20_000 }).toContain('Waiting for files');
  // A copy that pauses between its parts.
  await writeFile(join(inbox, 'a.csv'), whole.slice(0, 90));
  await writeFile(join(inbox, 'b.xlsx'), 'no workbook');
  await writeFile(join(inbox, '~$a.xlsx'), 'lock');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await writeFile(join(inbox, 'a.csv'), whole);

  const isThere = (path: string) =>
    access(join(inbox, path)).then(
      () => true,
      () => false,
    );
  await expect.poll(() => isThere('imported/a.csv'), { timeout: 30_000 }).toBe(true);
  await expect.poll(() => isThere('refused/b.xlsx'), { timeout: 30_000 }).toBe(true);
  expect(await readFile(join(inbox, 'results/a.csv'), 'utf8')).toMatch(/W-2;Acceptée/);
  expect(await countOf(service, tenant)).toBe(2);
  expect((await readdir(inbox)).sort()).toEqual(['imported', 'refused', 'results', '~$a.xlsx']);
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
});
