/** A JPEG to encode. */
export interface JpegPlan {
  readonly width: number;
  readonly height: number;
  /** Sampling factors of each component, across and down. Default: one grey component. */
  readonly sampling?: readonly (readonly [number, number])[];
  /** Marker of the frame; default 0xc0, baseline. 0xc2 is progressive. */
  readonly frame?: number;
  /** Units between restarts. */
  readonly restart?: number;
  /** Segments before the frame. */
  readonly before?: readonly Buffer[];
  /** The scans. Default: one of everything, or those of {@link PROGRESSION} for each component. */
  readonly scans?: readonly JpegScanPlan[];
}

interface JpegScanPlan {
  readonly components: readonly number[];
  readonly first: number;
  readonly last: number;
  /** The lowest bit that the previous scan encoded, 0 for none, and the one that this scan encodes. */
  readonly high: number;
  readonly low: number;
}

/** First and last coefficient, and bits, of progressive scans. The first scan and the last have all components. */
const PROGRESSION = [
  [1, 5, 0, 2],
  [6, 63, 0, 2],
  [1, 63, 2, 1],
  [1, 63, 1, 0],
] as const;

/** Values of DC codes, which have 4 bits, and of AC codes, which have 8. The code of each value is its index. */
const DC_VALUES = Array.from({ length: 12 }, (_, size) => size);
const AC_VALUES = Array.from({ length: 16 * 11 }, (_, at) => Math.floor(at / 11) * 16 + (at % 11));

/** A segment with its marker and length. */
export function jpegSegment(marker: number, ...content: readonly (Buffer | number)[]): Buffer {
  const bytes = Buffer.concat(content.map((part) => (typeof part === 'number' ? Buffer.of(part) : part)));
  return Buffer.concat([Buffer.of(0xff, marker), short(bytes.length + 2), bytes]);
}

function short(value: number): Buffer {
  return Buffer.of(value >> 8, value & 255);
}

/** Encodes a JPEG of invented colours (ITU-T T.81). Equal plans give equal files. */
export function jpegOf(plan: JpegPlan): Buffer {
  const { width, height, sampling = [[1, 1]], frame = 0xc0, restart = 0, before = [] } = plan;
  const components = sampling.map((factors, index) => componentOf(plan, sampling, factors, index));
  const all = sampling.map((_, index) => index);
  const scans =
    plan.scans ?? (frame === 0xc2 ? progression(all) : [{ components: all, first: 0, last: 63, high: 0, low: 0 }]);
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    ...before,
    jpegSegment(0xdb, 0, Buffer.alloc(64, 4)),
    jpegSegment(0xc4, 0x00, Buffer.of(0, 0, 0, DC_VALUES.length), Buffer.alloc(12), Buffer.from(DC_VALUES)),
    jpegSegment(0xc4, 0x10, Buffer.alloc(7), AC_VALUES.length, Buffer.alloc(8), Buffer.from(AC_VALUES)),
    ...(restart > 0 ? [jpegSegment(0xdd, short(restart))] : []),
    jpegSegment(
      frame,
      8,
      short(height),
      short(width),
      sampling.length,
      ...sampling.flatMap(([across, down], index) => [index + 1, across * 16 + down, 0]),
    ),
    ...scans.flatMap((scan) => [
      jpegSegment(
        0xda,
        scan.components.length,
        ...scan.components.flatMap((index) => [index + 1, 0]),
        scan.first,
        scan.last,
        scan.high * 16 + scan.low,
      ),
      codedScan(scan, components, plan),
    ]),
    Buffer.of(0xff, 0xd9),
  ]);
}

function progression(all: readonly number[]): JpegScanPlan[] {
  const bands = all.flatMap((index) => {
    return PROGRESSION.map(([first, last, high, low]) => ({ components: [index], first, last, high, low }));
  });
  const start = { components: all, first: 0, last: 0, high: 0, low: 1 };
  return [start, ...bands, { ...start, high: 1, low: 0 }];
}

interface Component {
  readonly across: number;
  readonly down: number;
  /** Number of blocks in a row if it has a scan of its own, and number of rows. */
  readonly columns: number;
  readonly rows: number;
  /** Its coefficients in the order of the diagonal, by row and column of the block. */
  coefficients(row: number, column: number): readonly number[];
}

function componentOf(
  { width, height }: JpegPlan,
  sampling: readonly (readonly [number, number])[],
  [across, down]: readonly [number, number],
  index: number,
): Component {
  const most = Math.max(...sampling.map(([factor]) => factor));
  const tallest = Math.max(...sampling.map(([, factor]) => factor));
  return {
    across,
    down,
    columns: Math.ceil(Math.ceil((width * across) / most) / 8),
    rows: Math.ceil(Math.ceil((height * down) / tallest) / 8),
    coefficients(row, column) {
      const mixed = (row * 31 + column * 17 + index * 7) % 64;
      return Array.from({ length: 64 }, (_, at) => {
        if (at === 0) return mixed - 32;
        // Only few blocks have coefficients, so that runs of empty blocks occur.
        return mixed % 5 === 0 && (at * 13 + mixed) % 11 === 0 ? ((at + mixed) % 15) - 7 : 0;
      });
    },
  };
}

/** The coded data of a scan, with its restarts. */
function codedScan(scan: JpegScanPlan, components: readonly Component[], { frame, restart = 0 }: JpegPlan): Buffer {
  const parts = scan.components.map((index) => components[index]!);
  const isAlone = parts.length === 1;
  const [first] = parts as [Component];
  const columns = isAlone ? first.columns : Math.ceil(first.columns / first.across);
  const rows = isAlone ? first.rows : Math.ceil(first.rows / first.down);
  const out: Buffer[] = [];
  const encoder = createEncoder(scan, frame === 0xc2);
  const total = columns * rows;
  for (let unit = 0; unit < total; unit++) {
    if (restart > 0 && unit > 0 && unit % restart === 0) {
      out.push(encoder.end(), Buffer.of(0xff, 0xd0 + ((unit / restart - 1) % 8)));
    }
    for (const [at, part] of parts.entries()) {
      const { across, down } = isAlone ? { across: 1, down: 1 } : part;
      for (let block = 0; block < across * down; block++) {
        const row = Math.floor(unit / columns) * down + Math.floor(block / across);
        encoder.add(at, part.coefficients(row, (unit % columns) * across + (block % across)));
      }
    }
  }
  return Buffer.concat([...out, encoder.end()]);
}

/** Makes an encoder of blocks in order. `end` returns the octets since its last call, and starts again. */
function createEncoder({ first, last, high, low }: JpegScanPlan, isProgressive: boolean) {
  let bits = '';
  let previous: number[] = [];
  let run = 0;
  /** Bits that refine coefficients of the blocks of the run. */
  let corrections = '';
  const put = (value: number, count: number) => {
    if (count > 0) bits += value.toString(2).padStart(count, '0');
  };
  const putDc = (size: number) => put(DC_VALUES.indexOf(size), 4);
  const putAc = (value: number) => put(AC_VALUES.indexOf(value), 8);
  const sizeOf = (value: number) => (value === 0 ? 0 : Math.abs(value).toString(2).length);
  const putValue = (value: number, size: number) => put(value < 0 ? value + 2 ** size - 1 : value, size);
  const shifted = (value: number) => Math.trunc(value / 2 ** low);

  function endRun(): void {
    if (run === 0) return;
    const exponent = run.toString(2).length - 1;
    // The lower half of AC codes is at most 10, and this is the upper half.
    putAc(exponent * 16);
    put(run - 2 ** exponent, exponent);
    bits += corrections;
    [run, corrections] = [0, ''];
  }

  function addDc(component: number, value: number): void {
    const difference = value - (previous[component] ?? 0);
    previous[component] = value;
    putDc(sizeOf(difference));
    putValue(difference, sizeOf(difference));
  }

  /** Encodes the coefficients of the band. @param onEnd called when all remaining ones are zero */
  function addBand(values: readonly number[], from: number, onEnd: () => void): void {
    let zeros = 0;
    for (let at = from; at <= last; at++) {
      const value = shifted(values[at]!);
      if (value === 0) zeros++;
      else {
        endRun();
        for (; zeros > 15; zeros -= 16) putAc(0xf0);
        putAc(zeros * 16 + sizeOf(value));
        putValue(value, sizeOf(value));
        zeros = 0;
      }
    }
    if (zeros > 0) onEnd();
  }

  function refineBand(values: readonly number[]): void {
    const known = (at: number) => Math.trunc(values[at]! / 2 ** high) !== 0;
    const fresh = Array.from({ length: last - first + 1 }, (_, at) => first + at).filter(
      (at) => !known(at) && shifted(values[at]!) !== 0,
    );
    let zeros = 0;
    let waiting = '';
    for (let at = first; at <= last; at++) {
      if (known(at)) waiting += Math.abs(shifted(values[at]!)) & 1;
      else if (!fresh.includes(at)) {
        zeros++;
        if (zeros === 16 && at < (fresh.at(-1) ?? -1)) {
          endRun();
          putAc(0xf0);
          bits += waiting;
          [zeros, waiting] = [0, ''];
        }
      } else {
        endRun();
        putAc(zeros * 16 + 1);
        bits += (values[at]! > 0 ? '1' : '0') + waiting;
        [zeros, waiting] = [0, ''];
      }
    }
    if (zeros > 0 || waiting !== '') {
      run++;
      corrections += waiting;
    }
  }

  return {
    add(component: number, values: readonly number[]) {
      if (!isProgressive) {
        addDc(component, values[0]!);
        addBand(values, 1, () => putAc(0));
      } else if (first === 0 && high === 0) addDc(component, values[0]! >> low);
      else if (first === 0) put((values[0]! >> low) & 1, 1);
      else if (high > 0) refineBand(values);
      else addBand(values, first, () => run++);
    },
    end(): Buffer {
      endRun();
      const octets = (bits.padEnd(Math.ceil(bits.length / 8) * 8, '1').match(/.{8}/g) ?? []).map((octet) =>
        Number.parseInt(octet, 2),
      );
      bits = '';
      previous = [];
      return Buffer.from(octets.flatMap((octet) => (octet === 0xff ? [0xff, 0] : [octet])));
    },
  };
}
