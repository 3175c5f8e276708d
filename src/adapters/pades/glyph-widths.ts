/**
 * The codes of the glyphs whose width is listed in a font's dictionary (`W`; ISO 32000-1, section 9.7.4.3).
 * @param dictionary the dictionary of a CID font, as the browser writes it
 */
export function codesWithWidth(dictionary: string): ReadonlySet<number> {
  const codes = new Set<number>();
  const [from, to] = widthsArray(dictionary);
  // `c [w1 w2 …]` lists the widths of consecutive codes from c; `first last w` gives one width to a range of codes.
  for (const [, start, list, end] of dictionary
    .slice(from, to)
    .matchAll(/(\d+)\s*(?:\[([^\]]*)\]|\s(\d+)\s+[\d.]+)/g)) {
    const first = Number(start);
    const last = list === undefined ? Number(end) : first + list.trim().split(/\s+/).length - 1;
    for (let code = first; code <= last; code += 1) codes.add(code);
  }
  return codes;
}

/** Adds the width 1 for `codes`, which must not be listed yet. */
export function withMinimalWidth(dictionary: string, codes: Iterable<number>): string {
  const added = [...codes].map((code) => ` ${code} [1]`).join('');
  const [, to] = widthsArray(dictionary);
  if (to > 0) return dictionary.slice(0, to) + added + dictionary.slice(to);
  return `${dictionary.slice(0, dictionary.lastIndexOf('>>'))}/W [${added}]>>`;
}

/** Start and end offset of the content of the array `W`; zeros when there is none. */
function widthsArray(dictionary: string): [number, number] {
  const start = /\/W ?\[/.exec(dictionary);
  if (start === null) return [0, 0];
  const from = start.index + start[0].length;
  let depth = 1;
  let at = from;
  for (; at < dictionary.length && depth > 0; at += 1) {
    if (dictionary[at] === '[') depth += 1;
    else if (dictionary[at] === ']') depth -= 1;
  }
  return [from, at - 1];
}
