import { z } from 'zod';
import { expected } from './input-problems.ts';

// What neither XML 1.0 nor every XML processor carries unchanged: controls, U+0085, line and paragraph separators, non-characters.
const ASCII_CONTROLS = String.raw`\x00-\x08\x0b\x0c\x0e-\x1f\x7f`;
const UNPRINTABLE = new RegExp(String.raw`[${ASCII_CONTROLS}\u0080-\u009f\u2028\u2029\ufffe\uffff]`);
// Spaces and what is not drawn: Unicode's Default_Ignorable_Code_Point, the Hangul fillers included, and the empty Braille cell.
const INVISIBLE = String.raw`\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8`;
// Those beyond U+FFFF (controls of shorthand and of music, tags, variation selectors) stand in no pattern of JSON Schema: each language
// writes them in another way.
const VISIBLE = new RegExp(String.raw`[^${INVISIBLE}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`, 'u');
/**
 * The same for JSON Schema. Generated clients check `pattern`, so it holds only what all engines of regular expressions read alike, also
 * those that go by bytes (PHP's); what is beyond ASCII stands in `not`, which they leave to the service.
 */
const PRINTABLE = { pattern: `^[^${ASCII_CONTROLS}]*$`, not: { type: 'string', pattern: UNPRINTABLE.source } } as const;
const FILLED = {
  ...PRINTABLE,
  not: { type: 'string', pattern: `${UNPRINTABLE.source}|^[${INVISIBLE}]*$` },
} as const;

/** Whether an invoice can carry the text unchanged. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text) && text.isWellFormed();
}

/** How many characters a text has: code points, as JSON Schema counts them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Whether a text has at most `max` characters, without walking through one that is far too long. */
export function fits(text: string, max: number): boolean {
  return text.length <= max || (text.length <= 2 * max && lengthOf(text) <= max);
}

/** Text that is kept and given back only, so that any will do which JSON and UTF-8 carry. @param max characters @param what is expected */
export function anyText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .refine((text) => fits(text, max), { error: `is too long: at most ${max} characters` })
    .refine((text) => text.isWellFormed(), { error: 'holds half a character, which is no text' })
    .meta({ maxLength: max });
}

/** Text that an invoice can carry. @param max characters @param what is expected, for the messages */
export function printableText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .refine((text) => fits(text, max), { error: `is too long: at most ${max} characters` })
    .refine(isPrintable, {
      error: 'holds a control character or half a character, which an invoice can not carry',
    })
    .meta({ maxLength: max, ...PRINTABLE });
}

/** The same, with something to see in it. */
export function filledText(max: number, what: string) {
  return printableText(max, what)
    .refine((text) => VISIBLE.test(text), {
      error: `must not be empty: ${what} is expected`,
    })
    .meta({ minLength: 1, maxLength: max, ...FILLED });
}

/** The same, on one line. */
export function oneLineText(max: number, what: string) {
  return filledText(max, what).refine((text) => !/[\t\n\r]/.test(text), {
    error: 'holds a line break or a tab: it is one line',
  });
}
