import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { takeTurn } from '../../domain/turns.ts';
import { fontCoverage } from './font-coverage.ts';

/** A font file with the characters that it is for. */
interface FontFace {
  readonly weights: readonly number[];
  /** Whether the style sheet gives it a character. */
  readonly isFor: (codePoint: number) => boolean;
  /** Whether it has a glyph for it. */
  readonly has: (codePoint: number) => Promise<boolean>;
  /** Latin letters are in every document. */
  readonly always: boolean;
  /** The rules of the style sheet, the font embedded; read once. */
  readonly css: () => Promise<string>;
}

const [SANS, ARABIC] = ['Fatoura Sans', 'Fatoura Arabic'];

/**
 * The fonts of a text by its direction (`font-family`). Between words that run from right to left the spaces are of the Arabic font: in runs of
 * one font PDF readers find phrases, not only words.
 */
export const FONT_FAMILY = {
  ltr: `"${SANS}", "${ARABIC}", sans-serif`,
  rtl: `"${ARABIC}", "${SANS}", sans-serif`,
} as const;
const SPACES = 'U+20,U+A0';
const WEIGHTS = [400, 700] as const;

/**
 * The @font-face rules for a text, for {@link FONT_FAMILY}, with their fonts embedded: a document looks the same on every
 * machine, and carries only the alphabets that it uses.
 */
export async function fontFaces(text: string): Promise<string> {
  const faces = await loadFaces();
  const needed = new Set(faces.filter((face) => face.always));
  for (const codePoint of unusual(text)) {
    for (const face of await facesOf(codePoint)) needed.add(face);
  }
  return (await Promise.all(faces.filter((face) => needed.has(face)).map((face) => face.css()))).join('\n');
}

/**
 * The text with U+FFFD in the place of what no font here can draw: PDF/A allows no missing glyph (ISO 19005-3, section 6.2.11.8), and a
 * font of the machine would look different on the next. What is invisible by nature stays.
 */
export async function drawable(text: string): Promise<string> {
  const missing = new Set(await undrawableCharacters(text));
  return missing.size === 0 ? text : text.replaceAll(/\P{ASCII}/gu, (each) => (missing.has(each) ? '\ufffd' : each));
}

/** The visible characters of a text that no font here can draw, each once. */
export async function undrawableCharacters(text: string): Promise<string[]> {
  const missing: string[] = [];
  for (const codePoint of unusual(text)) {
    const character = String.fromCodePoint(codePoint);
    if (!INVISIBLE.test(character) && (await facesOf(codePoint)).size === 0) missing.push(character);
  }
  return missing;
}

/** Spaces of any width need no glyph either. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{White_Space}]/u;

/** Its code points beyond ASCII, each once. */
function unusual(text: string): number[] {
  return [...new Set(text.match(/\P{ASCII}/gu))].map((character) => character.codePointAt(0)!);
}

/** The faces that draw a character, one a weight: of those that cover it the last one declared wins. */
async function facesOf(codePoint: number): Promise<ReadonlySet<FontFace>> {
  const known = facesByCodePoint.get(codePoint);
  if (known !== undefined) return known;
  // A text may have thousands that were never looked up, as no language has.
  const turn = takeTurn(LOOK_UP_UNITS);
  if (turn) await turn;
  const covering: FontFace[] = [];
  for (const face of await loadFaces()) if (face.isFor(codePoint) && (await face.has(codePoint))) covering.push(face);
  const found = WEIGHTS.map((weight) => covering.findLast(({ weights }) => weights.includes(weight)));
  const faces = new Set(found.filter((face) => face !== undefined));
  facesByCodePoint.set(codePoint, faces);
  return faces;
}

/** Units of {@link takeTurn} that a character takes. */
const LOOK_UP_UNITS = 50;

/** Bounded by the number of characters that there are. */
const facesByCodePoint = new Map<number, ReadonlySet<FontFace>>();

const loadFaces = once(async () => {
  const faces = await Promise.all([
    ...twoWeights('noto-emoji'),
    ...twoWeights('open-sans', (file) => file.includes('-math-')),
    styleSheetFaces('@fontsource/noto-sans-symbols-2/400.css', WEIGHTS),
    ...twoWeights('noto-sans-symbols'),
    ...twoWeights('noto-sans-hebrew'),
    styleSheetFaces('@fontsource/noto-sans-tifinagh/400.css', WEIGHTS),
    ...twoWeights('noto-sans'),
    // The last wins where they overlap: Arabic keeps its joiners, and takes nothing of the Latin. Plex's letters are single glyphs: PDF
    // readers find and copy them whole, where Noto's dots are glyphs of their own.
    ...twoWeights('noto-sans-arabic', (file) => file.includes('-arabic-arabic-')),
    ...twoWeights('ibm-plex-sans-arabic', (file) => file.includes('-arabic-arabic-')),
  ]);
  return faces.flat();
});

function twoWeights(font: string, wanted?: (file: string) => boolean): Promise<FontFace[]>[] {
  return WEIGHTS.map((weight) => styleSheetFaces(`@fontsource/${font}/${weight}.css`, [weight], wanted));
}

/**
 * The faces that a style sheet of @fontsource declares: a WOFF2 file and a range of characters each.
 * @param weights what they are used for, whatever their own weight is: Chromium looks for no other within a family
 */
async function styleSheetFaces(
  sheet: string,
  weights: readonly number[],
  wanted: (file: string) => boolean = () => true,
): Promise<FontFace[]> {
  const path = createRequire(import.meta.url).resolve(sheet);
  const css = await readFile(path, 'utf8');
  const faces: FontFace[] = [];
  for (const [, rule = ''] of css.matchAll(/@font-face\s*\{([^}]*)\}/g)) {
    const file = /url\(([^)]+\.woff2)\)/.exec(rule)?.[1];
    const range = /unicode-range:\s*([^;]+);/.exec(rule)?.[1];
    if (file === undefined || range === undefined) {
      throw new Error(`${sheet} declares a font in a way that is not understood: ${rule.trim()}`);
    }
    if (!wanted(file)) continue;
    const inRange = rangeTest(range);
    const font = once(() => readFile(join(dirname(path), file)));
    const coverage = once(async () => fontCoverage(await font()));
    faces.push({
      weights,
      isFor: inRange,
      has: async (codePoint) => (await coverage())(codePoint),
      always: file.includes('noto-sans-latin-') && !file.includes('-ext-'),
      css: once(async () =>
        file.includes('-arabic-arabic-')
          ? embedded(await font(), weights, ARABIC, `${range},${SPACES}`)
          : embedded(await font(), weights, SANS, range),
      ),
    });
  }
  return faces;
}

function embedded(font: Buffer, weights: readonly number[], family: string, range: string): string {
  const source = `url(data:font/woff2;base64,${font.toString('base64')}) format("woff2")`;
  return weights
    .map((weight) => `@font-face{font-family:"${family}";font-weight:${weight};src:${source};unicode-range:${range}}`)
    .join('\n');
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

/** @param range `U+0600-06FF,U+204F` */
function rangeTest(range: string): (codePoint: number) => boolean {
  const spans = [...range.matchAll(/U\+([0-9A-F]+)(?:-([0-9A-F]+))?/gi)].map(([, from = '', to = from]) => {
    return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
  });
  return (codePoint) => spans.some(([from, to]) => codePoint >= from && codePoint <= to);
}
