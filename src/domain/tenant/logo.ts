import { createHash } from 'node:crypto';
import { readJpeg } from './jpeg-image.ts';
import { hasJpegPixels } from './jpeg-pixels.ts';
import { NotALogo } from './not-a-logo.ts';
import { hasPixels, readPng } from './png-image.ts';

/** Reference to a seller's logo in profiles and invoices. The logo's octets are stored once, by digest. */
export interface LogoReference {
  /** Digest of the octets, lower-case hex. */
  readonly sha256: string;
  readonly contentType: 'image/png' | 'image/jpeg';
  /** Width in pixels. */
  readonly width: number;
  readonly height: number;
}

export interface Logo extends LogoReference {
  readonly content: Uint8Array;
}

/** Maximum size of a logo in bytes. Every PDF contains it. */
export const MAX_LOGO_BYTES = 256 * 1024;
/** Maximum width and height in pixels: 60 mm at 600 dpi. More would only cost the browser memory and time. */
export const MAX_LOGO_PIXELS = 1_500;
/**
 * Maximum number of pixels of an image whose file a PDF cannot contain unchanged. They take 1 MB in a PDF, which stores
 * them without a PNG's prediction, however small the file is.
 */
export const MAX_DECODED_AREA = 250_000;

/** Maximum length of a data URL, for {@link MAX_LOGO_BYTES}. */
const MAX_URL_LENGTH = 'data:image/jpeg;base64,'.length + 4 * Math.ceil(MAX_LOGO_BYTES / 3);
const TOO_LARGE = `is too large: at most ${MAX_LOGO_BYTES / 1024} KiB`;

/** The first bytes of formats in which logos are often sent, including the two allowed ones. */
const FORMATS: readonly (readonly [string, RegExp])[] = [
  ['PNG', /^\x89PNG\r\n/],
  ['JPEG', /^\xff\xd8\xff/],
  ['GIF', /^GIF8/],
  ['WebP', /^RIFF.{4}WEBP/s],
  ['AVIF or HEIC', /^.{4}ftyp/s],
  ['BMP', /^BM/],
  ['TIFF', /^(?:II\*\0|MM\0\*)/],
  ['PDF', /^%PDF/],
  ['SVG, XML or HTML', /^(?:\xef\xbb\xbf)?\s*</],
];

/**
 * Parses a logo from a data URL. Format, size and dimensions are read from its octets; the URL's media type must match.
 * Bytes after the end of the image are dropped. The dimensions are checked before memory is allocated to decode the
 * pixels. Decoding takes some tenths of a second, so a client's logo is parsed on a thread.
 * @param url `data:image/png;base64,…` or `data:image/jpeg;base64,…`
 * @throws {NotALogo}
 */
export function parseLogo(url: string): Logo {
  if (url.length > MAX_URL_LENGTH) throw new NotALogo(TOO_LARGE);
  const [, type, base64 = ''] = /^data:(image\/(?:png|jpeg));base64,([a-z0-9+/]+={0,2})$/i.exec(url) ?? [];
  if (type === undefined) {
    throw new NotALogo("must be a data URL of a PNG or JPEG: 'data:image/png;base64,…'");
  }
  const contentType = type.toLowerCase() as Logo['contentType'];
  const file = Buffer.from(base64, 'base64');
  if (file.length > MAX_LOGO_BYTES) throw new NotALogo(TOO_LARGE);
  const format = contentType === 'image/png' ? 'PNG' : 'JPEG';
  const image = format === 'PNG' ? readPng(file) : readJpeg(file);
  if (image === null) throw new NotALogo(otherFormat(file, format) ?? `is not a complete ${contentType}`);
  const { width, height, content } = image;
  if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_LOGO_PIXELS) {
    throw new NotALogo(`has ${width} x ${height} pixels: at most ${MAX_LOGO_PIXELS} on each side are allowed`);
  }
  if (!('isKept' in image && image.isKept) && width * height > MAX_DECODED_AREA) {
    throw new NotALogo(
      format === 'PNG'
        ? `has ${width} x ${height} pixels: a PNG may have ${MAX_DECODED_AREA / 1000},000 in all, a JPEG more`
        : `has ${width} x ${height} pixels: a JPEG in CMYK or RGB, or turned by Exif, may have ${MAX_DECODED_AREA / 1000},000 in all, an upright one in YCbCr or grey more`,
    );
  }
  if (!('scans' in image ? hasJpegPixels(image) : hasPixels(image))) {
    throw new NotALogo(`is a ${format} whose pixels cannot be decoded`);
  }
  return { sha256: createHash('sha256').update(content).digest('hex'), contentType, width, height, content };
}

/**
 * Returns a message about a file in another format than its media type states; null when it starts like one in that
 * format.
 */
function otherFormat(file: Buffer, format: 'PNG' | 'JPEG'): string | null {
  const start = file.toString('latin1', 0, 64);
  const found = FORMATS.find(([, pattern]) => pattern.test(start))?.[0];
  if (found === undefined || found === format) return null;
  const isAllowed = found === 'PNG' || found === 'JPEG';
  return `is ${found} that is called ${format}: ${isAllowed ? 'say so in the data URL' : 'convert it to a PNG or JPEG'}`;
}
