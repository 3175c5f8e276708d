import { deflateSync, inflateSync } from 'node:zlib';
import { streamObject } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';

/**
 * The streams that tell which characters glyphs stand for, with a character for every glyph, as PDF/A level A wants it (ISO 19005-3, section
 * 6.2.11.7). The browser writes U+0000 for glyphs that are but a part of a letter, as the dots of Arabic ones are, and gives the letters
 * themselves as actual text beside; an invisible character that breaks no word stands for those parts.
 * @returns the objects that change
 */
export function completedUnicodeMaps(objects: ReadonlyMap<number, PdfObject>): PdfObject[] {
  const changed: PdfObject[] = [];
  for (const { content, isStream } of objects.values()) {
    if (isStream || !content.includes('/ToUnicode')) continue;
    const number = Number(/\/ToUnicode (\d+) 0 R/.exec(content.toString('latin1'))?.[1]);
    const map = objects.get(number)?.content;
    const start = map?.indexOf('stream\n') ?? -1;
    if (map === undefined || start === -1 || !map.subarray(0, start).includes('/FlateDecode')) continue;
    const text = inflateSync(map.subarray(start + 'stream\n'.length)).toString('latin1');
    const completed = text.replaceAll(/^(<[0-9A-F]{4}>) <0000>$/gm, `$1 <${COMBINING_GRAPHEME_JOINER}>`);
    if (completed === text) continue;
    const packed = deflateSync(Buffer.from(completed, 'latin1'));
    changed.push({ number, content: streamObject('/Filter/FlateDecode', packed), isStream: true });
  }
  return changed;
}

const COMBINING_GRAPHEME_JOINER = '034F';
