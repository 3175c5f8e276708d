import { attributeOf, type XmlPiece } from './xml-pieces.ts';

/**
 * Returns the `<col>` elements of a sheet with the widths of added columns. Elements must not overlap (ECMA-376, part
 * 1, section 18.3.1.13), so an element that also covers an added column is split.
 * @param columns the elements of the sheet, in their order
 * @param widths in characters, by the number of the column from 1, ascending
 */
export function columnElements(
  columns: readonly XmlPiece[],
  widths: ReadonlyMap<number, number>,
  prefix: string,
): string {
  const written: { readonly min: number; readonly raw: string }[] = [];
  for (const column of columns) {
    let min = Number(attributeOf(column, 'min'));
    const max = Number(attributeOf(column, 'max'));
    for (const added of widths.keys()) {
      if (added < min || added > max) continue;
      if (added > min) written.push({ min, raw: spanning(column.raw, min, added - 1) });
      min = added + 1;
    }
    if (min <= max) written.push({ min, raw: spanning(column.raw, min, max) });
  }
  for (const [min, width] of widths)
    written.push({ min, raw: `<${prefix}col min="${min}" max="${min}" width="${width}" customWidth="1"/>` });
  return written
    .toSorted((a, b) => a.min - b.min)
    .map(({ raw }) => raw)
    .join('');
}

/** Returns a copy of the element, without content, for other columns. The element may have an end tag. */
function spanning(raw: string, min: number, max: number): string {
  return raw
    .replace(/\smin\s*=\s*(?:"[^"]*"|'[^']*')/, ` min="${min}"`)
    .replace(/\smax\s*=\s*(?:"[^"]*"|'[^']*')/, ` max="${max}"`)
    .replace(/\s*\/?>$/, '/>');
}
