import readSpreadsheet from 'read-excel-file/node';
import { expect, it } from 'vitest';
import { workbookTemplates } from '../../../../src/adapters/spreadsheet/template.ts';
import { DOCUMENT_LANGUAGES } from '../../../../src/domain/document-language.ts';
import { COLUMN_HEADERS } from '../../../../src/domain/imports/column-headers.ts';
import { IMPORT_COLUMNS } from '../../../../src/domain/imports/columns.ts';
import { UNITS } from '../../../../src/domain/invoice/units.ts';
import { TEMPLATE_TEXTS } from '../../../../src/text/import-template.ts';
import { unzipped } from '../../../support/zip.ts';

it.each(DOCUMENT_LANGUAGES)('has the columns, their lists and what explains them (%s)', async (language) => {
  const texts = TEMPLATE_TEXTS[language];
  const book = Buffer.concat(await Array.fromAsync(workbookTemplates.write(language)));
  const [invoices, explanations, ...others] = await readSpreadsheet(book);
  expect([invoices?.sheet, explanations?.sheet, others]).toEqual([texts.invoices, texts.explanations, []]);
  const columns = IMPORT_COLUMNS.filter((column) => !('isRare' in column));
  const headers = columns.map(({ field }) => COLUMN_HEADERS[field][language]);
  expect(invoices?.data).toEqual([headers]);
  const explained = explanations?.data.map(([first]) => first).filter((first) => headers.includes(String(first)));
  expect(explained).toEqual(headers);

  const files = await unzipped(book);
  const sheet = String(files.get('xl/worksheets/sheet1.xml'));
  for (const nth of [1, 2])
    expect(String(files.get(`xl/worksheets/sheet${nth}.xml`)).includes('rightToLeft="1"')).toBe(language === 'ar');
  const lists = [
    ...sheet.matchAll(
      /<dataValidation type="list"[^>]*sqref="([A-Z]+)2:[^>]*><formula1>'(.*?)'!\$([A-Z]+)\$(\d+):\$\3\$(\d+)</g,
    ),
  ];
  const offered = new Map(
    lists.map(([, column = '', name, at = '', from, to]) => {
      expect(name).toBe(texts.explanations);
      const rows = explanations?.data.slice(Number(from) - 1, Number(to));
      return [columns[column.charCodeAt(0) - 65]?.field, rows?.map((row) => row[at.charCodeAt(0) - 65])];
    }),
  );
  expect([...offered.keys()]).toEqual([
    'customer.kind',
    'line.unit',
    'line.taxRate',
    'line.exemption.code',
    'terms.paymentMeans',
  ]);
  expect(offered.get('line.unit')).toEqual(Object.values(UNITS).map((unit) => unit[language]));
  // The rates of 2026.
  expect(offered.get('line.taxRate')).toEqual([20, 10, 0]);
  // Nothing stands under a list that it does not offer.
  for (const [, , , at = '', , to] of lists)
    expect(explanations?.data[Number(to)]?.[at.charCodeAt(0) - 65] ?? null).toBeNull();
  // A spreadsheet program refuses longer texts.
  for (const [, title = '', prompt = ''] of sheet.matchAll(/promptTitle="(.*?)" prompt="(.*?)"/g)) {
    expect(title.length).toBeLessThanOrEqual(32);
    expect(prompt.length).toBeLessThanOrEqual(255);
  }
});
