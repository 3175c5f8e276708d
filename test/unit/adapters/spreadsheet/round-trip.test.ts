import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resultWriter } from '../../../../src/adapters/spreadsheet/result-writer.ts';
import { workbookTemplates } from '../../../../src/adapters/spreadsheet/template.ts';
import { DOCUMENT_LANGUAGES } from '../../../../src/domain/document-language.ts';
import { resultOf, verdictOf } from '../../../support/import-reading.ts';
import { readSpreadsheet } from '../../../support/read-spreadsheet.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/spreadsheets');
const FILES = readdirSync(FOLDER).filter((name) => /\.(xlsx|csv)$/.test(name));

/** Reads a file, and what comes back of it. */
async function returned(bytes: Uint8Array, name: string) {
  const file = join(tmpdir(), `fatoura-${process.pid}-${name}`);
  onTestFinished(() => rm(file, { force: true }));
  await writeFile(file, bytes);
  const { reading, invoices } = await readSpreadsheet(file);
  const verdicts = invoices.map(({ firstRow, nth }) =>
    verdictOf(firstRow, { number: `2026-${nth}`, reason: '=1+1\n-2' }),
  );
  return { reading, invoices, result: await resultOf(resultWriter, bytes, reading, verdicts) };
}

it.each(FILES)('%s comes back so that the same is read of it, also when it comes back again', async (name) => {
  const first = await returned(readFileSync(join(FOLDER, name)), name);
  const second = await returned(first.result, name);
  const read = ({ invoices }: typeof first) =>
    invoices.map(({ input, problems, firstRow, lastRow }) => ({ input, problems, firstRow, lastRow }));
  expect(read(second)).toEqual(read(first));
  const results = ({ reading }: typeof first) =>
    reading.columns.filter(({ isResult }) => isResult).map(({ header }) => header);
  expect(results(second)).toHaveLength(5);
  expect({ ...second.reading, columns: [] }).toEqual({ ...first.reading, columns: [] });
  // The same verdicts make the same file.
  const third = await returned(second.result, name);
  expect(results(third)).toEqual(results(second));
  if (first.reading.format === 'csv') expect(second.result.equals(first.result)).toBe(true);
});

it.each([
  ['SEP=;\r\n', '\r\n'],
  ['"sep=;"\n', '\n'],
  ['sep=;\r', '\r'],
  ['sep=\n', '\n'],
])('after %j the verdicts stand in the rows that were read', async (stated, end) => {
  const rows = ['Client;ICE du client;Désignation;Quantité;Prix unitaire HT;Taux de TVA'];
  for (const name of ['Alpha', 'Beta', 'Gamma']) rows.push(`${name};001234567000062;Conseil;1;100,00;20`);
  const { invoices, result } = await returned(Buffer.from(stated + rows.join(end)), `stated-${end.length}.csv`);
  expect(invoices).toHaveLength(3);
  const lines = result.toString().split(end);
  for (const [nth, name] of ['Alpha', 'Beta', 'Gamma'].entries())
    expect(lines.find((line) => line.startsWith(name))).toContain(`;20;'2026-${nth};`);
  expect(lines.find((line) => line.startsWith('Client'))).toContain('(Fatoura)');
});

it.each(DOCUMENT_LANGUAGES)('an empty template has every column (%s)', async (language) => {
  const bytes = Buffer.concat(await Array.fromAsync(workbookTemplates.write(language)));
  const { reading, invoices } = await returned(bytes, `template-${language}.xlsx`);
  expect(invoices).toEqual([]);
  expect(reading).toMatchObject({ language, missing: [], headerRow: 1 });
  expect(reading.columns.filter(({ field }) => field === null)).toEqual([]);
});
