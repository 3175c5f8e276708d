import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import type { RowVerdict } from '../../domain/imports/ports.ts';
import type { FileReading } from '../../domain/imports/reading.ts';
import { type Part, packed } from '../workbook/pack.ts';
import { openPackage } from '../workbook/unpack.ts';
import { resultPlaces, VerdictCursor } from './result-columns.ts';
import { sheetWithVerdicts } from './result-sheet.ts';
import { sheetExtent } from './sheet-extent.ts';
import { countFormats, withTextFormat } from './text-format.ts';
import { workbookPlaces } from './workbook-places.ts';

/**
 * Returns a workbook with its verdicts. Its parts are copied one after the other; only the sheet gets cells, and the
 * styles the format of texts. So formats, formulas, charts and other sheets stay (docs/decisions/0096).
 */
export async function* writeXlsxResult(
  file: string,
  reading: FileReading,
  verdicts: AsyncIterable<RowVerdict>,
): AsyncGenerator<Uint8Array, void, void> {
  const book = await openPackage(file, IMPORT_LIMITS);
  const cursor = new VerdictCursor(verdicts);
  try {
    const { sheet, styles } = await workbookPlaces(book, reading.sheet ?? '');
    const { headerRow } = reading;
    const extent = await sheetExtent(sheet.read(), headerRow);
    const textStyle = styles ? await countFormats(styles.read()) : null;
    const places = resultPlaces(reading, extent.columns);
    const additions = { places, verdicts: cursor, headerRow, extent, textStyle };
    const parts = book.files.map((part): Part => {
      const { path, modified, read } = part;
      if (part === sheet) return { path, modified, content: () => sheetWithVerdicts(read(), additions) };
      if (part === styles && textStyle !== null)
        return { path, modified, content: () => withTextFormat(read(), textStyle) };
      return { path, modified, content: read };
    });
    yield* packed(parts);
  } finally {
    await cursor.close();
    book.close();
  }
}
