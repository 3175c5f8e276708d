import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A font file with the characters that it is for. */
interface FontFace {
  readonly covers: (codePoint: number) => boolean;
  /** Latin letters are in every document. */
  readonly always: boolean;
  /** The rule of the style sheet, its font embedded; read once. */
  readonly css: () => Promise<string>;
}

export const FONT_FAMILY = 'Fatoura Sans';

/**
 * The @font-face rules for a text, under {@link FONT_FAMILY}, with their fonts embedded: a document looks the same on every
 * machine, and carries only the alphabets that it uses.
 */
export async function fontFaces(text: string): Promise<string> {
  const faces = await loadFaces();
  const codePoints = [...new Set(text.match(/[^\0-\x7f]/gu))].map((character) => character.codePointAt(0)!);
  const needed = faces.filter((face) => face.always || codePoints.some(face.covers));
  return (await Promise.all(needed.map((face) => face.css()))).join('\n');
}

const loadFaces = once(async () => {
  // Of overlapping ranges the later wins: Arabic keeps its joiners. Its package's Latin would differ from the other's.
  const arabic = (file: string) => file.includes('-arabic-arabic-');
  const faces = await Promise.all([
    styleSheetFaces('@fontsource/noto-sans/400.css', () => true),
    styleSheetFaces('@fontsource/noto-sans/700.css', () => true),
    styleSheetFaces('@fontsource/noto-sans-arabic/400.css', arabic),
    styleSheetFaces('@fontsource/noto-sans-arabic/700.css', arabic),
  ]);
  return faces.flat();
});

/** The faces that a style sheet of @fontsource declares: a WOFF2 file, a weight and a range of characters each. */
async function styleSheetFaces(sheet: string, wanted: (file: string) => boolean): Promise<FontFace[]> {
  const path = createRequire(import.meta.url).resolve(sheet);
  const css = await readFile(path, 'utf8');
  const faces: FontFace[] = [];
  for (const [, rule = ''] of css.matchAll(/@font-face\s*\{([^}]*)\}/g)) {
    const file = /url\(([^)]+\.woff2)\)/.exec(rule)?.[1];
    const weight = /font-weight:\s*(\d+)/.exec(rule)?.[1];
    const range = /unicode-range:\s*([^;]+);/.exec(rule)?.[1];
    if (file === undefined || weight === undefined || range === undefined) {
      throw new Error(`${sheet} declares a font in a way that is not understood: ${rule.trim()}`);
    }
    if (!wanted(file)) continue;
    faces.push({
      covers: rangeTest(range),
      always: file.includes('-latin-') && !file.includes('-ext-'),
      css: once(async () => embedded(await readFile(join(dirname(path), file)), weight, range)),
    });
  }
  return faces;
}

function embedded(font: Buffer, weight: string, range: string): string {
  const source = `url(data:font/woff2;base64,${font.toString('base64')}) format("woff2")`;
  return `@font-face{font-family:"${FONT_FAMILY}";font-weight:${weight};src:${source};unicode-range:${range}}`;
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
