import type { DocumentLanguage } from '../../domain/document-language.ts';
import { NO_SUMS } from '../../domain/invoice/periods/day-sums.ts';
import { type DeclaredDocument, plusDeclared } from '../../domain/invoice/periods/declared-document.ts';
import { directionOf } from '../../text/document-format.ts';
import { amountCell, rowOf, textCell, valueCell } from '../workbook/cells.ts';
import { packed } from '../workbook/pack.ts';
import { sheetEnd, sheetPath, sheetStart, workbookParts } from '../workbook/parts.ts';
import type { Column } from './columns.ts';

interface Sheet {
  /** The name of the sheet: at most 31 characters, none of `[]:*?/\`. */
  readonly title: string;
  readonly language: DocumentLanguage;
}

/**
 * Writes a declaration as a spreadsheet (ECMA-376, SpreadsheetML): headings that stay in view, a row for each document,
 * and a row of sums. Numbers and ICEs are texts, amounts are numbers with two decimals, and days are dates. Rows are
 * written as they are read, so the memory does not grow with them.
 */
export function writeXlsx(
  columns: readonly Column[],
  batches: AsyncIterable<readonly DeclaredDocument[]>,
  { title, language }: Sheet,
): AsyncIterable<Uint8Array> {
  const around = Object.entries(workbookParts([title], directionOf(language) === 'rtl')).map(([path, content]) => ({
    path,
    content,
  }));
  return packed([...around, { path: sheetPath(0), content: () => sheetOf(columns, batches, language) }]);
}

async function* sheetOf(
  columns: readonly Column[],
  batches: AsyncIterable<readonly DeclaredDocument[]>,
  language: DocumentLanguage,
): AsyncGenerator<Buffer, void, void> {
  const headings = columns.map(({ heading }, index) => textCell(index, 1, heading, 'heading'));
  yield Buffer.from(sheetStart(columns, directionOf(language) === 'rtl') + rowOf(1, headings));
  let row = 1;
  let sums = NO_SUMS;
  for await (const batch of batches) {
    const rows = batch.map((document) => {
      row++;
      return rowOf(
        row,
        columns.map(({ cellOf }, index) => valueCell(index, row, cellOf(document))),
      );
    });
    sums = plusDeclared(sums, batch);
    yield Buffer.from(rows.join(''));
  }
  row++;
  const cells = columns.map(({ sumOf }, index) => {
    const sum = sumOf?.(sums) ?? null;
    if (sum === null) return '';
    return typeof sum === 'string' ? textCell(index, row, sum, 'heading') : amountCell(index, row, sum, 'sum');
  });
  yield Buffer.from(rowOf(row, cells) + sheetEnd());
}
