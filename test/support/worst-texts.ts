/**
 * Texts that maximize the cost per character of text processing: normalization, case, segmentation, backtracking
 * regular expressions, splitting, escaping, quoting messages. Each is repeated to the requested length.
 */
const PATTERNS: Readonly<Record<string, string>> = {
  letters: 'a',
  slashes: '/',
  'points and letters': 'a.',
  points: '.',
  commas: ',',
  'commas and spaces': 'a , ',
  semicolons: ';q=0.1',
  'equals signs': 'a=',
  'per cent escapes': '%C2%A0',
  'quotation marks': '"',
  backslashes: '\\',
  hyphens: 'a-',
  parentheses: '(',
  braces: '{[',
  digits: '1',
  'at signs': 'a@',
  colons: ':',
};

/** Texts that headers and paths, which are octets, cannot contain unencoded. */
const WIDE_PATTERNS: Readonly<Record<string, string>> = {
  spaces: ' ',
  'line breaks': '\n',
  'tabs and letters': 'a\t',
  nulls: '\0',
  // In reverse order of their combining classes: normalization moves each one to the front.
  'combining marks': '\u0315\u0327\u0334\u0308',
  'equal combining marks': '\u0301',
  'Hangul syllables': '\u1112\u1161\u11ab',
  'compatibility ligatures': '\ufdfa',
  'final letters of Turkish': 'İ',
  'Arabic with vowel signs': 'مُ',
  'joined emoji': '👩\u200d',
  'flags without an end': '🇲',
  'surrogate pairs': '😀',
  'halves of surrogate pairs': '\ud83d',
  'controls of direction': '\u202e',
  'zero-width joiners': '\u200d',
  'variation selectors': '1\ufe0f\u20e3',
  'full stops of other scripts': 'a。',
};

/** A long text, with a name for messages. */
export type WorstText = readonly [name: string, text: string];

/** @param bytes maximum size of the text in JSON, without its quotation marks */
export function worstTexts(bytes: number): readonly WorstText[] {
  return textsOf({ ...PATTERNS, ...WIDE_PATTERNS }, bytes);
}

/** Returns the same texts, except those that a header or a path cannot contain unencoded. */
export function worstAsciiTexts(bytes: number): readonly WorstText[] {
  return textsOf(PATTERNS, bytes);
}

/** Returns texts of letters and marks, percent-encoded as in paths and queries. */
export function worstEncodedTexts(bytes: number): readonly WorstText[] {
  const encoded = Object.entries(WIDE_PATTERNS).flatMap(([name, pattern]) =>
    pattern.isWellFormed() ? [[`encoded ${name}`, encodeURIComponent(pattern)]] : [],
  );
  return textsOf(Object.fromEntries(encoded), bytes);
}

function textsOf(patterns: Readonly<Record<string, string>>, bytes: number): readonly WorstText[] {
  return Object.entries(patterns).map(([name, pattern]) => {
    const each = Buffer.byteLength(JSON.stringify(pattern)) - 2;
    // The last character differs, so that a search for the end of a run must backtrack.
    return [name, `${pattern.repeat(Math.floor((bytes - 1) / each))}x`];
  });
}
