import { UnreadableFile } from '../../domain/imports/reading.ts';
import { readWholeXml } from './read-xml.ts';

/** How a number is shown, as far as it says what the number is. */
export type NumberStyle = 'date' | 'percent' | null;

/** The formats that are built in (ECMA-376, part 1, section 18.8.30), also those of other languages. */
const BUILT_IN: readonly (readonly [first: number, last: number, style: NumberStyle])[] = [
  [9, 10, 'percent'],
  [14, 22, 'date'],
  [27, 36, 'date'],
  [45, 47, 'date'],
  [50, 58, 'date'],
];

/** Excel has at most this many styles. */
const MOST_STYLES = 65_536;

/** Reads the styles of cells, by their index. @throws {UnreadableFile} */
export async function readStyles(chunks: AsyncIterable<Uint8Array>): Promise<readonly NumberStyle[]> {
  const custom = new Map<string, NumberStyle>();
  const styles: NumberStyle[] = [];
  let isInCells = false;
  await readWholeXml(chunks, {
    open(name, attributes) {
      if (name === 'numFmt') custom.set(attributes.numFmtId ?? '', styleOfFormat(attributes.formatCode ?? ''));
      else if (name === 'cellXfs') isInCells = true;
      else if (name === 'xf' && isInCells) {
        const id = attributes.numFmtId ?? '';
        styles.push(custom.get(id) ?? builtIn(Number(id)));
      }
      if (styles.length > MOST_STYLES || custom.size > MOST_STYLES) throw new UnreadableFile('too_costly');
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return styles;
}

function builtIn(id: number): NumberStyle {
  return BUILT_IN.find(([first, last]) => id >= first && id <= last)?.[2] ?? null;
}

/** Finds what a format such as `dd/mm/yyyy` or `0.00%` shows. Text in quotes, colours and escaped characters do not count. */
function styleOfFormat(format: string): NumberStyle {
  const [positive = ''] = format
    .slice(0, 500)
    .replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';');
  if (/[ymdhs]|aaa|jj|ee/i.test(positive.replaceAll(/general|standard/gi, ''))) return 'date';
  return positive.includes('%') ? 'percent' : null;
}
