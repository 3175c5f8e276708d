/**
 * Texts that cost most per character in what programs do with texts: normalization, case, segmentation, regular
 * expressions that go back, splitting, escaping, messages that quote. Each is repeated to the length that is asked for.
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

/** What headers and paths, which are octets, cannot have as they are. */
const WIDE_PATTERNS: Readonly<Record<string, string>> = {
  spaces: ' ',
  'line breaks': '\n',
  'tabs and letters': 'a\t',
  nulls: '\0',
  // In the order of their classes the other way round: each is moved to the front when the text is normalized.
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

/** @param bytes the most that the text may take in JSON, without its quotation marks */
export function worstTexts(bytes: number): readonly WorstText[] {
  return textsOf({ ...PATTERNS, ...WIDE_PATTERNS }, bytes);
}

/** The same without what cannot be sent in a header or a path as it is. */
export function worstAsciiTexts(bytes: number): readonly WorstText[] {
  return textsOf(PATTERNS, bytes);
}

/** Texts of letters and marks, percent-encoded as paths and queries have them. */
export function worstEncodedTexts(bytes: number): readonly WorstText[] {
  const encoded = Object.entries(WIDE_PATTERNS).flatMap(([name, pattern]) =>
    pattern.isWellFormed() ? [[`encoded ${name}`, encodeURIComponent(pattern)]] : [],
  );
  return textsOf(Object.fromEntries(encoded), bytes);
}

function textsOf(patterns: Readonly<Record<string, string>>, bytes: number): readonly WorstText[] {
  return Object.entries(patterns).map(([name, pattern]) => {
    const each = Buffer.byteLength(JSON.stringify(pattern)) - 2;
    // The last character is another one: what looks for the end of a run must go back.
    return [name, `${pattern.repeat(Math.floor((bytes - 1) / each))}x`];
  });
}
