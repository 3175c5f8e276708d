/**
 * The codes of glyphs that a font's dictionary gives a width to (`W`; ISO 32000-1, section 9.7.4.3).
 * @param dictionary of a CID font, as the browser writes it
 */
export function codesWithWidth(dictionary: string): ReadonlySet<number> {
  const codes = new Set<number>();
  const [from, to] = placeOf(dictionary);
  // `c [w …]`: widths of c and what follows; `first last w`: the width of all of them.
  for (const [, start, list, end] of dictionary
    .slice(from, to)
    .matchAll(/(\d+)\s*(?:\[([^\]]*)\]|\s(\d+)\s+[\d.]+)/g)) {
    const first = Number(start);
    const last = list === undefined ? Number(end) : first + list.trim().split(/\s+/).length - 1;
    for (let code = first; code <= last; code += 1) codes.add(code);
  }
  return codes;
}

/** The dictionary with the width 1 for codes that it gives none. */
export function withLeastWidth(dictionary: string, codes: Iterable<number>): string {
  const added = [...codes].map((code) => ` ${code} [1]`).join('');
  const [, to] = placeOf(dictionary);
  if (to > 0) return dictionary.slice(0, to) + added + dictionary.slice(to);
  return `${dictionary.slice(0, dictionary.lastIndexOf('>>'))}/W [${added}]>>`;
}

/** Where the content of the array `W` begins and ends; zeros when there is none. */
function placeOf(dictionary: string): [number, number] {
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
