/**
 * Reads the widths of glyphs by their codes from the array `W` of a font's dictionary (ISO 32000-1, section 9.7.4.3).
 * @param dictionary the dictionary of a CID font, as the browser writes it
 */
export function listedWidths(dictionary: string): ReadonlyMap<number, number> {
  const widths = new Map<number, number>();
  const [from, to] = widthsArray(dictionary);
  // `c [w1 w2 …]` lists the widths of consecutive codes from c; `first last w` gives one width to a range of codes.
  for (const [, start, list, end, width] of dictionary
    .slice(from, to)
    .matchAll(/(\d+)\s*(?:\[([^\]]*)\]|\s(\d+)\s+([\d.]+))/g)) {
    const first = Number(start);
    if (list === undefined) for (let code = first; code <= Number(end); code += 1) widths.set(code, Number(width));
    else for (const [index, each] of list.trim().split(/\s+/).entries()) widths.set(first + index, Number(each));
  }
  return widths;
}

/** Adds a width for `codes`, which must not be listed yet. */
export function withWidth(dictionary: string, codes: Iterable<number>, width: number): string {
  const added = [...codes].map((code) => ` ${code} [${width}]`).join('');
  const [, to] = widthsArray(dictionary);
  if (to > 0) return dictionary.slice(0, to) + added + dictionary.slice(to);
  return `${dictionary.slice(0, dictionary.lastIndexOf('>>'))}/W [${added}]>>`;
}

/** Returns start and end offset of the content of the array `W`; zeros when there is none. */
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
