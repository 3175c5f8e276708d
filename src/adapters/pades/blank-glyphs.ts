/**
 * Returns the numbers of the glyphs of a TrueType font that have neither outline nor width (ISO/IEC 14496-22, tables
 * `loca` and `hmtx`), in descending order. The browser keeps the numbers of a font's glyphs and empties those that the
 * document does not use.
 * @param program the font program, decompressed
 * @returns an empty list when the program is not a TrueType font
 */
export function blankGlyphs(program: Buffer): number[] {
  const tables = tablesOf(program);
  const [head, maxp, hhea, loca, hmtx] = ['head', 'maxp', 'hhea', 'loca', 'hmtx'].map((tag) => tables.get(tag));
  if (!head || !maxp || !hhea || !loca || !hmtx) return [];
  const isLong = head.readUInt16BE(50) === 1;
  const offset = (glyph: number) => (isLong ? loca.readUInt32BE(4 * glyph) : loca.readUInt16BE(2 * glyph));
  // The last width in the table also applies to all later glyphs.
  const widths = hhea.readUInt16BE(34);
  const blank: number[] = [];
  for (let glyph = maxp.readUInt16BE(4) - 1; glyph > 0; glyph -= 1) {
    const width = hmtx.readUInt16BE(4 * Math.min(glyph, widths - 1));
    if (width === 0 && offset(glyph) === offset(glyph + 1)) blank.push(glyph);
  }
  return blank;
}

function tablesOf(program: Buffer): ReadonlyMap<string, Buffer> {
  const tables = new Map<string, Buffer>();
  if (program.length < 12 || program.readUInt32BE(0) !== TRUE_TYPE) return tables;
  for (let index = program.readUInt16BE(4); index > 0; index -= 1) {
    const at = 12 + 16 * (index - 1);
    const start = program.readUInt32BE(at + 8);
    tables.set(program.toString('latin1', at, at + 4), program.subarray(start, start + program.readUInt32BE(at + 12)));
  }
  return tables;
}

const TRUE_TYPE = 0x00010000;
