import { columnName } from '../../text/column-name.ts';
import type { ResultPlace } from './result-columns.ts';
import { columnOf } from './sheet-extent.ts';
import { attributeOf, type XmlPiece, xmlPieces } from './xml-pieces.ts';

/** The range of a sheet's automatic filter, and the range extended by the columns of the verdicts. */
export interface WiderFilter {
  readonly ref: string;
  readonly wider: string;
}

/**
 * Returns the extended range of a filter, so that its buttons sort the verdicts with their rows. Null if the range
 * stays as it is, because it does not reach the columns of the verdicts, or contains all of them.
 * @param ref such as `A4:K11`; null if the sheet has no filter
 */
export function widerFilter(ref: string | null, places: readonly ResultPlace[]): WiderFilter | null {
  const [, from, end = '', row] = /^([A-Z]+\d+):([A-Z]+)(\d+)$/.exec(ref ?? '') ?? [];
  const last = columnOf(`${end}1`);
  const [first, most] = [places.at(0)?.index ?? 0, places.at(-1)?.index ?? 0];
  if (ref === null || last === null || last < first - 1 || last >= most) return null;
  return { ref, wider: `${from}:${columnName(most)}${row}` };
}

/** Replaces the range in the element of a filter. */
export function widenedFilter(piece: XmlPiece, filter: WiderFilter | null): string {
  const isIt = filter !== null && piece.kind !== 'end' && attributeOf(piece, 'ref') === filter.ref;
  return isIt ? piece.raw.replace(filter.ref, filter.wider) : piece.raw;
}

/** The name under which a workbook stores a sheet's filter range a second time (ECMA-376, part 1, section 18.2.5). */
const FILTER_NAME = '_xlnm._FilterDatabase';

/**
 * Replaces the range of a sheet's filter in the workbook's part, from which LibreOffice reads it.
 * @param sheet index of the sheet among all sheets, from 0
 */
export async function* withWiderFilterName(
  bytes: AsyncIterable<Uint8Array>,
  sheet: number,
  { ref, wider }: WiderFilter,
): AsyncGenerator<Uint8Array, void, void> {
  const absolute = (range: string) => range.replace(/([A-Z]+)(\d+)/g, '$$$1$$$2');
  /** The text of the name while it is being read. */
  let text: string | null = null;
  for await (const pieces of xmlPieces(bytes, ['definedName'])) {
    let written = '';
    for (const piece of pieces) {
      if (piece.kind === 'other' && text !== null) {
        text += piece.raw;
        continue;
      }
      if (text !== null) {
        const end = `!${absolute(ref)}`;
        written += text.endsWith(end) ? `${text.slice(0, -end.length)}!${absolute(wider)}` : text;
        text = null;
      }
      written += piece.raw;
      const isName = piece.kind === 'start' && attributeOf(piece, 'name') === FILTER_NAME;
      if (isName && Number(attributeOf(piece, 'localSheetId') ?? Number.NaN) === sheet) text = '';
    }
    yield Buffer.from(written);
  }
}
