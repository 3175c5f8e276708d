import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_LOGO_BYTES, MAX_LOGO_PIXELS, parseLogo } from '../../../src/domain/tenant/logo.ts';
import { NotALogo } from '../../../src/domain/tenant/not-a-logo.ts';
import { parseSellerProfile } from '../../../src/domain/tenant/seller-profile-input.ts';
import { jpegOf } from '../../support/jpeg.ts';
import { png, pngChunk } from '../pdf/support.ts';

const url = (content: Buffer, type = 'image/png') => `data:${type};base64,${content.toString('base64')}`;

const jpeg = (width: number, height: number, frame = 0xc0) => jpegOf({ width, height, frame });

/** A PNG whose header and pixels are these. */
function pngOf(header: readonly number[], pixels: Buffer, type = 'IDAT', before: readonly Buffer[] = []): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(header[0]!, 0);
  size.writeUInt32BE(header[1]!, 4);
  return Buffer.concat([
    png(1, 1).subarray(0, 8),
    pngChunk('IHDR', Buffer.concat([size, Buffer.from(header.slice(2))])),
    ...before,
    pngChunk(type, pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
const GREY = [3, 2, 8, 0, 0, 0, 0] as const;
const zipped = (...octets: number[]) => deflateSync(Buffer.from(octets));
const ROWS = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const EMPTY = Buffer.alloc(0);
const INDEXED = [3, 2, 8, 3, 0, 0, 0] as const;
const paletteOf = (colours: number) => pngChunk('PLTE', Buffer.alloc(3 * colours));
const PALETTE = paletteOf(8);

function flipped(octets: Buffer, at: number): Buffer {
  const changed = Buffer.from(octets);
  changed[changed.length + at]! ^= 1;
  return changed;
}

/** Where a segment starts. */
function segmentAt(image: Buffer, marker: number): number {
  const at = image.indexOf(Buffer.of(0xff, marker));
  expect(at).toBeGreaterThan(0);
  return at;
}

/** Where the data of the first scan starts. */
function dataAt(image: Buffer): number {
  const at = segmentAt(image, 0xda);
  return at + 2 + image.readUInt16BE(at + 2);
}

/** Without the first segment with this marker. */
function without(image: Buffer, marker: number): Buffer {
  const at = segmentAt(image, marker);
  return Buffer.concat([image.subarray(0, at), image.subarray(at + 2 + image.readUInt16BE(at + 2))]);
}

function withoutData(image: Buffer): Buffer {
  return Buffer.concat([image.subarray(0, dataAt(image)), image.subarray(-2)]);
}

describe('a logo', () => {
  it('is a PNG or a JPEG, measured by its octets', () => {
    expect(parseLogo(url(png(7, 5)))).toMatchObject({ contentType: 'image/png', width: 7, height: 5 });
    expect(parseLogo(url(jpeg(640, 480), 'image/jpeg'))).toMatchObject({ width: 640, height: 480 });
    expect(parseLogo(url(jpeg(10, 20, 0xc2), 'IMAGE/JPEG'))).toMatchObject({ contentType: 'image/jpeg', width: 10 });
    expect(parseLogo(url(png(7, 5))).sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  const whole = png(7, 5);
  const damaged = Buffer.from(whole);
  damaged[45]! ^= 1;
  it.each([
    ['an address', 'https://example.com/logo.png'],
    ['an SVG, which could do things', 'data:image/svg+xml;base64,PHN2Zy8+'],
    ['no base64', 'data:image/png;base64,@@@@'],
    ['nothing', 'data:image/png;base64,'],
    ['HTML that says it is a PNG', url(Buffer.from('<html>'))],
    ['a PNG that says it is a JPEG', url(whole, 'image/jpeg')],
    ['half a PNG', url(whole.subarray(0, 50))],
    ['a PNG with a wrong checksum', url(damaged)],
    ['no width', url(png(0, 5))],
    ['too many pixels', url(png(MAX_LOGO_PIXELS + 1, 1))],
    ['a PNG that a PDF would hold as a megabyte', url(png(501, 500))],
    ['a JPEG that is too wide', url(jpeg(MAX_LOGO_PIXELS + 1, 1), 'image/jpeg')],
    ['a JPEG without an end', url(jpeg(5, 5).subarray(0, -2), 'image/jpeg')],
    ['too many octets', url(Buffer.alloc(MAX_LOGO_BYTES + 1))],
    ['a PNG without pixels', url(pngOf(GREY, zipped(...ROWS), 'teXt'))],
    ['a PNG whose pixels are no compressed data', url(pngOf(GREY, Buffer.from('no pixels')))],
    ['a PNG whose compressed data is cut off', url(pngOf(GREY, zipped(...ROWS).subarray(0, -5)))],
    ['a PNG whose compressed data has a wrong checksum', url(pngOf(GREY, flipped(zipped(...ROWS), -1)))],
    ['a PNG with a pixel too few', url(pngOf(GREY, zipped(...ROWS.slice(0, -1))))],
    ['a PNG with a pixel too many', url(pngOf(GREY, zipped(...ROWS, 8)))],
    ['a PNG with a row of an unknown filter', url(pngOf(GREY, zipped(0, 1, 2, 3, 5, 5, 6, 7)))],
    ['a PNG of an unknown colour type', url(pngOf([3, 2, 8, 5, 0, 0, 0], zipped(...ROWS)))],
    ['a PNG of an unknown depth', url(pngOf([3, 2, 3, 0, 0, 0, 0], zipped(...ROWS)))],
    ['a PNG of an unknown interlace method', url(pngOf([3, 2, 8, 0, 0, 0, 2], zipped(...ROWS)))],
    ['a PNG of palette colours without a palette', url(pngOf([3, 2, 8, 3, 0, 0, 0], zipped(...ROWS)))],
    ['a JPEG without a scan', url(without(jpeg(8, 8), 0xda), 'image/jpeg')],
    ['a JPEG without quantization tables', url(without(jpeg(8, 8), 0xdb), 'image/jpeg')],
    ['a JPEG without a Huffman table', url(without(jpeg(8, 8), 0xc4), 'image/jpeg')],
    ['a JPEG with a scan without data', url(withoutData(jpeg(8, 8)), 'image/jpeg')],
    ['a JPEG with arithmetic codes', url(jpeg(8, 8, 0xc9), 'image/jpeg')],
    ['a JPEG that is cut off in its scan', url(jpeg(8, 8).subarray(0, -4), 'image/jpeg')],
    ['a PNG with a chunk that no decoder knows', url(pngOf(GREY, zipped(...ROWS), 'IDAT', [pngChunk('ABCD', EMPTY)]))],
    ['a PNG with two palettes', url(pngOf(INDEXED, zipped(...ROWS), 'IDAT', [PALETTE, PALETTE]))],
    ['a PNG with a palette of 257 colours', url(pngOf(INDEXED, zipped(...ROWS), 'IDAT', [paletteOf(257)]))],
    [
      'a PNG with a palette behind its pixels',
      url(pngOf(INDEXED, Buffer.alloc(24), 'PLTE', [pngChunk('IDAT', zipped(...ROWS))])),
    ],
    ['a PNG with two headers', url(pngOf(GREY, zipped(...ROWS), 'IDAT', [pngOf(GREY, EMPTY).subarray(8, 33)]))],
  ])('is not %s', (_, text) => {
    expect(() => parseLogo(text)).toThrow(NotALogo);
  });

  it.each([
    ['PNG', png(7, 5), 'image/png'],
    ['JPEG', jpeg(7, 5), 'image/jpeg'],
  ])('is stored without the bytes behind its end (%s)', (_, image, type) => {
    for (const behind of [Buffer.of(0), Buffer.from('<script>'), image, Buffer.alloc(10_000, 0xff)]) {
      const { content, ...logo } = parseLogo(url(Buffer.concat([image, behind]), type));
      expect(Buffer.from(content).equals(image)).toBe(true);
      expect(logo).toEqual({ ...parseLogo(url(image, type)), content: undefined });
    }
  });

  it('may have fill bytes before the markers of a JPEG, restarts included', () => {
    const image = jpegOf({ width: 70, height: 50, restart: 5 });
    const filled: number[] = [];
    for (const [at, octet] of image.entries()) {
      if (octet === 0xff && image[at + 1] !== 0 && at > 0) filled.push(0xff, 0xff);
      filled.push(octet);
    }
    expect(filled.length).toBeGreaterThan(image.length + 10);
    expect(parseLogo(url(Buffer.from(filled), 'image/jpeg'))).toMatchObject({ width: 70, height: 50 });
    // Some encoders end the last interval by a restart, too.
    const restarted = Buffer.concat([image.subarray(0, -2), Buffer.of(0xff, 0xd0 + (12 % 8), 0xff, 0xd9)]);
    expect(parseLogo(url(restarted, 'image/jpeg')).content).toHaveLength(restarted.length);
  });

  it('may be a PNG of every colour type and depth, interlaced or not', () => {
    const palette = [pngChunk('PLTE', Buffer.of(1, 2, 3))];
    for (const [type, samples, depths] of [
      [0, 1, [1, 2, 4, 8, 16]],
      [2, 3, [8, 16]],
      [3, 1, [1, 2, 4, 8]],
      [4, 2, [8, 16]],
      [6, 4, [8, 16]],
    ] as const) {
      for (const depth of depths) {
        const rows = (across: number, count: number) => count * (1 + Math.ceil((across * samples * depth) / 8));
        const plain = pngOf([5, 3, depth, type, 0, 0, 0], deflateSync(Buffer.alloc(rows(5, 3))), 'IDAT', palette);
        expect(parseLogo(url(plain))).toMatchObject({ width: 5, height: 3 });
        // The seven passes over 5 x 3 pixels; the third has none.
        const sizes = [rows(1, 1), rows(1, 1), 0, rows(1, 1), rows(3, 1), rows(2, 2), rows(5, 1)];
        const pixels = deflateSync(Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0)));
        const interlaced = pngOf([5, 3, depth, type, 0, 0, 1], pixels, 'IDAT', palette);
        expect(() => parseLogo(url(interlaced)), `${type} ${depth}`).not.toThrow();
      }
    }
  });

  it('costs no memory beyond its pixels', () => {
    const bomb = deflateSync(Buffer.alloc(200_000_000));
    expect(bomb.length).toBeLessThan(MAX_LOGO_BYTES);
    const start = process.memoryUsage().arrayBuffers;
    expect(() => parseLogo(url(pngOf([500, 500, 16, 6, 0, 0, 0], bomb)))).toThrow('pixels cannot be decoded');
    expect(process.memoryUsage().arrayBuffers - start).toBeLessThan(20_000_000);
  });

  it('in a profile is refused with its path; null removes it', async () => {
    const parse = (profile: unknown) => parseSellerProfile(profile, parseLogo);
    await expect(parse({ logo: 'x' })).rejects.toThrow('logo must be a data URL of a PNG or JPEG');
    await expect(parse({ documentLanguage: 'de' })).rejects.toThrow("documentLanguage must be 'fr', 'ar' or 'en'.");
    const removed = { logo: null, documentLanguage: 'ar' };
    expect(await parse(removed)).toEqual(removed);
    // Something else than the logo's fault is not its problem.
    const broken = () => Promise.reject(new Error('no thread'));
    await expect(parseSellerProfile({ logo: 'x' }, broken)).rejects.toThrow('no thread');
  });
});
