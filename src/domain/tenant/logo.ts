import { createHash } from 'node:crypto';
import { readJpeg } from './jpeg-image.ts';
import { hasPixels, readPng } from './png-image.ts';

/** Reference to a seller's logo in profiles and invoices; its octets are stored once by digest. */
export interface LogoReference {
  /** Digest of the octets, lower-case hex. */
  readonly sha256: string;
  readonly contentType: 'image/png' | 'image/jpeg';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

export interface Logo extends LogoReference {
  readonly content: Uint8Array;
}

/** Maximum size of a logo in bytes; every PDF embeds it. */
export const MAX_LOGO_BYTES = 256 * 1024;
/** Maximum width and height: 60 mm at 600 dpi. More pixels would only cost the browser memory and time. */
export const MAX_LOGO_PIXELS = 1_500;
/**
 * Maximum number of pixels of a PNG: 1 MB in a PDF, which has them without a PNG's prediction, however small the file is.
 * A JPEG is in the PDF as it is.
 */
export const MAX_PNG_AREA = 250_000;

/** The text is not a logo. The message completes "logo …". */
export class NotALogo extends Error {
  override readonly name = 'NotALogo';
}

/** Length of a data URL of {@link MAX_LOGO_BYTES}. */
const MAX_URL_LENGTH = 'data:image/jpeg;base64,'.length + 4 * Math.ceil(MAX_LOGO_BYTES / 3);
const TOO_LARGE = `is too large: at most ${MAX_LOGO_BYTES / 1024} KiB`;

/**
 * Parses a logo from a data URL. Format, size and dimensions are read from its octets; the URL's media type must match.
 * Bytes behind the end of the image are left out. The pixels of a PNG are decoded.
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
  const png = contentType === 'image/png' ? readPng(file) : null;
  const image = png ?? (contentType === 'image/jpeg' ? readJpeg(file) : null);
  if (image === null) throw new NotALogo(`is not a complete ${contentType}`);
  const { width, height, content } = image;
  if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_LOGO_PIXELS) {
    throw new NotALogo(`has ${width} x ${height} pixels: at most ${MAX_LOGO_PIXELS} on each side are allowed`);
  }
  if (png !== null && width * height > MAX_PNG_AREA) {
    throw new NotALogo(
      `has ${width} x ${height} pixels: a PNG may have ${MAX_PNG_AREA / 1000},000 in all, a JPEG more`,
    );
  }
  if (png !== null && !hasPixels(png)) throw new NotALogo('is a PNG whose pixels cannot be decoded');
  return { sha256: createHash('sha256').update(content).digest('hex'), contentType, width, height, content };
}
