import { describe, expect, it } from 'vitest';
import { MAX_LOGO_BYTES, MAX_LOGO_PIXELS, NotALogo, parseLogo } from '../../../src/domain/tenant/logo.ts';
import { parseSellerProfile } from '../../../src/domain/tenant/seller-profile-input.ts';
import { png } from '../pdf/support.ts';

const url = (content: Buffer, type = 'image/png') => `data:${type};base64,${content.toString('base64')}`;

/** The segments of a JPEG that the parser reads, without the scan data. */
function jpeg(width: number, height: number, frame = 0xc0): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  return Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    Buffer.of(0xff, 0xc4, 0, 4, 1, 2),
    Buffer.of(0xff, frame, 0, 17, 8),
    size,
    Buffer.alloc(10),
    Buffer.of(0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9),
  ]);
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
    ['a PNG with more behind it', url(Buffer.concat([whole, Buffer.from('<script>')]))],
    ['a PNG with a wrong checksum', url(damaged)],
    ['no width', url(png(0, 5))],
    ['too many pixels', url(png(MAX_LOGO_PIXELS + 1, 1))],
    ['a PNG that a PDF would hold as a megabyte', url(png(501, 500))],
    ['a huge JPEG', url(jpeg(60_000, 60_000), 'image/jpeg')],
    ['a JPEG without an end', url(jpeg(5, 5).subarray(0, -2), 'image/jpeg')],
    ['too many octets', url(Buffer.alloc(MAX_LOGO_BYTES + 1))],
  ])('is not %s', (_, text) => {
    expect(() => parseLogo(text)).toThrow(NotALogo);
  });

  it('in a profile is refused with its path; null removes it', () => {
    expect(() => parseSellerProfile({ logo: 'x' })).toThrow('logo must be a data URL of a PNG or JPEG');
    expect(() => parseSellerProfile({ documentLanguage: 'de' })).toThrow(
      "documentLanguage must be 'fr', 'ar' or 'en'.",
    );
    expect(parseSellerProfile({ logo: null, documentLanguage: 'ar' })).toEqual({ logo: null, documentLanguage: 'ar' });
  });
});
