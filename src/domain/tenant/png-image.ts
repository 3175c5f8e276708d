import { crc32, inflateSync } from 'node:zlib';
import type { MeasuredImage } from './measured-image.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Samples per pixel by colour type, and the bit depths that each type allows (PNG, section 11.2.1). */
const COLOUR_TYPES: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};
const INDEXED = 3;
/**
 * The chunks that a decoder must know. Other chunks may be skipped if their name starts with a small letter (section
 * 5.4).
 */
const CRITICAL = ['IHDR', 'PLTE', 'IDAT', 'IEND'];
const isCritical = (type: string) => /^[A-Z]/.test(type);
/** Maximum number of colours in a palette. */
const MAX_COLOURS = 256;
/**
 * For each pass of an interlaced image, the first column and row of its pixels and the distances between them (section
 * 8.2).
 */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const WHOLE = [[0, 0, 1, 1]] as const;

interface PngFile extends MeasuredImage {
  readonly header: Buffer;
  readonly hasPalette: boolean;
  /** The compressed pixels. */
  readonly data: Buffer;
}

/**
 * Reads the chunks of a PNG up to its end (section 5). Each checksum must be right, the first chunk must be the only
 * header, a palette may come once and before the pixels, and all other critical chunks are refused. Bytes after the end
 * are not part of `content`. The pixels are not decoded.
 * @returns null when it is not a complete PNG
 */
export function readPng(file: Buffer): PngFile | null {
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  let header: Buffer | null = null;
  let hasPalette = false;
  const data: Buffer[] = [];
  for (let at = SIGNATURE.length; at + 12 <= file.length; ) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length || crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    const chunk = file.subarray(at + 8, end - 4);
    if ((header === null) !== (type === 'IHDR') || (isCritical(type) && !CRITICAL.includes(type))) return null;
    if (header === null && chunk.length !== 13) return null;
    header ??= chunk;
    if (type === 'PLTE') {
      if (hasPalette || data.length > 0) return null;
      hasPalette = chunk.length > 0 && chunk.length % 3 === 0 && chunk.length <= 3 * MAX_COLOURS;
    }
    if (type === 'IDAT') data.push(chunk);
    if (type === 'IEND') {
      const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
      return { width, height, content: file.subarray(0, end), header, hasPalette, data: Buffer.concat(data) };
    }
    at = end;
  }
  return null;
}

/**
 * Whether the pixels of a PNG can be decoded. They must decompress to exactly their size, which the caller has bounded
 * by width and height, and each row must have a valid filter.
 */
export function hasPixels({ width, height, header, hasPalette, data }: PngFile): boolean {
  const [depth = 0, type = 0, compression, filter, interlace] = header.subarray(8);
  const colour = COLOUR_TYPES[type];
  if (colour === undefined || !colour.depths.includes(depth) || compression !== 0 || filter !== 0) return false;
  if ((interlace !== 0 && interlace !== 1) || (type === INDEXED && !hasPalette)) return false;
  /** Offsets of the first octets of all rows. These octets name the rows' filters. */
  const rows: number[] = [];
  let size = 0;
  for (const [left, top, across, down] of interlace === 1 ? PASSES : WHOLE) {
    const columns = Math.ceil((width - left) / across);
    if (columns <= 0) continue;
    for (let row = top; row < height; row += down) {
      rows.push(size);
      size += 1 + Math.ceil((columns * colour.samples * depth) / 8);
    }
  }
  try {
    const pixels = inflateSync(data, { maxOutputLength: size });
    return pixels.length === size && rows.every((at) => pixels[at]! <= 4);
  } catch {
    return false;
  }
}
