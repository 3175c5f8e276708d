import { CLUSTER, drawablePart, hasGlyph, nonAsciiCodePoints } from './fonts.ts';

/**
 * Replaces by U+FFFD what no embedded font can draw: characters, and the end of clusters that no single font can draw
 * as a whole. PDF/A allows no missing glyph (ISO 19005-3, section 6.2.11.8), and system fonts differ between machines.
 * Invisible characters are kept. A presentation form without a glyph, such as a ligature that was copied from a PDF, is
 * replaced by the letters that it stands for.
 * @param escaped escapes such letters where the text is markup
 */
export async function drawable(
  text: string,
  escaped: (letters: string) => string = (letters) => letters,
): Promise<string> {
  return (await lookedUp(text, escaped)).drawn;
}

/** Returns the characters and clusters of a text that {@link drawable} replaces or cuts by U+FFFD, each once. */
export async function undrawableCharacters(text: string): Promise<string[]> {
  // The page escapes `>`, so there a mark after it combines with a semicolon.
  const { missing, clusters } = await lookedUp(text.replaceAll('>', ';'), (letters) => letters);
  const named = [...clusters.keys()].filter((cluster) => ![...cluster].some((character) => missing.has(character)));
  return [...missing, ...named];
}

const REPLACEMENT = '\ufffd';
/**
 * Matches variation selectors, except that of emoji style. They are removed: the fonts have no variants, and a selector
 * makes the browser look for other fonts. Emoji have one colour anyway, as in text style.
 */
const SELECTOR = /[\ufe00-\ufe0e\u{e0100}-\u{e01ef}\u180b-\u180d\u180f]/gu;
/** Matches ligatures, isolated and joined forms of letters, wide and narrow forms. */
const PRESENTATION_FORM = /[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc\uff01-\uffee]/;

async function lookedUp(given: string, escaped: (letters: string) => string) {
  const text = await composed(given.replaceAll(SELECTOR, ''));
  const letters = new Map<string, string>();
  const missing = new Set<string>();
  for (const codePoint of nonAsciiCodePoints(text)) {
    if (await hasGlyph(codePoint)) continue;
    const character = String.fromCodePoint(codePoint);
    const instead = PRESENTATION_FORM.test(character) ? character.normalize('NFKC') : character;
    if (instead !== character && (await isDrawable(instead))) letters.set(character, instead);
    else missing.add(character);
  }
  /** The replacement of each cluster that cannot be drawn as a whole. */
  const clusters = new Map<string, string>();
  for (const cluster of new Set(text.match(CLUSTER))) {
    const part = await drawablePart(cluster);
    if (part.text.length < cluster.length) clusters.set(cluster, part.text + REPLACEMENT);
  }
  const cut = clusters.size === 0 ? text : text.replaceAll(CLUSTER, (each) => clusters.get(each) ?? each);
  if (letters.size + missing.size === 0) return { missing, clusters, drawn: cut };
  const drawn = cut.replaceAll(/\P{ASCII}/gu, (each) => {
    const instead = letters.get(each);
    return instead === undefined ? (missing.has(each) ? REPLACEMENT : each) : escaped(instead);
  });
  return { missing, clusters, drawn };
}

/**
 * Composes letters with their marks where fonts have a glyph for both together (macOS writes them as separate
 * characters).
 */
async function composed(text: string): Promise<string> {
  const letters = new Map<string, string>();
  for (const cluster of new Set(text.match(CLUSTER))) {
    const one = cluster.normalize('NFC');
    if (one !== cluster && (await isDrawable(one))) letters.set(cluster, one);
  }
  return letters.size === 0 ? text : text.replaceAll(CLUSTER, (each) => letters.get(each) ?? each);
}

async function isDrawable(text: string): Promise<boolean> {
  for (const character of text) if (!(await hasGlyph(character.codePointAt(0)!))) return false;
  return true;
}
