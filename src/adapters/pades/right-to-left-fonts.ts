import { blankGlyphs } from './blank-glyphs.ts';
import { listedWidths, withWidth } from './glyph-widths.ts';
import { inflatedStream } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { readUnicodeMap, type UnicodeMap, writeUnicodeMap } from './unicode-maps.ts';

export const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/**
 * The stated width of blank glyphs that stand for letters, in thousandths of an em. Not 0, because pdf.js skips glyphs
 * of width 0. In the font program the width is 0; PDF/A allows a difference of one (ISO 19005-3, section 6.2.11.5).
 */
export const BLANK_WIDTH = 1;

/** A font with two-octet codes that equal its glyph numbers (Identity-H). */
export interface Font {
  /** Whether the ToUnicode map contains right-to-left letters. */
  readonly isRightToLeft: boolean;
  /**
   * Returns the letters of a glyph that the ToUnicode map maps to several right-to-left letters; null for other glyphs.
   */
  ligature(code: number): string | null;
  /**
   * Records that a page shows a glyph.
   * @param remappable whether `mapTo` may still change what the glyph is mapped to; otherwise the browser's mapping
   * stays
   */
  shows(code: number, remappable: boolean): void;
  /** Whether a glyph takes no space on the line: a mark over or under a letter. */
  isMark(code: number): boolean;
  /** Maps a glyph to a letter. @returns false when the glyph is already mapped to something else */
  mapTo(code: number, letter: string): boolean;
  /**
   * Returns the code of an unused blank glyph, and maps it to the letter, with the width {@link BLANK_WIDTH}. Null when
   * the font has no unused blank glyph left.
   */
  hiddenGlyph(letter: string): number | null;
  objects(): PdfObject[];
}

/** Reads a font and its ToUnicode map, as the browser writes them. */
export function readFont(objects: ReadonlyMap<number, PdfObject>, number: number): Font {
  const text = (which: number) => objects.get(which)?.content.toString('latin1') ?? '';
  const font = text(number);
  const mapNumber = Number(/\/ToUnicode (\d+) 0 R/.exec(font)?.[1]);
  const descendant = Number(/\/DescendantFonts \[(\d+) 0 R\]/.exec(font)?.[1]);
  const stream = objects.get(mapNumber);
  const map: UnicodeMap | null = font.includes('/Identity-H') && stream ? readUnicodeMap(stream) : null;
  const ligatures = new Map(
    [...(map ?? [])].filter(([, letters]) => [...letters].length > 1 && RIGHT_TO_LEFT.test(letters)),
  );
  const widths = listedWidths(text(descendant));
  const usualWidth = Number(/\/DW (\d+)/.exec(text(descendant))?.[1] ?? 1000);
  const used = new Set<number>();
  const settled = new Set<number>();
  const hidden = new Map<string, number>();
  let changed = map !== null && [...map.values()].includes('\0');

  let blank: number[] | null = null;
  function freeCode(): number | undefined {
    blank ??= blankCodes().filter((code) => !used.has(code) && !map?.has(code) && !widths.has(code));
    return blank.shift();
  }

  function blankCodes(): number[] {
    const descriptor = text(Number(/\/FontDescriptor (\d+) 0 R/.exec(text(descendant))?.[1]));
    const program = objects.get(Number(/\/FontFile2 (\d+) 0 R/.exec(descriptor)?.[1]));
    const content = program && inflatedStream(program.content);
    return content ? blankGlyphs(content) : [];
  }

  return {
    isRightToLeft: [...(map?.values() ?? [])].some((letters) => RIGHT_TO_LEFT.test(letters)),
    ligature: (code) => ligatures.get(code) ?? null,
    shows(code, remappable) {
      used.add(code);
      if (!remappable) settled.add(code);
    },
    isMark: (code) => (widths.get(code) ?? usualWidth) === 0,
    mapTo(code, letter) {
      if (map === null) return false;
      if (settled.has(code)) return map.get(code) === letter;
      settled.add(code);
      map.set(code, letter);
      changed = true;
      return true;
    },
    hiddenGlyph(letter) {
      const code = hidden.get(letter) ?? freeCode();
      if (code === undefined || map === null) return null;
      hidden.set(letter, code);
      map.set(code, letter);
      return code;
    },
    objects() {
      if (map === null || !changed) return [];
      const named = withWidth(text(descendant), hidden.values(), BLANK_WIDTH);
      const content = Buffer.from(named, 'latin1');
      return [
        writeUnicodeMap(mapNumber, map),
        ...(hidden.size > 0 ? [{ number: descendant, content, isStream: false }] : []),
      ];
    },
  };
}
