const EXIF = Buffer.from('Exif\0\0', 'latin1');
const ORIENTATION = 0x0112;
const SHORT = 3;

/**
 * Reads the orientation from the APP1 segment of a JPEG: 1 is upright, 5 to 8 are on their sides (Exif 3.0, 4.6.5).
 * Browsers apply it.
 * @returns null when the segment is not Exif or states no orientation
 */
export function exifOrientation(segment: Buffer): number | null {
  if (!segment.subarray(0, EXIF.length).equals(EXIF)) return null;
  const tiff = segment.subarray(EXIF.length);
  const order = tiff.toString('latin1', 0, 2);
  if (tiff.length < 8 || (order !== 'II' && order !== 'MM')) return null;
  const short = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  const count = first + 2 <= tiff.length ? short(first) : 0;
  for (let at = first + 2; at < first + 2 + 12 * count && at + 12 <= tiff.length; at += 12) {
    const value = short(at + 8);
    if (short(at) === ORIENTATION && short(at + 2) === SHORT && value >= 1 && value <= 8) return value;
  }
  return null;
}
