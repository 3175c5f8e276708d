/** The zeros of the digits that readers of this service type: Arabic-Indic, Persian and Urdu, full-width. */
const ZEROS = [0x0660, 0x06f0, 0xff10] as const;

/** Characters that people and programs write between or around the digits: spaces, hyphens, direction marks. */
const SEPARATORS = /[\s\p{Dash_Punctuation}\p{Format}\u2212]/gu;

/**
 * Normalizes a typed code such as `123 456` or `١٢٣٤٥٦` for comparison. An authenticator's code is six digits, a
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
