/** Splits a text into the names that it lists, in their order. A comma or the end of a line ends a name. */
export function namesIn(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
