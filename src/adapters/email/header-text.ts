/** Returns the text on one line, without controls that change the direction of the text after it. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
}

/**
 * Returns the text in the form that a header of a mail may have: {@link oneLine}, and no encoded word (RFC 2047,
 * section 2), which readers would decode to any character, line ends included.
 */
export function headerText(text: string): string {
  return oneLine(text).replaceAll('=?', '= ?');
}
