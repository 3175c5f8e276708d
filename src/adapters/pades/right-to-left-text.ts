import { createDrawingState, decimal, type GlyphState, MOVE } from './drawing-state.ts';
import { textString } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';
import { BLANK_WIDTH, type Font, RIGHT_TO_LEFT, readFont } from './right-to-left-fonts.ts';
import { hex } from './unicode-maps.ts';

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
 * Therefore this function maps each glyph to exactly one letter in the ToUnicode map, removes ActualText, and writes
 * the further letters of a ligature next to it, in visual order, as blank glyphs of the font. One operator shows them
 * together with the ligature: PDFium drops a text object that is a single glyph without ink.
 *
 * Marks are separate glyphs over or under a letter: readers take them for another line, and break the word there. So
 * they are written like the further letters of a ligature. The visible glyphs of marks are drawn after everything else
 * on the page, mapped to a no-break space.
 *
 * A document without right-to-left text keeps its lines.
 */
export function createRightToLeftText(objects: ReadonlyMap<number, PdfObject>, pages: readonly PageContent[]) {
  const fonts = new Map<number, Font>();
  for (const number of new Set(pages.flatMap(({ fonts: named }) => [...named.values()]))) {
    fonts.set(number, readFont(objects, number));
  }
  const isConcerned =
    [...fonts.values()].some((font) => font.isRightToLeft) || pages.some(({ lines }) => lines.some(isRightToLeftSpan));
  for (const { lines, fonts: named } of isConcerned ? pages : []) {
    for (const piece of piecesOf(lines)) {
      for (const { name, code } of piece.glyphs) {
        const font = fonts.get(named.get(name) ?? -1);
        font?.shows(code, piece.text !== null || font.ligature(code) !== null);
      }
    }
  }

  /**
   * Rewrites the lines of one cluster. A cluster consists of glyphs of marks, if any, which are left out, and the glyph
   * of a letter or ligature, which then represents all of the text. Returns null when the structure is unexpected.
   */
  function cluster({ lines, glyphs, text }: Piece, named: PageContent['fonts']): string[] | null {
    const [letter, ...further] = [...(text ?? '')];
    const shows = lines.filter((line) => SHOW.test(line)).length;
    if (letter === undefined || shows !== glyphs.length || lines.some((line) => MARK.test(line))) return null;
    const fontOf = ({ name }: Glyph) => fonts.get(named.get(name) ?? -1);
    const marks = glyphs.slice(0, -1);
    const base = glyphs.at(-1)!;
    const font = fontOf(base);
    if (!marks.every((mark) => fontOf(mark)?.isMark(mark.code))) return null;
    if (font === undefined || !font.mapTo(base.code, letter)) {
      if (further.length > 0 || marks.length > 0) return null;
      return [`/Span<</ActualText ${textString(letter)} >> BDC`, ...lines, 'EMC'];
    }
    const hiddenCodes = further.reverse().map((each) => font.hiddenGlyph(each));
    if (hiddenCodes.includes(null) || !marks.every((mark) => fontOf(mark)!.mapTo(mark.code, NO_BREAK_SPACE)))
      return null;
    const shown = hiddenCodes.length === 0 ? null : showWithBlanks(hiddenCodes as number[], base.code);
    return withoutMarks(lines, marks.length, shown);
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
    /** Rewrites the lines of a page so that PDF readers extract the letters in the right order. */
    rewritten({ lines, fonts: named }: PageContent): readonly string[] {
      if (!isConcerned) return lines;
      const state = createDrawingState();
      const marks: { readonly state: GlyphState; readonly code: number }[] = [];
      const letters = [...piecesOf(lines)].flatMap((piece) => {
        const isRightToLeft = piece.text !== null && RIGHT_TO_LEFT.test(piece.text);
        const states = piece.lines.flatMap((line) => {
          state.read(line);
          return isRightToLeft && piece.glyphs.length > 1 && SHOW.test(line) ? [state.now()] : [];
        });
        if (piece.text === null) return withoutActualText(piece, named);
        if (!isRightToLeft) return piece.lines;
        const rewritten = cluster(piece, named);
        if (rewritten === null) return [piece.opening, ...piece.lines, 'EMC'];
        for (const [index, each] of states.slice(0, -1).entries()) {
          marks.push({ state: each, code: piece.glyphs[index]!.code });
        }
        return rewritten;
      });
      return marks.length === 0 ? letters : ['q', ...letters, 'Q', ...drawnMarks(marks)];
    },
    /** Returns the changed objects of the fonts. To be called after all pages are rewritten. */
    fonts: (): PdfObject[] => [...fonts.values()].flatMap((font) => font.objects()),
  };
}

/**
 * Returns the lines of a cluster without its first `marks` glyphs.
 * @param shown operator that shows the last glyph instead; null: unchanged
 */
function withoutMarks(lines: readonly string[], marks: number, shown: string | null): string[] {
  let left = marks;
  let [x, y] = [0, 0];
  return lines.flatMap((line) => {
    if (line.endsWith(' Tm')) [x, y] = [0, 0];
    const show = SHOW.exec(line);
    if (show === null) return [line];
    const [move = '', dx = 0, dy = 0] = MOVE.exec(line) ?? [];
    [x, y] = [x + Number(dx), y + Number(dy)];
    if (left-- > 0) return [];
    return [(marks === 0 ? move : `${decimal(x)} ${decimal(y)} Td `) + (shown ?? show[0])];
  });
}

/** Returns operators that draw the marks, each in the state in which the browser drew it. */
function drawnMarks(marks: readonly { readonly state: GlyphState; readonly code: number }[]): string[] {
  return marks.flatMap(({ state, code }, index) => {
    const isFirst = marks[index - 1]?.state.graphics !== state.graphics;
    const isLast = marks[index + 1]?.state.graphics !== state.graphics;
    return [
      ...(isFirst ? ['q', ...state.graphics, 'BT'] : []),
      ...state.text,
      `<${hex(code)}> Tj`,
      ...(isLast ? ['ET', 'Q'] : []),
    ];
  });
}

/** A run of content lines. Each cluster with ActualText is a separate piece. */
interface Piece {
  /** The ActualText; null for lines without ActualText. */
  readonly text: string | null;
  readonly opening: string;
  readonly lines: string[];
  readonly glyphs: Glyph[];
}

interface Glyph {
  /** Resource name of the glyph's font. */
  readonly name: string;
  readonly code: number;
}

const SPAN = /^\/Span ?<<\/ActualText (?:<FEFF([0-9A-F]*)>|\(.*\)) ?>> ?BDC$/;
const SHOW = /<([0-9A-F]{4})+> Tj$/;
const CODES = /[0-9A-F]{4}/g;
const MARK = /B[DM]C$/;
const FONT = /^\/(\w+) [\d.]+ Tf$/;

/** Whether a line starts a span whose ActualText has right-to-left letters. */
function isRightToLeftSpan(line: string): boolean {
  return line.startsWith('/Span') && RIGHT_TO_LEFT.test(fromHex(SPAN.exec(line)?.[1] ?? ''));
}

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
 * Returns an operator that shows blank glyphs, and then a glyph in the position it would have without them. It leaves
 * no space in between, which PDFium could take for a space between words.
 */
function showWithBlanks(blanks: readonly number[], code: number): string {
  return `[${blanks.length * BLANK_WIDTH} <${[...blanks, code].map(hex).join('')}>] TJ`;
}

/**
 * The character that the glyphs of marks are mapped to. A plain space would make PDFium measure spaces by the width of
 * a mark.
 */
const NO_BREAK_SPACE = '\u00a0';
