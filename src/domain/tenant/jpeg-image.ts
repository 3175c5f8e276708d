import type { MeasuredImage } from './measured-image.ts';

const [START, END, START_OF_SCAN] = [0xd8, 0xd9, 0xda];
const [QUANTIZATION, HUFFMAN] = [0xdb, 0xc4];
/** Sequential and progressive frames with Huffman codes, the ones that browsers decode (ITU-T T.81, annex B). */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** Further frames: with arithmetic codes, lossless, hierarchical. */
const isOtherFrame = (marker: number) => marker >= 0xc3 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Markers without a segment: TEM and the restarts within a scan. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/**
 * Reads the segments and scans of a JPEG up to its end (ITU-T T.81, annex B). There must be one frame of 8-bit samples,
 * and scans with data for its components, whose tables are there. Fill bytes before markers are allowed; bytes behind the
 * end, such as a second image of a phone, are left out of `content`. The coded data itself is not decoded.
 * @returns null when it is not a complete JPEG
 */
export function readJpeg(file: Buffer): MeasuredImage | null {
  if (file.length < 4 || file[0] !== 0xff || file[1] !== START) return null;
  let frame: Frame | null = null;
  const tables = new Set<string>();
  const scanned = new Set<number>();
  for (let at = 2; ; ) {
    if (file[at] !== 0xff) return null;
    while (file[at] === 0xff) at += 1;
    const marker = file[at++];
    if (marker === undefined || marker === 0 || marker === START || isOtherFrame(marker)) return null;
    if (marker === END) {
      const isWhole = frame?.components.every(({ id }) => scanned.has(id)) ?? false;
      return frame && isWhole ? { width: frame.width, height: frame.height, content: file.subarray(0, at) } : null;
    }
    if (isAlone(marker)) continue;
    const length = at + 2 <= file.length ? file.readUInt16BE(at) : 0;
    const segment = file.subarray(at + 2, at + length);
    if (length < 2 || segment.length !== length - 2) return null;
    at += length;
    if (FRAMES.includes(marker)) {
      if (frame !== null) return null;
      frame = readFrame(segment);
      if (frame === null) return null;
    } else if (marker === QUANTIZATION) {
      for (const table of quantizationTables(segment)) tables.add(`q${table}`);
    } else if (marker === HUFFMAN) {
      for (const table of huffmanTables(segment)) tables.add(table);
    } else if (marker === START_OF_SCAN) {
      const components = frame && scanComponents(segment, frame, tables);
      const end = endOfData(file, at);
      if (components === null || end === at) return null;
      for (const each of components) scanned.add(each);
      at = end;
    }
  }
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: readonly { readonly id: number; readonly quantization: number }[];
}

function readFrame(segment: Buffer): Frame | null {
  const count = segment[5] ?? 0;
  if (segment[0] !== 8 || ![1, 3, 4].includes(count) || segment.length !== 6 + 3 * count) return null;
  const components = Array.from({ length: count }, (_, index) => {
    const at = 6 + 3 * index;
    return { id: segment[at]!, quantization: segment[at + 2]! };
  });
  return { height: segment.readUInt16BE(1), width: segment.readUInt16BE(3), components };
}

function* quantizationTables(segment: Buffer): Generator<number> {
  for (let at = 0; at < segment.length; ) {
    const [precision, table] = [segment[at]! >> 4, segment[at]! & 15];
    at += 1 + (precision === 0 ? 64 : 128);
    if (at <= segment.length) yield table;
  }
}

/** Names of Huffman tables: class (0: DC, 1: AC) and number. */
function* huffmanTables(segment: Buffer): Generator<string> {
  for (let at = 0; at + 17 <= segment.length; ) {
    const name = `h${segment[at]! >> 4}${segment[at]! & 15}`;
    const values = segment.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0);
    at += 17 + values;
    if (at <= segment.length) yield name;
  }
}

/** The components of a scan; null when the frame lacks one, or a table that the scan needs is missing. */
function scanComponents(segment: Buffer, frame: Frame, tables: ReadonlySet<string>): number[] | null {
  const count = segment[0] ?? 0;
  if (count < 1 || count > 4 || segment.length !== 4 + 2 * count) return null;
  const [first = 0, last = 0, approximation = 0] = segment.subarray(1 + 2 * count);
  const found: number[] = [];
  for (let at = 1; at < 1 + 2 * count; at += 2) {
    const component = frame.components.find(({ id }) => id === segment[at]);
    if (component === undefined || !tables.has(`q${component.quantization}`)) return null;
    // A scan that refines DC coefficients has no codes.
    if (first === 0 && approximation >> 4 === 0 && !tables.has(`h0${segment[at + 1]! >> 4}`)) return null;
    if (last > 0 && !tables.has(`h1${segment[at + 1]! & 15}`)) return null;
    found.push(component.id);
  }
  return found;
}

/** Where the coded data of a scan ends: at the next marker that is neither a stuffed octet nor a restart. */
function endOfData(file: Buffer, start: number): number {
  for (let at = file.indexOf(0xff, start); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !isAlone(next)) return at;
  }
  return file.length;
}
