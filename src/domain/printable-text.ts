import { z } from 'zod';
import { expected } from './input-problems.ts';

// What neither XML 1.0 nor every XML processor carries unchanged: controls, U+0085, line and paragraph separators, non-characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/;
/** Its members, for patterns of JSON Schema. */
const MEMBERS = UNPRINTABLE.source.slice(1, -1);

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

/** Text that an invoice can carry. @param max characters @param what is expected, for the messages */
export function printableText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .refine((text) => fits(text, max), { error: `is too long: at most ${max} characters` })
    .refine(isPrintable, {
      error: 'holds a control character or half a character, which an invoice can not carry',
    })
    .meta({ maxLength: max, pattern: `^[^${MEMBERS}]*$` });
}

/** The same, not blank. */
export function filledText(max: number, what: string) {
  return printableText(max, what)
    .refine((text) => text.trim() !== '', {
      error: `must not be empty: ${what} is expected`,
    })
    .meta({ minLength: 1, maxLength: max, pattern: `^[^${MEMBERS}]*[^\\s\\ufeff${MEMBERS}][^${MEMBERS}]*$` });
}
