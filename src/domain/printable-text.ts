import { z } from 'zod';
import { expected } from './input-problems.ts';

// What neither XML 1.0 nor every XML processor carries unchanged: controls, U+0085, line and paragraph separators, non-characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/;

/** Whether an invoice can carry the text unchanged. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text) && text.isWellFormed();
}

/** Text that an invoice can carry. @param max characters @param what is expected, for the messages */
export function printableText(max: number, what: string) {
  return z
    .string({ error: expected(what) })
    .max(max, { error: `is too long: at most ${max} characters` })
    .refine(isPrintable, {
      error: 'holds a control character or half a character, which an invoice can not carry',
    });
}

/** The same, not blank. */
export function filledText(max: number, what: string) {
  return printableText(max, what).refine((text) => text.trim() !== '', {
    error: `must not be empty: ${what} is expected`,
  });
}
