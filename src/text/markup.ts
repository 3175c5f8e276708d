/** A piece of HTML whose text can be inserted into a document without escaping. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | string | number | null | readonly Markup[];

/** Template tag for HTML: inserts {@link Markup} unchanged and escapes all other values; null inserts nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = strings[0]!;
  values.forEach((value, index) => {
    text += textOf(value) + strings[index + 1]!;
  });
  return new Markup(text);
}

function textOf(value: Value): string {
  if (value === null) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map((piece) => piece.text).join('');
  const text = String(value);
  return PLAIN.test(text) ? text : escapeHtml(printable(text));
}

/** Texts that need no escaping, as a fast path: most texts of a long invoice match. */
const PLAIN = /^[\w .,:;()+%/\u00a0\u202f-]*$/;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/**
 * Returns a CSS string literal of `text`. Escapes everything except ASCII letters and digits, so that the text cannot
 * end the string or the style element.
 */
export function cssString(text: string): string {
  return `"${[...printable(text)].map((each) => (/[a-z0-9]/i.test(each) ? each : cssEscape(each))).join('')}"`;
}

function cssEscape(character: string): string {
  return `\\${character.codePointAt(0)!.toString(16)} `;
}

/**
 * Isolates the direction of a text where no element can surround it. Left-to-right text without bidi controls is
 * returned unchanged.
 */
export function isolated(text: string): string {
  const safe = printable(text);
  return DIRECTED.test(safe) ? `\u2068${safe}\u2069` : safe;
}

/** Matches letters of right-to-left scripts, and bidi controls. */
const DIRECTED =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Replaces by U+FFFD what a printed page cannot show faithfully: control characters other than line ends and tabs, lone
 * surrogates, and the two bidi overrides, which reverse a text (`00,001` for `100,00`). Also replaces controls that end
 * an isolate which the text did not open, and combining marks so numerous on a letter that they would cover other
 * lines. Every line end becomes a line feed, as in the XML.
 * @param onReplaced called for each U+FFFD with what it replaces: one character, or the marks of one letter
 */
function printable(text: string, onReplaced?: (characters: string) => void): string {
  let open = 0;
  const safe = text.replaceAll(UNSAFE, (characters) => {
    if (characters.startsWith('\r')) return '\n';
    if (/^[\u2066-\u2068]/.test(characters)) {
      open += 1;
      return characters;
    }
    if (characters === '\u2069' && open > 0) {
      open -= 1;
      return characters;
    }
    onReplaced?.(characters);
    return '\ufffd';
  });
  return safe + '\u2069'.repeat(open);
}

/** Returns the characters of a text that the functions of this file replace by U+FFFD, each once. */
export function replacedCharacters(text: string): string[] {
  if (PLAIN.test(text)) return [];
  const replaced = new Set<string>();
  printable(text, (characters) => {
    for (const each of characters) replaced.add(each);
  });
  return [...replaced];
}

/**
 * Matches CR and CRLF, controls, lone surrogates, bidi overrides, bidi isolates, and combining marks after the sixth on
 * a letter: no language of our fonts needs more.
 */
const UNSAFE = /\r\n?|[^\P{Cc}\n\t]|\p{Cs}|[\u202d\u202e\u2066-\u2069]|(?<=\p{M}{6})\p{M}+/gu;
