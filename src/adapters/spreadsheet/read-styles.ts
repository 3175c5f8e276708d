import { UnreadableFile } from '../../domain/imports/reading.ts';
import { readWholeXml } from './read-xml.ts';

/** The kind of number that a format shows; null for any other format. */
export type NumberStyle = 'date' | 'time' | 'percent' | 'foreign' | 'shaped' | 'unseen' | null;

/** The built-in formats (ECMA-376, part 1, section 18.8.30), also those of other languages. */
const BUILT_IN: readonly (readonly [first: number, last: number, style: NumberStyle])[] = [
  [9, 10, 'percent'],
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date'],
  [27, 36, 'date'],
  [45, 47, 'time'],
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

/** Signs and codes of other currencies than the dirham. */
const FOREIGN = /[€$£¥₤]|\b(EUR|USD|GBP|CAD|CHF)\b/i;

/**
 * Finds how a format such as `dd/mm/yyyy` or `0.00%` shows positive numbers. Texts and currency signs count; colours
 * and conditions do not.
 */
function styleOfFormat(format: string): NumberStyle {
  const [positive = ''] = format.slice(0, 500).split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  if (format.includes(';') && positive.trim() === '') return 'unseen';
  // `[$€-40C]` is a currency sign with a language, `[$-40C]` only a language.
  const signs = positive
    .replaceAll(/\[\$([^\]-]*)(-[^\]]*)?\]/g, '"$1"')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
  const digits = signs.replaceAll(/"[^"]*"|\\.|_.|\*./g, '').replaceAll(/general|standard/gi, '0');
  if (/[yd]|aaa|jj|ee/i.test(digits) || (/m/i.test(digits) && !/[hs]/i.test(digits))) return 'date';
  if (/[hs]/i.test(digits)) return 'time';
  if (digits.includes('%')) return 'percent';
  if (FOREIGN.test(signs)) return 'foreign';
  // A comma after the last digit divides by a thousand.
  if (/[0#?],+(?![0#?])/.test(digits)) return 'unseen';
  const texts = signs.match(/"[^"]*"|\\./g)?.join('') ?? '';
  return /0{2}/.test(digits.split('.')[0]?.replaceAll(',', '') ?? '') ||
    /[\p{L}\d]/u.test(texts.replaceAll(/mad|dhs?|dirhams?|درهم/gi, ''))
    ? 'shaped'
    : null;
}
