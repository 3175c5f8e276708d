/** Zeros of the digits that keyboards of this service's readers type: Arabic-Indic, those of Persian and Urdu, full-width. */
const ZEROS = [0x0660, 0x06f0, 0xff10] as const;

/** What people and programs write between the digits, or around them: spaces, hyphens, marks of direction. */
const SEPARATORS = /[\s\p{Dash_Punctuation}\p{Format}\u2212]/gu;

/**
 * A code as it is compared, from one as a person types it: `123 456`, `١٢٣٤٥٦`. A code of an authenticator is six digits, a
 * recovery code two groups of five letters or digits.
 * @param text of bounded length
 */
export function typedCode(text: string): string {
  const compact = text.replace(SEPARATORS, '').replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, asciiDigit);
  return compact.length === 10 ? `${compact.slice(0, 5)}-${compact.slice(5)}` : compact;
}

function asciiDigit(digit: string): string {
  const code = digit.charCodeAt(0);
  return String(code - (ZEROS.findLast((zero) => zero <= code) ?? code));
}
