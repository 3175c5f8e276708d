import { codesWithWidth, withLeastWidth } from './glyph-widths.ts';
import { textString } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { hex, readUnicodeMap, type UnicodeMap, writeUnicodeMap } from './unicode-maps.ts';

/** The content stream of a page. */
export interface PageContent {
  /** Number of the stream's object. */
  readonly number: number;
  /** Its operators, each at the end of a line. */
  readonly lines: readonly string[];
  /** Numbers of the page's fonts by their names. */
  readonly fonts: ReadonlyMap<string, number>;
}

export interface RightToLeftText {
  /** The lines of a page with letters that readers put in their right order. */
  rewritten(page: PageContent): readonly string[];
  /** What changes of the fonts, once all pages are rewritten. */
  fonts(): PdfObject[];
}

/**
 * Text of Arabic and Hebrew letters that is found and copied as it was typed.
 *
 * Readers (poppler, pdf.js, PDFium) take what stands on a line from left to right and turn it round. They can't turn round the letters of one
 * glyph: of a ligature, which the browser gives as actual text of several letters (`شر` as one glyph in `شركة`), or as several letters in the
 * font's map where the glyph is for nothing else (`سر` in `مسرح`), they make the letters in the wrong order; and pdf.js knows no actual text, so it shows the presentation forms of the font's own map. So here each glyph stands for one
 * letter: the font's map says which, the actual text goes, and the further letters of a ligature are written beside it in glyphs that the font
 * has and the document does not use, invisible (text rendering mode 3), in the order of what stands around them.
 */
export function createRightToLeftText(
  objects: ReadonlyMap<number, PdfObject>,
  pages: readonly PageContent[],
): RightToLeftText {
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

  /** The lines of one cluster, or null where it is not understood. */
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
      if (font === undefined || !font.stands(code, letter)) {
        if (further.length > 0) return null;
        written.push(`/Span<</ActualText ${textString(letter)} >> BDC`, line, 'EMC');
        continue;
      }
      const beside = further.reverse().map((each) => font.hiddenGlyph(each));
      if (beside.includes(null)) return null;
      const hidden = beside.map((each, index) => hiddenShow(each!, beside.length - index)).join('');
      written.push(hidden === '' ? line : `${line.slice(0, show.index)}3 Tr ${hidden}0 Tr ${show[0]}`);
    }
    return written;
  }

  /** Lines without actual text: the ligatures among their glyphs are shown each by itself, as the clusters that they are. */
  function undescribed({ lines, glyphs }: Piece, named: PageContent['fonts']): string[] {
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
    rewritten: ({ lines, fonts: named }) =>
      [...piecesOf(lines)].flatMap((piece) => {
        if (piece.text === null) return undescribed(piece, named);
        if (!RIGHT_TO_LEFT.test(piece.text)) return piece.lines;
        return cluster(piece, named) ?? [piece.opening, ...piece.lines, 'EMC'];
      }),
    fonts: () => [...fonts.values()].flatMap((font) => font.objects()),
  };
}

/**
 * Shows a hidden glyph a hundredth of an em, or `place` of them, left of where the next glyph begins: poppler sorts by place, and loses one of two
 * letters at the same place where a line begins with them.
 */
function hiddenShow(code: number, place: number): string {
  return `[${place * 10} <${hex(code)}> ${1 - place * 10}] TJ `;
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** Lines that show glyphs; those of a cluster of letters whose actual text the browser gives are a piece of their own. */
interface Piece {
  /** The actual text; null for lines without. */
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
 * Which letters each glyph of a cluster stands for. One glyph stands for all; of two, which stand from left to right, the second is the letter
 * and the first is the mark on it.
 * @returns null where that can't be told
 */
function lettersOf(glyphs: Piece['glyphs'], text: string | null): string[][] | null {
  const letters = [...(text ?? '')];
  if (glyphs.length === 1) return [letters];
  if (glyphs.length !== 2 || letters.length < 2) return null;
  const [letter, ...marks] = letters;
  return marks.every((mark) => /^\p{M}$/u.test(mark)) ? [marks, [letter!]] : null;
}

/** A font of two-octet codes that are the numbers of its glyphs. */
interface Font {
  /** The letters of a glyph that the map gives several of, right to left; else null. */
  ligature(code: number): string | null;
  /** Notes that a page shows a glyph. @param described whether its meaning is still to be found; otherwise it is what the map says already */
  shows(code: number, described: boolean): void;
  /** Makes the map say what a glyph stands for, unless it stands for something else already: then false. */
  stands(code: number, letter: string): boolean;
  /** A glyph that nothing is shown of, a thousandth wide (pdf.js passes over widths of 0), which stands for a letter; null when the font has none left. */
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

  /** Below the last glyph that is shown, so that the font has it. */
  function freeCode(): number | null {
    const taken = new Set([...used, ...(map?.keys() ?? []), ...hidden.values()]);
    let code = Math.max(0, ...used) - 1;
    while (code > 0 && (taken.has(code) || widths.has(code))) code -= 1;
    return code > 0 ? code : null;
  }

  return {
    ligature: (code) => ligatures.get(code) ?? null,
    shows(code, described) {
      used.add(code);
      if (!described) settled.add(code);
    },
    stands(code, letter) {
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
      const named = withLeastWidth(text(descendant), hidden.values());
      const content = Buffer.from(named, 'latin1');
      return [
        writeUnicodeMap(mapNumber, map),
        ...(hidden.size > 0 ? [{ number: descendant, content, isStream: false }] : []),
      ];
    },
  };
}
