import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COLUMN_HEADERS } from '../../src/domain/imports/column-headers.ts';
import { IMPORT_COLUMNS } from '../../src/domain/imports/columns.ts';
import { IMPORT_LIMITS } from '../../src/domain/imports/limits.ts';
import { LIMITS } from '../../src/domain/invoice/field-input.ts';

const PAGE = readFileSync(new URL('../../docs/api/import-files.md', import.meta.url), 'utf8');

it('docs/api/import-files.md has the columns of the code', () => {
  const rows = PAGE.match(/^\| `.*$/gm);
  expect(rows).toEqual(
    IMPORT_COLUMNS.map(({ field }) => {
      const { fr, ar, en } = COLUMN_HEADERS[field];
      return `| \`${field}\` | ${fr} | ${ar} | ${en} |`;
    }),
  );
});

it('docs/api/import-files.md states the limits of the code', () => {
  const { fileBytes, unpackedBytes, rows, emptyRows, columns, cells, invoices, cell, rowsBeforeHeader } = IMPORT_LIMITS;
  const number = (value: number) => value.toLocaleString('en');
  for (const text of [
    `| size | ${fileBytes / 1024 ** 2} MiB; the parts of a workbook ${unpackedBytes / 1024 ** 2} MiB`,
    `| rows with content | ${number(rows)}; at most ${number(emptyRows)} empty`,
    `| columns | ${columns} |`,
    `| cells with content | ${number(cells)} |`,
    `| invoices | ${number(invoices)}, with ${number(LIMITS.lines)} lines each |`,
    `| characters of a cell | ${number(cell)} |`,
    `among the first ${rowsBeforeHeader} of each`,
  ])
    expect(PAGE).toContain(text);
});
