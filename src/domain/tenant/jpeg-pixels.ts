import { BitReader, CorruptScan } from './jpeg-huffman.ts';
import { type JpegFile, type JpegFrame, type JpegScan, largest, type ScannedComponent } from './jpeg-image.ts';

/**
 * Whether the coded data of a JPEG can be decoded (ITU-T T.81, annexes F and G): each scan has exactly the codes of all
 * its blocks, each block at most 64 coefficients, and restarts come in order. After such a fault, decoders show a wrong
 * image, or grey, without an error. No pixel is computed. For an image within the limits of a logo this takes 0.1 to
 * 0.4 s and 2 MB.
 */
export function hasJpegPixels({ frame, scans }: JpegFile): boolean {
  const planes = frame.isProgressive ? planesOf(frame) : [];
  try {
    for (const scan of scans) decodeScan(scan, frame, planes);
    return true;
  } catch (error) {
    if (!(error instanceof CorruptScan)) throw error;
    return false;
  }
}

/** The coefficients of a component that the scans of a progressive image have contained so far. */
interface Plane {
  /** Number of blocks in a row, including those that complete the last unit. */
  readonly stride: number;
  /** A bit for each coefficient of each block that is not zero: 0 to 31, then 32 to 63. */
  readonly nonZero: Uint32Array;
  /** The lowest known bit of each coefficient; -1 if none is known. */
  readonly knownBits: Int8Array;
}

function planesOf(frame: JpegFrame): Plane[] {
  return frame.components.map(({ across, down }) => {
    const [units, rows] = unitsOf(frame);
    const stride = units * across;
    return { stride, nonZero: new Uint32Array(2 * stride * rows * down), knownBits: new Int8Array(64).fill(-1) };
  });
}

/** Returns the numbers of columns and rows of units of interleaved components. */
function unitsOf({ width, height, components }: JpegFrame): [number, number] {
  const [across, down] = [largest(components, 'across'), largest(components, 'down')];
  return [Math.ceil(width / (8 * across)), Math.ceil(height / (8 * down))];
}

/** Returns the blocks in a row, and the rows, of a component with a scan of its own. */
function blocksAlone(frame: JpegFrame, index: number): [number, number] {
  const { across, down } = frame.components[index]!;
  const [most, tallest] = [largest(frame.components, 'across'), largest(frame.components, 'down')];
  const columns = Math.ceil((frame.width * across) / most);
  const rows = Math.ceil((frame.height * down) / tallest);
  return [Math.ceil(columns / 8), Math.ceil(rows / 8)];
}

/** Decodes the next block of a component. @param block its index in the plane */
type DecodeBlock = (bits: BitReader, component: ScannedComponent, block: number) => void;

/** Decodes all blocks of a scan. @throws {CorruptScan} */
function decodeScan(scan: JpegScan, frame: JpegFrame, planes: readonly Plane[]): void {
  const [only, ...others] = scan.components;
  const isAlone = only !== undefined && others.length === 0;
  const [columns, rows] = isAlone ? blocksAlone(frame, only.index) : unitsOf(frame);
  const parts = scan.components.map((component) => {
    const { across, down } = isAlone ? { across: 1, down: 1 } : frame.components[component.index]!;
    return { component, across, down, stride: planes[component.index]?.stride ?? 0 };
  });
  const total = columns * rows;
  const interval = scan.restartInterval || total;
  const { octets, ends } = intervalsOf(scan.data);
  const bits = new BitReader(octets);
  const progressive = planes.length > 0 ? createProgressive(scan, planes) : null;
  const decode: DecodeBlock = progressive?.decode ?? sequentialBlock;
  let nth = 0;
  for (let unit = 0; unit < total; ) {
    bits.readTo(ends[nth++] ?? octets.length);
    for (const end = Math.min(total, unit + interval); unit < end; unit++) {
      const [column, row] = [unit % columns, Math.floor(unit / columns)];
      for (const { component, across, down, stride } of parts) {
        for (let block = 0; block < across * down; block++) {
          const [left, top] = [block % across, Math.floor(block / across)];
          decode(bits, component, (row * down + top) * stride + column * across + left);
        }
      }
    }
    if (!bits.isAtEnd() || progressive?.isInRun()) throw new CorruptScan();
  }
  // Some encoders write a restart after the last interval, too.
  bits.readTo(octets.length);
  if (!bits.isAtEnd()) throw new CorruptScan();
}

/**
 * Removes stuffed octets and restarts, which must come in order, from a scan's data. Returns the data and the end of
 * each interval. The ends are numbers, because there may be one for each block.
 * @throws {CorruptScan}
 */
function intervalsOf(data: Buffer): { octets: Buffer; ends: readonly number[] } {
  const octets = Buffer.alloc(data.length);
  const ends: number[] = [];
  let size = 0;
  for (let at = 0; at < data.length; at++) {
    if (data[at] !== 0xff) {
      octets[size++] = data[at]!;
      continue;
    }
    while (data[at + 1] === 0xff) at++;
    const next = data[++at];
    if (next === 0) octets[size++] = 0xff;
    else if (next === 0xd0 + (ends.length % 8)) ends.push(size);
    else if (next !== undefined) throw new CorruptScan();
  }
  return { octets: octets.subarray(0, size), ends };
}

function sequentialBlock(bits: BitReader, { dc, ac }: ScannedComponent): void {
  bits.skip(bits.decode(dc!));
  for (let at = 1; at < 64; at++) {
    const value = bits.decode(ac!);
    const [zeros, size] = [value >> 4, value & 15];
    if (size === 0 && zeros < 15) return;
    at += zeros;
    if (at > 63) throw new CorruptScan();
    bits.skip(size);
  }
}

/**
 * Creates the decoder of a progressive scan's blocks.
 * @throws {CorruptScan} when the scan does not continue the earlier scans of its coefficients
 */
function createProgressive(scan: JpegScan, planes: readonly Plane[]) {
  const { first, last, isRefinement } = scan;
  for (const { index } of scan.components) continueBits(scan, planes[index]!);
  /** Number of further blocks without codes of their own. */
  let run = 0;
  const band = [maskOf(first, last, 0), maskOf(first, last, 32)] as const;

  /** Reads the run of blocks without further codes. The current block is the first of it. */
  const readRun = (bits: BitReader, exponent: number) => {
    run = 2 ** exponent + bits.bits(exponent);
  };

  const firstOfBand: DecodeBlock = (bits, { index, ac }, block) => {
    const { nonZero } = planes[index]!;
    for (let at = first; run === 0 && at <= last; at++) {
      const value = bits.decode(ac!);
      const [zeros, size] = [value >> 4, value & 15];
      if (size === 0 && zeros < 15) {
        readRun(bits, zeros);
        break;
      }
      at += zeros;
      if (at > last) throw new CorruptScan();
      bits.skip(size);
      if (size > 0) mark(nonZero, block, at);
    }
    if (run > 0) run--;
  };

  const refineBand: DecodeBlock = (bits, { index, ac }, block) => {
    const { nonZero } = planes[index]!;
    let at = first;
    for (; run === 0 && at <= last; at++) {
      const value = bits.decode(ac!);
      const [zeros, size] = [value >> 4, value & 15];
      if (size > 1) throw new CorruptScan();
      if (size === 0 && zeros < 15) {
        readRun(bits, zeros);
        break;
      }
      // Skips the sign of the new coefficient, then a bit for each known coefficient among the zeros before it.
      bits.skip(size);
      for (let left = zeros; ; at++) {
        if (at > last) throw new CorruptScan();
        if (isMarked(nonZero, block, at)) bits.skip(1);
        else if (left-- === 0) break;
      }
      if (size > 0) mark(nonZero, block, at);
    }
    if (run === 0) return;
    const low = at < 32 ? band[0] & (-1 << at) : 0;
    const high = at < 32 ? band[1] : band[1] & (-1 << (at - 32));
    bits.skip(ones(nonZero[2 * block]! & low) + ones(nonZero[2 * block + 1]! & high));
    run--;
  };

  const firstCoefficient: DecodeBlock = (bits, { dc }) => bits.skip(isRefinement ? 1 : bits.decode(dc!));
  const decode = first === 0 ? firstCoefficient : isRefinement ? refineBand : firstOfBand;
  return { decode, isInRun: () => run > 0 };
}

function continueBits({ first, last, isRefinement, lowBit }: JpegScan, { knownBits }: Plane): void {
  // The first coefficient must come before the others.
  if (first > 0 && knownBits[0] === -1) throw new CorruptScan();
  for (let at = first; at <= last; at++) {
    if (knownBits[at] !== (isRefinement ? lowBit + 1 : -1)) throw new CorruptScan();
    knownBits[at] = lowBit;
  }
}

const mark = (nonZero: Uint32Array, block: number, at: number) => {
  nonZero[2 * block + (at >> 5)]! |= 1 << (at & 31);
};
const isMarked = (nonZero: Uint32Array, block: number, at: number) =>
  ((nonZero[2 * block + (at >> 5)]! >>> (at & 31)) & 1) === 1;

/** Returns a mask of the coefficients from `first` to `last` among the 32 that begin at `start`. */
function maskOf(first: number, last: number, start: number): number {
  let mask = 0;
  for (let at = Math.max(first, start); at <= Math.min(last, start + 31); at++) mask |= 1 << (at - start);
  return mask;
}

/** Counts the ones in 32 bits. */
function ones(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
