import { deflateSync } from 'node:zlib';
import { inflated, streamObject } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';

/** The Unicode text of each glyph of a font, by the glyph's code (ToUnicode CMap; ISO 32000-1, section 9.10.3). */
export type UnicodeMap = Map<number, string>;

/**
 * Parses a ToUnicode CMap written by the browser: two-octet codes in `bfchar` entries, and `bfrange` entries of
 * consecutive characters.
 * @returns null when the stream has a different structure
 */
export function readUnicodeMap({ content }: PdfObject): UnicodeMap | null {
  const text = inflated(content);
  if (text === null) return null;
  const map: UnicodeMap = new Map();
  for (const [, block = ''] of text.matchAll(/beginbf(?:char|range)\n(.*?)endbf/gs)) {
    for (const line of block.trimEnd().split('\n')) {
      const [, from, to = from, target] = ENTRY.exec(line) ?? [];
      // A partly parsed map would lose the other entries when it is written back.
      if (from === undefined || to === undefined || target === undefined) return null;
      const [first, last] = [Number.parseInt(from, 16), Number.parseInt(to, 16)];
      const units = utf16(target);
      const end = units.charCodeAt(units.length - 1);
      for (let code = first; code <= last; code += 1) {
        map.set(code, units.slice(0, -1) + String.fromCharCode(end + code - first));
      }
    }
  }
  return map;
}

/**
 * Writes a ToUnicode CMap with a text for every glyph, as PDF/A level A requires (ISO 19005-3, section 6.2.11.7). The
 * browser maps glyphs that are only part of a letter, such as the dots of some Arabic letters, to U+0000 and gives the
 * letters as ActualText. Those glyphs are mapped to the combining grapheme joiner, which is invisible and does not
 * break words.
 */
export function writeUnicodeMap(number: number, map: UnicodeMap): PdfObject {
  const entries = [...map]
    .sort(([one], [other]) => one - other)
    .map(([code, text]) => `<${hex(code)}> <${text === '\0' ? COMBINING_GRAPHEME_JOINER : hexText(text)}>`);
  const blocks: string[] = [];
  for (let at = 0; at < entries.length; at += BLOCK) {
    const block = entries.slice(at, at + BLOCK);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar\n`);
  }
  const packed = deflateSync(Buffer.from(`${HEAD}${blocks.join('')}${TAIL}`, 'latin1'));
  return { number, content: streamObject('/Filter/FlateDecode', packed), isStream: true };
}

/** Matches a code, or the first and last code of a range, followed by the text of the first code. */
const ENTRY = /^<([0-9A-F]{4})>(?: <([0-9A-F]{4})>)? <([0-9A-F]+)>$/;

/** Formats a two-octet code in hexadecimal. */
export function hex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, '0');
}

function hexText(text: string): string {
  return Array.from({ length: text.length }, (_, index) => hex(text.charCodeAt(index))).join('');
}

function utf16(digits: string): string {
  return digits.replaceAll(/.{4}/g, (unit) => String.fromCharCode(Number.parseInt(unit, 16)));
}

const COMBINING_GRAPHEME_JOINER = '034F';
/** Maximum number of entries per block (section 9.10.3). */
const BLOCK = 100;
const HEAD = `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo
<<  /Registry (Adobe)
/Ordering (UCS)
/Supplement 0
>> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
`;
const TAIL = `endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
