/** A part of a document: the offsets of its first and last byte, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Parses a Range header with one range (RFC 9110, sections 14.1.2 and 14.2). The package range-parser is not used,
 * because it calls a suffix longer than the document (`bytes=-1000` of 100 bytes) and an invalid range (`bytes=5-4`)
 * unsatisfiable. By the RFC, the former means the whole document, and the latter is ignored.
 * @returns null when the whole document is to be sent: no header, another unit, several ranges, or an invalid header.
 * `unsatisfiable` when the range is beyond the end
 */
export function byteRange(header: string, size: number): ByteRange | null | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header.replaceAll(/[ \t]/g, '')) ?? [];
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
