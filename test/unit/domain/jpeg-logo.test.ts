import { describe, expect, it } from 'vitest';
import { readJpeg } from '../../../src/domain/tenant/jpeg-image.ts';
import { hasJpegPixels } from '../../../src/domain/tenant/jpeg-pixels.ts';
import { MAX_DECODED_AREA, MAX_LOGO_BYTES, parseLogo } from '../../../src/domain/tenant/logo.ts';
import { NotALogo } from '../../../src/domain/tenant/not-a-logo.ts';
import { type JpegPlan, jpegOf, jpegSegment } from '../../support/jpeg.ts';

const url = (content: Buffer) => `data:image/jpeg;base64,${content.toString('base64')}`;
const parse = (content: Buffer) => parseLogo(url(content));

const SAMPLINGS: Readonly<Record<string, NonNullable<JpegPlan['sampling']>>> = {
  grey: [[1, 1]],
  'grey with factors': [[2, 2]],
  '4:4:4': [...Array(3)].map(() => [1, 1] as const),
  '4:2:2': [
    [2, 1],
    [1, 1],
    [1, 1],
  ],
  '4:2:0': [
    [2, 2],
    [1, 1],
    [1, 1],
  ],
  '4:4:0': [
    [1, 2],
    [1, 1],
    [1, 1],
  ],
  '4:1:1': [
    [4, 1],
    [1, 1],
    [1, 1],
  ],
  CMYK: [...Array(4)].map(() => [1, 1] as const),
};
const [BASELINE, EXTENDED, PROGRESSIVE] = [0xc0, 0xc1, 0xc2];
const SIZES = [
  [1, 1],
  [8, 8],
  [83, 61],
  [201, 17],
] as const;
const COLOUR = { width: 83, height: 61, sampling: SAMPLINGS['4:2:0']! };

/** Where the data of the last scan starts. */
function lastDataAt(image: Buffer): number {
  const at = image.lastIndexOf(Buffer.of(0xff, 0xda));
  return at + 2 + image.readUInt16BE(at + 2);
}

/** The data of the last scan is replaced. */
function withData(image: Buffer, change: (data: Buffer) => Buffer): Buffer {
  const at = lastDataAt(image);
  return Buffer.concat([image.subarray(0, at), change(image.subarray(at, -2)), image.subarray(-2)]);
}

/** One octet is another one, at a distance from the first segment with this marker. */
function withOctet(image: Buffer, marker: number, distance: number, octet: number): Buffer {
  const changed = Buffer.from(image);
  const at = changed.indexOf(Buffer.of(0xff, marker));
  expect(at).toBeGreaterThan(0);
  expect(changed[at + distance]).not.toBe(octet);
  changed[at + distance] = octet;
  return changed;
}

/** Exif with one tag of the first directory: the orientation. */
function exif(orientation: number, order: 'II' | 'MM'): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write(order, 0, 'latin1');
  const fields = [
    [2, 42],
    [8, 1],
    [10, 0x0112],
    [12, 3],
    [18, orientation],
  ] as const;
  for (const [at, value] of fields) order === 'II' ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at);
  order === 'II' ? tiff.writeUInt32LE(8, 4) : tiff.writeUInt32BE(8, 4);
  order === 'II' ? tiff.writeUInt32LE(1, 14) : tiff.writeUInt32BE(1, 14);
  return jpegSegment(0xe1, Buffer.from('Exif\0\0', 'latin1'), tiff);
}

const ADOBE = (transform: number) => jpegSegment(0xee, Buffer.from('Adobe'), Buffer.of(0, 100, 0, 0, 0, 0, transform));

describe('a JPEG as a logo', () => {
  it.each(Object.entries(SAMPLINGS))('may be %s of each kind and size, with restarts or without', (_, sampling) => {
    for (const frame of [BASELINE, EXTENDED, PROGRESSIVE]) {
      for (const [width, height] of SIZES) {
        for (const restart of [0, 1, 7]) {
          const image = jpegOf({ width, height, sampling, frame, restart });
          expect(parse(image), `${frame} ${width} ${restart}`).toMatchObject({ width, height });
        }
      }
    }
  });

  it('may have a scan for each component', () => {
    const scans = [0, 1, 2].map((index) => ({ components: [index], first: 0, last: 63, high: 0, low: 0 }));
    expect(parse(jpegOf({ ...COLOUR, scans }))).toMatchObject({ width: 83, height: 61 });
  });

  it('may have padding before its end, and any colour profile', () => {
    const image = jpegOf({ ...COLOUR, before: [jpegSegment(0xe2, Buffer.from('ICC_PROFILE\0\x01\x01 no profile'))] });
    expect(parse(image)).toMatchObject({ width: 83 });
    expect(parse(withData(image, (data) => Buffer.concat([data, Buffer.alloc(3)])))).toMatchObject({ width: 83 });
  });

  const image = jpegOf(COLOUR);
  const restarted = jpegOf({ ...COLOUR, restart: 4 });
  const progressive = jpegOf({ ...COLOUR, frame: PROGRESSIVE });
  it.each([
    ['data that is cut off', withData(image, (data) => data.subarray(0, data.length >> 1))],
    ['data that is a byte short', withData(image, (data) => data.subarray(0, -1))],
    ['data that goes on', withData(image, (data) => Buffer.concat([data, data]))],
    ['data with a hole', withData(image, (data) => Buffer.concat([data.subarray(0, 40), data.subarray(43)]))],
    ['data of another picture', withData(image, () => Buffer.from('no picture at all'.repeat(40)))],
    [
      'a code that its table lacks',
      withData(image, (data) => Buffer.concat([Buffer.alloc(9, 0xfe), data.subarray(9)])),
    ],
    [
      'a marker within its data',
      withData(image, (data) => Buffer.concat([data.subarray(0, 30), Buffer.of(0xff, 1), data.subarray(30)])),
    ],
    [
      'a restart where there is none',
      withData(image, (data) => Buffer.concat([data.subarray(0, 30), Buffer.of(0xff, 0xd0), data.subarray(30)])),
    ],
    ['restarts in another order', swapped(restarted)],
    ['a restart less than it states', withOctet(restarted, 0xdd, 5, 5)],
    ['a restart more than it states', withOctet(restarted, 0xdd, 5, 3)],
    ['more blocks than its data', withOctet(image, 0xc0, 6, 200)],
    ['fewer blocks than its data', withOctet(image, 0xc0, 6, 9)],
    ['a quantization table that is not there', withOctet(image, 0xc0, 12, 1)],
    ['a Huffman table that is not there', withOctet(image, 0xda, 6, 0x11)],
    ['a Huffman table of too many codes', withOctet(image, 0xc4, 5, 3)],
    ['a component that is not there', withOctet(image, 0xda, 5, 9)],
    ['a component twice', withOctet(image, 0xda, 7, 1)],
    ['sampling factors of zero', withOctet(image, 0xc0, 11, 0x02)],
    ['sampling factors of thirds', withOctet(image, 0xc0, 14, 0x31)],
    ['progressive data that is cut off', withData(progressive, (data) => data.subarray(0, -1))],
    ['a scan before the one it refines', progressiveOf([0, 0, 0, 0], [1, 63, 2, 1])],
    ['a scan that skips a bit', progressiveOf([0, 0, 0, 0], [1, 63, 0, 2], [1, 63, 1, 0])],
    ['a scan twice', progressiveOf([0, 0, 0, 0], [1, 63, 0, 0], [1, 63, 0, 0])],
    ['a scan before the first coefficient', progressiveOf([1, 63, 0, 0], [0, 0, 0, 0])],
    ['a band that ends before it starts', progressiveOf([0, 0, 0, 0], [9, 5, 0, 0])],
    ['no first coefficient', progressiveOf([1, 63, 0, 0])],
  ])('must not have %s', (_, broken) => {
    expect(() => parse(broken)).toThrow(NotALogo);
  });

  it.each([
    [
      'a picture that cannot be decoded',
      withData(image, (data) => data.subarray(0, 9)),
      /^is a JPEG whose pixels cannot be decoded$/,
    ],
    ['lossless coding', jpegOf({ ...COLOUR, frame: 0xc3 }), /^is a JPEG with lossless, .* save it as a baseline or/],
    [
      'arithmetic coding',
      jpegOf({ ...COLOUR, frame: 0xca }),
      /^is a JPEG with lossless, hierarchical or arithmetic coding/,
    ],
    [
      '12 bits a sample',
      withOctet(jpegOf({ ...COLOUR, frame: EXTENDED }), 0xc1, 4, 12),
      /^is a JPEG with 12 bits a sample: save it/,
    ],
    ['a height that comes later', withOctet(image, 0xc0, 6, 0), /^is a JPEG that states no height/],
    ['GIF', Buffer.from('GIF89a and so on'), /^is GIF that is called JPEG: convert it to a PNG or JPEG$/],
    ['WebP', Buffer.from('RIFF\xff\n\0\0WEBPVP8 ', 'latin1'), /^is WebP that is called JPEG: convert/],
    ['AVIF', Buffer.from('\0\0\0\x20ftypavif', 'latin1'), /^is AVIF or HEIC that is called JPEG: convert/],
    ['SVG', Buffer.from('\ufeff <svg xmlns="">'), /^is SVG, XML or HTML that is called JPEG: convert/],
    ['PNG', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), /^is PNG that is called JPEG: say so in the data URL$/],
  ])('is refused for %s in words that help', (_, content, message) => {
    expect(() => parse(content)).toThrow(message);
  });

  it('is refused by its header when it states more pixels than it may have', () => {
    const octets = jpegOf({ width: 8, height: 8 });
    octets.writeUInt32BE(0xffffffff, octets.indexOf(Buffer.of(0xff, BASELINE)) + 5);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => parse(octets)).toThrow('has 65535 x 65535 pixels: at most 1500 on each side are allowed');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('has the size that it is shown with, however Exif turns it', () => {
    for (const order of ['II', 'MM'] as const) {
      for (let orientation = 1; orientation <= 8; orientation++) {
        const [width, height] = orientation < 5 ? [83, 61] : [61, 83];
        const turned = jpegOf({ ...COLOUR, before: [exif(orientation, order)] });
        expect(parse(turned), `${order} ${orientation}`).toMatchObject({ width, height });
      }
    }
  });

  it('may have as many pixels as a PNG where a PDF has the pixels, and more where it has the file', () => {
    const [width, height] = [504, 504];
    expect(width * height).toBeGreaterThan(MAX_DECODED_AREA);
    const large = { width, height, sampling: SAMPLINGS['4:2:0']! };
    const jfif = jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1'));
    for (const before of [[], [ADOBE(1)], [jfif, ADOBE(0)], [exif(1, 'II')]])
      expect(parse(jpegOf({ ...large, before }))).toMatchObject({ width });
    const refusal = `has ${width} x ${height} pixels: a JPEG in CMYK or RGB, or turned by Exif, may have 250,000 in all`;
    for (const before of [[ADOBE(0)], [exif(3, 'MM')], [jfif, exif(6, 'II')]])
      expect(() => parse(jpegOf({ ...large, before }))).toThrow(refusal);
    expect(() => parse(jpegOf({ width, height, sampling: SAMPLINGS.CMYK! }))).toThrow(refusal);
  });

  it('may not have scans without end', () => {
    const dc = { components: [0], first: 0, last: 0, high: 0, low: 0 };
    const bands = Array.from({ length: 63 }, (_, at) => ({ ...dc, first: at + 1, last: at + 1 }));
    const plan = { width: 9, height: 9, frame: PROGRESSIVE };
    expect(parse(jpegOf({ ...plan, scans: [dc, ...bands] }))).toMatchObject({ width: 9 });
    const many = Array.from({ length: 101 }, () => ({ components: [0], first: 0, last: 63, high: 0, low: 0 }));
    expect(() => parse(jpegOf({ width: 9, height: 9, scans: many }))).toThrow('more than 100 scans');
  });

  it('with a restart behind each block takes no longer than another', () => {
    // More blocks than a logo may have, so that the time tells whether it grows with their square.
    const [side, across] = [4000, 500];
    const large = [5, 7].reduce(
      (file, at) => withOctet(withOctet(file, 0xc0, at, side >> 8), 0xc0, at + 1, side & 255),
      jpegOf({ width: 8, height: 8, restart: 1 }),
    );
    // A block without coefficients takes 12 bits.
    const blocks = Array.from({ length: across ** 2 }, (_, at) => Buffer.of(0, 15, 0xff, 0xd0 + (at % 8)));
    const file = readJpeg(withData(large, () => Buffer.concat(blocks).subarray(0, -2)));
    const start = process.threadCpuUsage();
    expect(file && hasJpegPixels(file)).toBe(true);
    // It takes 30 ms, and took more than 3 s where each interval was an object of a list.
    expect(process.threadCpuUsage(start).user / 1000).toBeLessThan(500);
  });

  it('of any octets behind its header is refused or taken, and never an error of another kind', () => {
    const plans = [image, restarted, progressive];
    let taken = 0;
    for (let round = 0; round < 3_000; round++) {
      const changed = Buffer.from(plans[round % plans.length]!);
      for (let change = 0; change <= round % 4; change++)
        changed[2 + ((round * 7919 + change * 104_729) % (changed.length - 2))] = (round * 31 + change * 17) % 256;
      try {
        parse(changed);
        taken++;
      } catch (error) {
        expect(error).toBeInstanceOf(NotALogo);
      }
    }
    expect(taken).toBeLessThan(3_000);
    expect(image.length).toBeLessThan(MAX_LOGO_BYTES);
  });
});

/** A grey progressive JPEG with scans of these coefficients and bits. */
function progressiveOf(...scans: readonly (readonly [number, number, number, number])[]): Buffer {
  return jpegOf({
    width: 40,
    height: 40,
    frame: PROGRESSIVE,
    scans: scans.map(([first, last, high, low]) => ({ components: [0], first, last, high, low })),
  });
}

/** The first two restarts change places. */
function swapped(image: Buffer): Buffer {
  const changed = Buffer.from(image);
  changed[changed.indexOf(Buffer.of(0xff, 0xd0)) + 1] = 0xd1;
  changed[changed.lastIndexOf(Buffer.of(0xff, 0xd1)) + 1] = 0xd0;
  return changed;
}
