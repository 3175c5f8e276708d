import { exifOrientation } from './exif-orientation.ts';
import { type HuffmanTable, huffmanTables } from './jpeg-huffman.ts';
import type { MeasuredImage } from './measured-image.ts';
import { NotALogo } from './not-a-logo.ts';

const [START, END, START_OF_SCAN, RESTART_INTERVAL] = [0xd8, 0xd9, 0xda, 0xdd];
const [QUANTIZATION, HUFFMAN, EXIF, ADOBE, JFIF] = [0xdb, 0xc4, 0xe1, 0xee, 0xe0];
/** Markers of the frames that browsers decode: sequential and progressive with Huffman codes (ITU-T T.81, annex B). */
const FRAMES = [0xc0, 0xc1, 0xc2];
const PROGRESSIVE = 0xc2;
/** Whether a marker starts another frame: with arithmetic codes, lossless or hierarchical. */
const isOtherFrame = (marker: number) => marker >= 0xc3 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Whether a marker has no segment: TEM and the restarts within a scan. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
/** Whether no decoder knows a marker: reserved ones, those of extensions and of hierarchical images. */
const isUnknown = (marker: number) =>
  marker < 0xc0 || marker === 0xc8 || [0xde, 0xdf].includes(marker) || (marker >= 0xf0 && marker <= 0xfd);

/**
 * Maximum number of scans of an image. Encoders write a dozen. Each costs a decoder the time of all pixels, however
 * short the scan is.
 */
const MAX_SCANS = 100;
/** Maximum number of blocks in a unit of interleaved components (ITU-T T.81, B.2.3). */
const MAX_BLOCKS_OF_UNIT = 10;

export interface JpegComponent {
  readonly id: number;
  /** Horizontal and vertical sampling factors, 1 to 4. */
  readonly across: number;
  readonly down: number;
  readonly quantization: number;
}

/** A component in a scan. A table may be undefined if the scan does not need it. */
export interface ScannedComponent {
  /** Index of the component in the frame. */
  readonly index: number;
  readonly dc: HuffmanTable | undefined;
  readonly ac: HuffmanTable | undefined;
}

export interface JpegScan {
  readonly components: readonly ScannedComponent[];
  /** First and last coefficient, 0 to 63. */
  readonly first: number;
  readonly last: number;
  /** Whether the scan adds a bit to coefficients of earlier scans. */
  readonly isRefinement: boolean;
  /** The lowest bit of the coefficients that the scan contains, 0 to 13. */
  readonly lowBit: number;
  /** Number of units between restarts; 0 if there are none. */
  readonly restartInterval: number;
  /** The coded data, including stuffed octets and restarts. */
  readonly data: Buffer;
}

export interface JpegFrame {
  readonly isProgressive: boolean;
  /** The stored width; the image may be on its side. */
  readonly width: number;
  readonly height: number;
  readonly components: readonly JpegComponent[];
}

/** A JPEG file. Width and height are as browsers show it. */
export interface JpegFile extends MeasuredImage {
  readonly frame: JpegFrame;
  readonly scans: readonly JpegScan[];
  /**
   * Whether a PDF contains the file unchanged. For files in RGB or CMYK, and those turned by Exif, Chromium decodes the
   * image and the PDF contains its pixels.
   */
  readonly isKept: boolean;
}

/**
 * Reads the segments of a JPEG up to its end (ITU-T T.81, annex B). It must have one frame of 8-bit samples, and scans
 * for its components whose tables are present. Fill bytes before markers are allowed. Bytes after the end, such as a
 * second image of a phone, are not part of `content`. The coded data is not decoded, and the memory does not depend on
 * the size that the frame states.
 * @returns null when it is not a complete JPEG
 * @throws {NotALogo} when browsers or PDF readers would not decode it
 */
export function readJpeg(file: Buffer): JpegFile | null {
  if (file.length < 4 || file[0] !== 0xff || file[1] !== START) return null;
  let frame: JpegFrame | null = null;
  let restartInterval = 0;
  let orientation = 1;
  let adobe: number | undefined;
  let isJfif = false;
  const quantizations = new Set<number>();
  const huffman = new Map<string, HuffmanTable>();
  const scans: JpegScan[] = [];
  for (let at = 2; ; ) {
    if (file[at] !== 0xff) return null;
    while (file[at] === 0xff) at += 1;
    const marker = file[at++];
    if (marker === undefined || marker === START) return null;
    if (marker === END) {
      if (frame === null || !isScanned(frame, scans)) return null;
      const { width, height } = orientation < 5 ? frame : { width: frame.height, height: frame.width };
      const isKept = orientation === 1 && isYcc(frame, isJfif, adobe);
      return { width, height, content: file.subarray(0, at), frame, scans, isKept };
    }
    if (isAlone(marker)) continue;
    if (isUnknown(marker)) return null;
    const length = at + 2 <= file.length ? file.readUInt16BE(at) : 0;
    const segment = file.subarray(at + 2, at + length);
    if (length < 2 || segment.length !== length - 2) return null;
    at += length;
    if (isOtherFrame(marker)) {
      throw new NotALogo(
        'is a JPEG with lossless, hierarchical or arithmetic coding, which PDF readers do not show: save it as a baseline or progressive JPEG',
      );
    }
    if (FRAMES.includes(marker)) {
      if (frame !== null) return null;
      frame = readFrame(segment, marker === PROGRESSIVE);
      if (frame === null) return null;
    } else if (marker === QUANTIZATION) {
      const tables = quantizationTables(segment);
      if (tables === null) return null;
      for (const table of tables) quantizations.add(table);
    } else if (marker === HUFFMAN) {
      const tables = huffmanTables(segment);
      if (tables === null) return null;
      for (const [name, table] of tables) huffman.set(name, table);
    } else if (marker === RESTART_INTERVAL) {
      if (segment.length !== 2) return null;
      restartInterval = segment.readUInt16BE(0);
    } else if (marker === START_OF_SCAN) {
      const data = file.subarray(at, endOfData(file, at));
      const scan = frame && readScan(segment, frame, quantizations, huffman);
      if (scan === null || data.length === 0) return null;
      if (scans.push({ ...scan, restartInterval, data }) > MAX_SCANS) {
        throw new NotALogo(`is a JPEG of more than ${MAX_SCANS} scans: save it anew`);
      }
      at += data.length;
    } else if (marker === EXIF) orientation = exifOrientation(segment) ?? orientation;
    else if (marker === JFIF) isJfif ||= segment.toString('latin1', 0, 5) === 'JFIF\0';
    else if (marker === ADOBE && segment.toString('latin1', 0, 5) === 'Adobe') adobe = segment[11];
  }
}

/** Whether the scans contain the first coefficient of each component. */
function isScanned({ components }: JpegFrame, scans: readonly JpegScan[]): boolean {
  const scanned = new Set(scans.filter(({ first }) => first === 0).flatMap((scan) => scan.components));
  const found = new Set([...scanned].map(({ index }) => index));
  return found.size === components.length;
}

/**
 * Whether the samples are grey or YCbCr. Decoders determine this by JFIF, by Adobe's transform, or by the components'
 * names.
 */
function isYcc({ components }: JpegFrame, isJfif: boolean, adobeTransform: number | undefined): boolean {
  if (components.length !== 3) return components.length === 1;
  if (isJfif) return true;
  if (adobeTransform !== undefined) return adobeTransform !== 0;
  return String.fromCharCode(...components.map(({ id }) => id)) !== 'RGB';
}

/** Reads a frame. @throws {NotALogo} when the samples do not have 8 bits, or the height is not stated */
function readFrame(segment: Buffer, isProgressive: boolean): JpegFrame | null {
  const count = segment[5] ?? 0;
  if (segment.length !== 6 + 3 * count) return null;
  if (segment[0] !== 8) throw new NotALogo(`is a JPEG with ${segment[0]} bits a sample: save it with 8`);
  const [height, width] = [segment.readUInt16BE(1), segment.readUInt16BE(3)];
  if (height === 0) throw new NotALogo('is a JPEG that states no height at its start: save it anew');
  const components = Array.from({ length: count }, (_, index): JpegComponent => {
    const [id = 0, factors = 0, quantization = 0] = segment.subarray(6 + 3 * index);
    return { id, across: factors >> 4, down: factors & 15, quantization };
  });
  const [across, down] = [largest(components, 'across'), largest(components, 'down')];
  const isSampled = components.every((each) => across % each.across === 0 && down % each.down === 0);
  const isDistinct = new Set(components.map(({ id }) => id)).size === count;
  if (![1, 3, 4].includes(count) || across > 4 || down > 4 || !isSampled || !isDistinct) return null;
  return { isProgressive, width, height, components };
}

/** Returns the largest sampling factor of the components. */
export function largest(components: readonly JpegComponent[], factor: 'across' | 'down'): number {
  return components.reduce((most, component) => Math.max(most, component[factor]), 0);
}

function quantizationTables(segment: Buffer): number[] | null {
  const tables: number[] = [];
  for (let at = 0; at < segment.length; ) {
    const [precision, table] = [segment[at]! >> 4, segment[at]! & 15];
    at += 1 + (precision === 0 ? 64 : 128);
    if (at > segment.length || table > 3) return null;
    tables.push(table);
  }
  return tables;
}

/** Reads what a scan states; null when it does not fit the frame, or a table that it needs is missing. */
function readScan(
  segment: Buffer,
  frame: JpegFrame,
  quantizations: ReadonlySet<number>,
  huffman: ReadonlyMap<string, HuffmanTable>,
): Omit<JpegScan, 'restartInterval' | 'data'> | null {
  const count = segment[0] ?? 0;
  if (count < 1 || count > 4 || segment.length !== 4 + 2 * count) return null;
  const [first = 0, last = 0, approximation = 0] = frame.isProgressive ? segment.subarray(1 + 2 * count) : [0, 63, 0];
  const [high, low] = [approximation >> 4, approximation & 15];
  const isBand = first === 0 ? last === (frame.isProgressive ? 0 : 63) : count === 1 && first <= last && last < 64;
  if (!isBand || low > 13 || (high > 0 && high !== low + 1)) return null;
  const isRefinement = high > 0;
  const components: ScannedComponent[] = [];
  for (let at = 1; at < 1 + 2 * count; at += 2) {
    const index = frame.components.findIndex(({ id }) => id === segment[at]);
    const component = frame.components[index];
    const dc = huffman.get(`h0${segment[at + 1]! >> 4}`);
    const ac = huffman.get(`h1${segment[at + 1]! & 15}`);
    if (component === undefined || !quantizations.has(component.quantization)) return null;
    if (components.some((each) => each.index === index)) return null;
    // A scan that refines the first coefficient has no codes.
    if ((first === 0 && !isRefinement && !dc) || (last > 0 && !ac)) return null;
    components.push({ index, dc, ac });
  }
  const blocks = components.reduce((sum, { index }) => sum + blocksOf(frame.components[index]!), 0);
  return count > 1 && blocks > MAX_BLOCKS_OF_UNIT ? null : { components, first, last, isRefinement, lowBit: low };
}

const blocksOf = ({ across, down }: JpegComponent) => across * down;

/** Returns where the coded data of a scan ends: at the next marker that is neither a stuffed octet nor a restart. */
function endOfData(file: Buffer, start: number): number {
  for (let at = file.indexOf(0xff, start); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !isAlone(next)) return at;
  }
  return file.length;
}
