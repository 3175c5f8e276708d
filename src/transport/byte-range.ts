/** A part of a document: the first and the last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The one part that a Range header asks for (RFC 9110, 14.1.2 and 14.2).
 * Not range-parser's reading: to that package a suffix longer than the document (`bytes=-1000` of 100 bytes) and an invalid part (`bytes=5-4`)
 * are unsatisfiable; here the first is the whole document and the second is ignored, as the RFC asks.
 * @returns null when the whole is to be sent: no header, another unit, several parts, or nothing that can be understood;
 *   `unsatisfiable` when the part is beyond the end
 */
export function byteRange(header: string, size: number): ByteRange | null | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.replaceAll(/[ \t]/g, '')) ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
