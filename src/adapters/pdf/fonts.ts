import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { takeTurn } from '../../domain/event-loop-turns.ts';
import { fontCoverage } from './font-coverage.ts';

/** A font file of a style sheet, with its range of characters. */
interface FontFace {
  readonly weights: readonly number[];
  /** Whether the character is in the `unicode-range` of the style sheet's rule. */
  readonly inRange: (codePoint: number) => boolean;
  /** Whether the font has a glyph for the character. */
  readonly hasGlyph: (codePoint: number) => Promise<boolean>;
  /** Whether the face is embedded into every document; true for Latin letters. */
  readonly always: boolean;
  /** Returns the `@font-face` rules with the embedded font. Reads the file only once. */
  readonly css: () => Promise<string>;
}

const [SANS, ARABIC] = ['Fatoura Sans', 'Fatoura Arabic'];

/**
 * `font-family` by text direction. In right-to-left text the spaces come from the Arabic font too: PDF readers find
 * phrases only within a run of one font.
 */
export const FONT_FAMILY = {
  ltr: `"${SANS}", "${ARABIC}", sans-serif`,
  rtl: `"${ARABIC}", "${SANS}", sans-serif`,
} as const;
const SPACES = 'U+20,U+A0';
const WEIGHTS = [400, 700] as const;

/**
 * Returns the `@font-face` rules that a text needs, for {@link FONT_FAMILY}, with embedded fonts. A document therefore
 * looks the same on every machine and embeds only the scripts that it uses.
 */
export async function fontFaces(text: string): Promise<string> {
  const faces = await loadFaces();
  const needed = new Set(faces.filter((face) => face.always));
  for (const codePoint of nonAsciiCodePoints(text)) {
    for (const face of usedOf(await coveringFaces(codePoint))) needed.add(face);
  }
  for (const cluster of new Set(text.match(CLUSTER))) {
    for (const face of usedOf((await drawablePart(cluster)).faces)) needed.add(face);
  }
  return (await Promise.all(faces.filter((face) => needed.has(face)).map((face) => face.css()))).join('\n');
}

/** Whether any embedded font has a glyph for a character, or none is needed. */
export async function hasGlyph(codePoint: number): Promise<boolean> {
  return INVISIBLE.test(String.fromCodePoint(codePoint)) || (await coveringFaces(codePoint)).length > 0;
}

/**
 * Returns the longest beginning of a cluster that one font can draw, and the faces that can draw it. The browser draws
 * a cluster with a single font, and shows boxes where no font covers all of it.
 */
export async function drawablePart(
  cluster: string,
): Promise<{ readonly text: string; readonly faces: readonly FontFace[] }> {
  let faces: readonly FontFace[] | null = null;
  let length = 0;
  for (const character of cluster) {
    if (!/\p{Default_Ignorable_Code_Point}/u.test(character)) {
      const covering = await coveringFaces(character.codePointAt(0)!);
      const common: readonly FontFace[] = faces === null ? covering : faces.filter((face) => covering.includes(face));
      if (common.length === 0) break;
      faces = common;
    }
    length += character.length;
  }
  return { text: cluster.slice(0, length), faces: faces ?? [] };
}

/** Matches characters that need no glyph, including spaces of any width. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{White_Space}]/u;

/**
 * Matches characters that the browser draws together: a base character with its marks, skin tones, joined emoji, flags.
 * Excludes `>`, which ends a tag of the page, so that no mark combines with it.
 */
export const CLUSTER =
  /(?:\p{RI}{2}|[^>\n\t])(?:[\p{M}\p{Emoji_Modifier}]|\u200d\p{Extended_Pictographic}?)+|\p{RI}{2}/gu;

/** Returns the non-ASCII code points of a text, each once. */
export function nonAsciiCodePoints(text: string): number[] {
  return [...new Set(text.match(/\P{ASCII}/gu))].map((character) => character.codePointAt(0)!);
}

/** Returns the faces that the browser uses out of those that cover a text: for each weight, the face declared last. */
function usedOf(covering: readonly FontFace[]): readonly FontFace[] {
  const found = WEIGHTS.map((weight) => covering.findLast(({ weights }) => weights.includes(weight)));
  return found.filter((face) => face !== undefined);
}

/** Returns the faces that have a character, in the order of declaration. */
async function coveringFaces(codePoint: number): Promise<readonly FontFace[]> {
  const known = facesByCodePoint.get(codePoint);
  if (known !== undefined) return known;
  // A hostile text may contain thousands of characters that were never looked up, so the event loop gets turns in
  // between.
  const turn = takeTurn(LOOK_UP_UNITS);
  if (turn) await turn;
  const covering: FontFace[] = [];
  for (const face of await loadFaces())
    if (face.inRange(codePoint) && (await face.hasGlyph(codePoint))) covering.push(face);
  facesByCodePoint.set(codePoint, covering);
  return covering;
}

/** Cost of one look-up in units of {@link takeTurn}. */
const LOOK_UP_UNITS = 50;

/** The faces of each code point looked up so far. The number of Unicode characters bounds its size. */
const facesByCodePoint = new Map<number, readonly FontFace[]>();

const loadFaces = once(async () => {
  const faces = await Promise.all([
    ...twoWeights('noto-emoji'),
    ...twoWeights('open-sans', (file) => file.includes('-math-')),
    styleSheetFaces('@fontsource/noto-sans-symbols-2/400.css', WEIGHTS),
    ...twoWeights('noto-sans-symbols'),
    ...twoWeights('noto-sans-hebrew'),
    styleSheetFaces('@fontsource/noto-sans-tifinagh/400.css', WEIGHTS),
    ...twoWeights('noto-sans'),
    // Where ranges overlap, the browser uses the last face. Only the Arabic subsets of the Arabic fonts are declared:
    // they keep the Arabic joiners and draw no Latin letters. Plex comes after Noto because each of its letters is a
    // single glyph, which PDF readers find and copy correctly; Noto draws the dots as separate glyphs.
    ...twoWeights('noto-sans-arabic', (file) => file.includes('-arabic-arabic-')),
    ...twoWeights('ibm-plex-sans-arabic', (file) => file.includes('-arabic-arabic-')),
  ]);
  return faces.flat();
});

function twoWeights(font: string, wanted?: (file: string) => boolean): Promise<FontFace[]>[] {
  return WEIGHTS.map((weight) => styleSheetFaces(`@fontsource/${font}/${weight}.css`, [weight], wanted));
}

/**
 * Returns the faces that a style sheet of @fontsource declares, each a WOFF2 file and a range of characters.
 * @param weights the weights to declare the faces for, whatever their own weight: Chromium does not fall back to
 * another weight of a family
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
      throw new Error(`${sheet} has an @font-face rule of unexpected form: ${rule.trim()}`);
    }
    if (!wanted(file)) continue;
    const font = once(() => readFile(join(dirname(path), file)));
    const coverage = once(async () => fontCoverage(await font()));
    faces.push({
      weights,
      inRange: rangeTest(range),
      hasGlyph: async (codePoint) => (await coverage())(codePoint),
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

/** Returns a test for a range of code points. @param range `U+0600-06FF,U+204F` */
function rangeTest(range: string): (codePoint: number) => boolean {
  const spans = [...range.matchAll(/U\+([0-9A-F]+)(?:-([0-9A-F]+))?/gi)].map(([, from = '', to = from]) => {
    return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
  });
  return (codePoint) => spans.some(([from, to]) => codePoint >= from && codePoint <= to);
}
