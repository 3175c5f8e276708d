import { afterAll, expect, it } from 'vitest';
import { scratchCopy } from '../support/scratch-copy.ts';

// The compiler takes too long for `npm test`; that the added fields work is tested in test/api/contract-table.test.ts.

const copy = await scratchCopy();
afterAll(() => copy.remove());

const service = { extends: `${process.cwd()}/tsconfig.json`, include: ['src'], exclude: ['src/dashboard'] };
await copy.write('tsconfig.json', JSON.stringify(service));
const compile = (project: string) => copy.run('node_modules/typescript/bin/tsc', '--noEmit', '-p', project);

/** An optional text, as a row of a table of fields. */
const row = (name: string) =>
  `    ${name}: { rest: '${name}', type: 'text', input: addedText(50, 'a text').nullish(), description: 'Added.' },\n`;

const ADDED_TEXT = "import { printableText as addedText } from '../printable-text.ts';\n";

it('an optional field of the customer, of a line and of the invoice needs no edit of another file of src', async () => {
  const places = [
    ['customer-fields.ts', 'address'],
    ['line-fields.ts', 'taxRate'],
    ['fields.ts', 'number'],
  ] as const;
  for (const [name, before] of places) {
    const file = `src/domain/invoice/${name}`;
    await copy.edit(file, new RegExp(`^ {4}${before}: \\{\\n`, 'm'), `${row(`added${before}`)}    ${before}: {\n`);
    await copy.edit(file, /^/, ADDED_TEXT);
  }
  for (const project of ['tsconfig.json', 'src/dashboard/tsconfig.json'])
    expect(await compile(project), project).toBe('');
});

it('a field of processing that is stored from now on is refused until the export says what becomes of it', async () => {
  await copy.edit(
    'src/domain/invoice/invoice.ts',
    '  readonly traceparent: string | null;\n',
    'readonly traceparent: string | null;\n  readonly added?: string;\n',
  );
  await expect(compile('tsconfig.json')).rejects.toMatchObject({
    stdout: expect.stringMatching(/export-invoice\.ts.*'added' is missing/s),
  });
});
