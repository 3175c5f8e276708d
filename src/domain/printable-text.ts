import { z } from 'zod';
import { expected } from './input-problems.ts';

// Characters that XML 1.0 forbids or some XML processors change: controls, U+0085, line and paragraph separators,
// non-characters.
const ASCII_CONTROLS = String.raw`\x00-\x08\x0b\x0c\x0e-\x1f\x7f`;
const UNPRINTABLE = new RegExp(String.raw`[${ASCII_CONTROLS}\u0080-\u009f\u2028\u2029\ufffe\uffff]`);
// Spaces and characters without a glyph: Unicode's Default_Ignorable_Code_Point, Hangul fillers included, and the empty
// Braille pattern.
const INVISIBLE = String.raw`\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8`;
// Those beyond U+FFFF (controls of shorthand and of music, tags, variation selectors) are not in the JSON Schema
// patterns, because each language writes them differently.
const VISIBLE = new RegExp(String.raw`[^${INVISIBLE}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`, 'u');
/**
 * The same rule for JSON Schema. Generated clients check `pattern`, so it contains only syntax that all regular
 * expression engines read in the same way, including byte-based ones (PHP's). The part beyond ASCII is in `not`, which
 * such clients leave to the service.
 */
const PRINTABLE = { pattern: `^[^${ASCII_CONTROLS}]*$`, not: { type: 'string', pattern: UNPRINTABLE.source } } as const;
const FILLED = {
  ...PRINTABLE,
  not: { type: 'string', pattern: `${UNPRINTABLE.source}|^[${INVISIBLE}]*$` },
} as const;

/** JSON Schema of a header's text on one line, without the spaces around it, which HTTP removes. */
export const PRINTABLE_HEADER = {
  pattern: String.raw`^[^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?$`,
  not: PRINTABLE.not,
} as const;

/** Whether an invoice can contain the text unchanged. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text) && text.isWellFormed();
}

/** Whether a text is printable and on one line, without tabs. */
export function isPrintableLine(text: string): boolean {
  return isPrintable(text) && !/[\t\n\r]/.test(text);
}

/** Returns the number of code points, which is how JSON Schema counts characters. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Whether a text has at most `max` characters; does not count the characters of a far longer text. */
export function fits(text: string, max: number): boolean {
  return text.length <= max || (text.length <= 2 * max && lengthOf(text) <= max);
}

/**
 * Input rule of a text that is stored and returned only: any text that JSON and UTF-8 can represent.
 * @param max characters
 * @param what is expected, for the messages
 */
export function anyText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .refine((text) => fits(text, max), { error: `is too long: at most ${max} characters`, abort: true })
    .refine((text) => text.isWellFormed(), { error: 'contains half a character (an unpaired surrogate)' })
    .meta({ maxLength: max });
}

/** Input rule of a text that an invoice can contain. @param max characters @param what is expected, for the messages */
export function printableText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .refine((text) => fits(text, max), { error: `is too long: at most ${max} characters`, abort: true })
    .refine(isPrintable, {
      error: 'contains a control character or half a character (an unpaired surrogate), which is not allowed',
    })
    .meta({ maxLength: max, ...PRINTABLE });
}

/** Input rule as {@link printableText}, with at least one visible character. */
export function filledText(max: number, what: string) {
  return printableText(max, what)
    .refine((text) => VISIBLE.test(text), {
      error: `must not be empty: expected ${what}`,
    })
    .meta({ minLength: 1, maxLength: max, ...FILLED });
}

/** Input rule as {@link filledText}, on one line. */
export function oneLineText(max: number, what: string) {
  return filledText(max, what).refine((text) => !/[\t\n\r]/.test(text), {
    error: 'contains a line break or a tab: expected one line',
  });
}
