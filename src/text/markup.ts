/** A piece of HTML: its text is safe to be put into a document as it is. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Markup | string | number | null | readonly Markup[];

/** HTML from a template: pieces of {@link Markup} go in as they are, everything else as text; null is nothing. */
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

/** Most texts of a long invoice: nothing to escape. */
const PLAIN = /^[\w .,:;()+%/\u00a0\u202f-]*$/;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** A CSS string literal of `text`. All but ASCII letters and digits is escaped: it ends neither the string nor the style element. */
export function cssString(text: string): string {
  return `"${[...printable(text)].map((each) => (/[a-z0-9]/i.test(each) ? each : cssEscape(each))).join('')}"`;
}

function cssEscape(character: string): string {
  return `\\${character.codePointAt(0)!.toString(16)} `;
}

/** The text in a direction of its own, where no element can be put around it. Left-to-right text without controls stays as it is. */
export function isolated(text: string): string {
  const safe = printable(text);
  return DIRECTED.test(safe) ? `\u2068${safe}\u2069` : safe;
}

/** Letters of right-to-left scripts, and bidi controls. */
const DIRECTED =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * What paper can't show truly is made visible as U+FFFD: control characters (but line ends and tabs), lone surrogates, the two
 * bidi overrides, with which a text reads backwards (`00,001` for `100,00`), what would end an isolation that the text did not
 * begin, and marks piled so high that they would cover other lines. Every way to end a line becomes a line feed, as in the XML.
 */
function printable(text: string): string {
  let open = 0;
  const safe = text.toWellFormed().replaceAll(UNSAFE, (character) => {
    if (character.startsWith('\r')) return '\n';
    if (/^\p{M}/u.test(character)) return '\ufffd';
    if (/[\u2066-\u2068]/.test(character)) open += 1;
    else if (character !== '\u2069' || open === 0) return '\ufffd';
    else open -= 1;
    return character;
  });
  return safe + '\u2069'.repeat(open);
}

/** CR and CRLF, controls, bidi overrides, bidi isolates, marks beyond the sixth on a letter, which no language of our fonts needs. */
const UNSAFE = /\r\n?|[^\P{Cc}\n\t]|[\u202d\u202e\u2066-\u2069]|(?<=\p{M}{6})\p{M}+/gu;
