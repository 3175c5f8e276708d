import type { RowVerdict } from '../../domain/imports/ports.ts';
import type { FileReading } from '../../domain/imports/reading.ts';
import { packed } from '../workbook/pack.ts';
import { openParts } from './read-zip.ts';
import { resultPlaces, VerdictCursor } from './result-columns.ts';
import { widerFilter, withWiderFilterName } from './result-filter.ts';
import { sheetWithVerdicts } from './result-sheet.ts';
import { blankTexts, sheetExtent } from './sheet-extent.ts';
import { countFormats, withTextFormat } from './text-format.ts';
import { workbookPlaces } from './workbook-places.ts';

/**
 * Writes a workbook again with its verdicts. Copies the parts one after the other and changes only three: the sheet
 * gets cells, its filter gets their columns, and the styles get a text format. So formats, formulas, charts and other
 * sheets stay unchanged (docs/decisions/0096).
 */
export async function* writeXlsxResult(
  file: string,
  reading: FileReading,
  verdicts: AsyncIterable<RowVerdict>,
): AsyncGenerator<Uint8Array, void, void> {
  const book = await openParts(file);
  const cursor = new VerdictCursor(verdicts);
  try {
    const { workbook, sheet, nth, styles, strings } = await workbookPlaces(book, reading.sheet ?? '');
    const { headerRow } = reading;
    const blanks = strings === null ? new Set<number>() : await blankTexts(book.read(strings));
    const extent = await sheetExtent(book.read(sheet), headerRow, blanks);
    const textStyle = styles === null ? null : await countFormats(book.read(styles));
    const places = resultPlaces(reading, extent.columns);
    const filter = widerFilter(extent.filter, places);
    const additions = { places, verdicts: cursor, headerRow, extent, filter, textStyle };
    const contentOf = (path: string): AsyncIterable<Uint8Array> => {
      const bytes = book.read(path);
      if (path === sheet) return sheetWithVerdicts(bytes, additions);
      if (path === workbook && filter !== null) return withWiderFilterName(bytes, nth, filter);
      return path === styles && textStyle !== null ? withTextFormat(bytes, textStyle) : bytes;
    };
    const paths = [...book.paths].filter((path) => !path.endsWith('/'));
    yield* packed(paths.map((path) => ({ path, content: () => contentOf(path) })));
  } finally {
    await cursor.close();
    book.close();
  }
}
