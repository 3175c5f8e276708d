import { codesWithWidth, withMinimalWidth } from './glyph-widths.ts';
import { textString } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { hex, readUnicodeMap, type UnicodeMap, writeUnicodeMap } from './unicode-maps.ts';

/** The content stream of a page. */
export interface PageContent {
  /** Object number of the stream. */
  readonly number: number;
  /** The lines of the stream, each ending with an operator. */
  readonly lines: readonly string[];
  /** Object numbers of the page's fonts by resource name. */
  readonly fonts: ReadonlyMap<string, number>;
}

/**
 * Makes Arabic and Hebrew text searchable and copyable in its logical order.
 *
 * PDF readers (poppler, pdf.js, PDFium) extract the glyphs of a line from left to right and then reverse right-to-left
 * runs. They do not reverse the letters within one glyph, so the letters of a ligature come out in the wrong order. The
 * browser describes a ligature either by an ActualText of several letters (`شر` as one glyph in `شركة`), or by several
 * letters in the font's ToUnicode map when the glyph has no other use (`سر` in `مسرح`). pdf.js also ignores ActualText
 * and extracts the presentation forms of the ToUnicode map.
 *
 * Therefore each glyph is mapped to exactly one letter in the ToUnicode map, ActualText is removed, and the further
 * letters of a ligature are written next to it as invisible glyphs (text rendering mode 3) in visual order. Invisible
 * glyphs use codes that the font has and the document does not use.
 */
export function createRightToLeftText(objects: ReadonlyMap<number, PdfObject>, pages: readonly PageContent[]) {
  const fonts = new Map<number, Font>();
  for (const { lines, fonts: named } of pages) {
    for (const number of named.values()) if (!fonts.has(number)) fonts.set(number, readFont(objects, number));
    for (const piece of piecesOf(lines)) {
      for (const { name, code } of piece.glyphs) {
        const font = fonts.get(named.get(name) ?? -1);
        font?.shows(code, piece.text !== null || font.ligature(code) !== null);
      }
    }
  }

  /** Rewrites the lines of one cluster; null when its structure is unexpected. */
  function cluster({ lines, glyphs, text }: Piece, named: PageContent['fonts']): string[] | null {
    const letters = lettersOf(glyphs, text);
    const shows = lines.filter((line) => SHOW.test(line)).length;
    if (letters === null || shows !== glyphs.length || lines.some((line) => MARK.test(line))) return null;
    const written: string[] = [];
    let at = 0;
    for (const line of lines) {
      const show = SHOW.exec(line);
      if (show === null) {
        written.push(line);
        continue;
      }
      const { name, code } = glyphs[at]!;
      const [letter = '', ...further] = letters[at]!;
      at += 1;
      const font = fonts.get(named.get(name) ?? -1);
      if (font === undefined || !font.mapTo(code, letter)) {
        if (further.length > 0) return null;
        written.push(`/Span<</ActualText ${textString(letter)} >> BDC`, line, 'EMC');
        continue;
      }
      const hiddenCodes = further.reverse().map((each) => font.hiddenGlyph(each));
      if (hiddenCodes.includes(null)) return null;
      const hidden = hiddenCodes.map((each, index) => hiddenShow(each!, hiddenCodes.length - index)).join('');
      written.push(hidden === '' ? line : `${line.slice(0, show.index)}3 Tr ${hidden}0 Tr ${show[0]}`);
    }
    return written;
  }

  /** Rewrites lines without ActualText: each ligature among the glyphs becomes a cluster of its own. */
  function withoutActualText({ lines, glyphs }: Piece, named: PageContent['fonts']): string[] {
    let at = 0;
    return lines.flatMap((line) => {
      const show = SHOW.exec(line);
      if (show === null) return [line];
      const shown = glyphs.slice(at, at + show[0].match(CODES)!.length);
      at += shown.length;
      const texts = shown.map(({ name, code }) => fonts.get(named.get(name) ?? -1)?.ligature(code) ?? null);
      if (texts.every((text) => text === null)) return [line];
      return shown.flatMap((glyph, index) => {
        const alone = [`${index === 0 ? line.slice(0, show.index) : ''}<${hex(glyph.code)}> Tj`];
        const text = texts[index] ?? null;
        if (text === null) return alone;
        const opening = `/Span<</ActualText ${textString(text)} >> BDC`;
        return cluster({ text, opening, lines: alone, glyphs: [glyph] }, named) ?? [opening, ...alone, 'EMC'];
      });
    });
  }

  return {
    /** The lines of a page, rewritten so that PDF readers extract the letters in the right order. */
    rewritten: ({ lines, fonts: named }: PageContent): readonly string[] =>
      [...piecesOf(lines)].flatMap((piece) => {
        if (piece.text === null) return withoutActualText(piece, named);
        if (!RIGHT_TO_LEFT.test(piece.text)) return piece.lines;
        return cluster(piece, named) ?? [piece.opening, ...piece.lines, 'EMC'];
      }),
    /** The changed objects of the fonts. Call it after all pages are rewritten. */
    fonts: (): PdfObject[] => [...fonts.values()].flatMap((font) => font.objects()),
  };
}

/**
 * Operators that show a hidden glyph `place` hundredths of an em left of the next glyph. The offset differs for each
 * hidden glyph because poppler sorts glyphs by position and, at the start of a line, drops one of two letters at the
 * same position.
 */
function hiddenShow(code: number, place: number): string {
  return `[${place * 10} <${hex(code)}> ${1 - place * 10}] TJ `;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** A run of content lines. A cluster with ActualText is a piece of its own. */
interface Piece {
  /** The ActualText; null for lines without one. */
  readonly text: string | null;
  readonly opening: string;
  readonly lines: string[];
  readonly glyphs: { readonly name: string; readonly code: number }[];
}

const SPAN = /^\/Span ?<<\/ActualText (?:<FEFF([0-9A-F]*)>|\(.*\)) ?>> ?BDC$/;
const SHOW = /<([0-9A-F]{4})+> Tj$/;
const CODES = /[0-9A-F]{4}/g;
const MARK = /B[DM]C$/;
const FONT = /^\/(\w+) [\d.]+ Tf$/;

function* piecesOf(lines: readonly string[]): Generator<Piece> {
  const piece = (text: string | null, opening: string): Piece => ({ text, opening, lines: [], glyphs: [] });
  let name = '';
  let current = piece(null, '');
  for (const line of lines) {
    const span = SPAN.exec(line);
    if (span !== null && current.text === null) {
      yield current;
      current = piece(fromHex(span[1] ?? ''), line);
      continue;
    }
    if (line === 'EMC' && current.text !== null) {
      yield current;
      current = piece(null, '');
      continue;
    }
    current.lines.push(line);
    name = FONT.exec(line)?.[1] ?? name;
    const codes = SHOW.exec(line)?.[0].match(CODES) ?? [];
    for (const code of codes) current.glyphs.push({ name, code: Number.parseInt(code, 16) });
  }
  if (current.text === null) yield current;
  else yield { ...current, text: null, lines: [current.opening, ...current.lines] };
}

function fromHex(digits: string): string {
  return digits.replaceAll(/.{4}/g, (unit) => String.fromCharCode(Number.parseInt(unit, 16)));
}

/**
 * The letters that each glyph of a cluster represents. A single glyph represents all letters. Of two glyphs, in visual
 * order, the first is the combining mark and the second is the letter.
 * @returns null when the assignment is ambiguous
 */
function lettersOf(glyphs: Piece['glyphs'], text: string | null): string[][] | null {
  const letters = [...(text ?? '')];
  if (glyphs.length === 1) return [letters];
  if (glyphs.length !== 2 || letters.length < 2) return null;
  const [letter, ...marks] = letters;
  return marks.every((mark) => /^\p{M}$/u.test(mark)) ? [marks, [letter!]] : null;
}

/** A font with two-octet codes that equal its glyph numbers (Identity-H). */
interface Font {
  /** The letters of a glyph that the ToUnicode map gives several right-to-left letters; null for other glyphs. */
  ligature(code: number): string | null;
  /**
   * Records that a page shows a glyph.
   * @param remappable whether `mapTo` may still change what the glyph is mapped to; otherwise the browser's mapping
   * stays
   */
  shows(code: number, remappable: boolean): void;
  /** Maps a glyph to a letter. @returns false when the glyph is already mapped to something else */
  mapTo(code: number, letter: string): boolean;
  /**
   * An unused glyph code, mapped to the letter, for an invisible glyph. Its width is a thousandth of an em, because
   * pdf.js skips glyphs of width 0. null when the font has no unused code left.
   */
  hiddenGlyph(letter: string): number | null;
  objects(): PdfObject[];
}

function readFont(objects: ReadonlyMap<number, PdfObject>, number: number): Font {
  const text = (which: number) => objects.get(which)?.content.toString('latin1') ?? '';
  const font = text(number);
  const mapNumber = Number(/\/ToUnicode (\d+) 0 R/.exec(font)?.[1]);
  const descendant = Number(/\/DescendantFonts \[(\d+) 0 R\]/.exec(font)?.[1]);
  const stream = objects.get(mapNumber);
  const map: UnicodeMap | null = font.includes('/Identity-H') && stream ? readUnicodeMap(stream) : null;
  const ligatures = new Map(
    [...(map ?? [])].filter(([, letters]) => [...letters].length > 1 && RIGHT_TO_LEFT.test(letters)),
  );
  const widths = codesWithWidth(text(descendant));
  const used = new Set<number>();
  const settled = new Set<number>();
  const hidden = new Map<string, number>();
  let changed = map !== null && [...map.values()].includes('\0');

  /** An unused code below the highest used one, so that it exists in the font. */
  function freeCode(): number | null {
    const taken = new Set([...used, ...(map?.keys() ?? []), ...hidden.values()]);
    let code = Math.max(0, ...used) - 1;
    while (code > 0 && (taken.has(code) || widths.has(code))) code -= 1;
    return code > 0 ? code : null;
  }

  return {
    ligature: (code) => ligatures.get(code) ?? null,
    shows(code, remappable) {
      used.add(code);
      if (!remappable) settled.add(code);
    },
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
      if (code === null || map === null) return null;
      hidden.set(letter, code);
      map.set(code, letter);
      return code;
    },
    objects() {
      if (map === null || !changed) return [];
      const named = withMinimalWidth(text(descendant), hidden.values());
      const content = Buffer.from(named, 'latin1');
      return [
        writeUnicodeMap(mapNumber, map),
        ...(hidden.size > 0 ? [{ number: descendant, content, isStream: false }] : []),
      ];
    },
  };
}
