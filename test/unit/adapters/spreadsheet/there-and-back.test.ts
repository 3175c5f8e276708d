import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHOICES } from '../../../../src/adapters/spreadsheet/read-choices.ts';
import { resultWriter } from '../../../../src/adapters/spreadsheet/result-writer.ts';
import { choicesOf } from '../../../../src/adapters/spreadsheet/template-choices.ts';
import { DOCUMENT_LANGUAGES } from '../../../../src/domain/document-language.ts';
import { readValue } from '../../../../src/domain/imports/read-value.ts';
import { readSpreadsheet } from '../../../support/read-spreadsheet.ts';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/spreadsheets');
const FILES = readdirSync(FIXTURES).filter((name) => /\.(csv|xlsx)$/.test(name));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'there-and-back-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Read = Awaited<ReturnType<typeof readSpreadsheet>>;

/** Writes the verdicts of all invoices into a file. @returns its path */
async function returned(file: string, { reading, invoices }: Read, name: string): Promise<string> {
  async function* verdicts() {
    for (const { firstRow: row } of invoices)
      yield { row, number: `N-${row}`, status: '=Reçue', reason: 'Total ; "motif"', dgiId: null, pdfUrl: null };
  }
  const back = join(folder, name);
  writeFileSync(back, Buffer.concat(await Array.fromAsync(resultWriter.write(file, reading, verdicts()))));
  return back;
}

it.each(FILES)('%s is read alike after its return, and after a second one', async (name) => {
  const before = await readSpreadsheet(join(FIXTURES, name));
  const once = await returned(join(FIXTURES, name), before, `once-${name}`);
  const after = await readSpreadsheet(once);
  // The digest of its rows is that of the file that was uploaded.
  const withNumber = before.invoices.map((invoice) => ({ ...invoice, resultNumber: `N-${invoice.firstRow}` }));
  expect(after.invoices).toEqual(withNumber);
  const own = after.reading.columns.filter(({ isResult }) => !isResult);
  expect(own.filter(({ header }) => header !== '')).toEqual(
    before.reading.columns.filter(({ isResult, header }) => !isResult && header !== ''),
  );
  expect(after.reading.columns.filter(({ isResult }) => isResult)).toHaveLength(5);
  const twice = await readSpreadsheet(await returned(once, after, `twice-${name}`));
  expect(twice).toEqual(after);
});

it.each(DOCUMENT_LANGUAGES)('what the template offers in %s is read', (language) => {
  const conventions = { decimalSign: null, dateOrder: null, hasSwapped: false };
  for (const { kind, values } of choicesOf(language)) {
    const read = values.map((value) => {
      const cell =
        typeof value === 'number'
          ? ({ kind: 'number', value, isPercent: false, format: null } as const)
          : ({ kind: 'text', text: value } as const);
      return readValue(cell, kind, conventions, CHOICES);
    });
    // Each is another value, and none is left as it was written.
    expect(read.filter((each) => 'fault' in each)).toEqual([]);
    expect(new Set(read.map((each) => 'value' in each && each.value)).size).toBe(values.length);
    if (kind !== 'taxRate')
      expect(read.filter((each) => 'value' in each && /[^\w]/.test(String(each.value)))).toEqual([]);
  }
});
