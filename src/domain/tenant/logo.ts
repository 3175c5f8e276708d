import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

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

/**
 * Parses a logo from a data URL. Format, size and dimensions are read from its octets; the URL's media type must match.
 * @param url `data:image/png;base64,…` or `data:image/jpeg;base64,…`
 * @throws {NotALogo}
 */
export function parseLogo(url: string): Logo {
  const [, contentType, base64 = ''] = /^data:(image\/(?:png|jpeg));base64,([a-z0-9+/]+={0,2})$/i.exec(url) ?? [];
  if (contentType === undefined) {
    throw new NotALogo("must be a data URL of a PNG or JPEG: 'data:image/png;base64,…'");
  }
  const content = Buffer.from(base64, 'base64');
  if (content.length > MAX_LOGO_BYTES) throw new NotALogo(`is too large: at most ${MAX_LOGO_BYTES / 1024} KiB`);
  const size = contentType.toLowerCase() === 'image/png' ? pngSize(content) : jpegSize(content);
  if (size === null) throw new NotALogo(`is not a complete ${contentType}`);
  if (Math.min(size.width, size.height) < 1 || Math.max(size.width, size.height) > MAX_LOGO_PIXELS) {
    throw new NotALogo(
      `has ${size.width} x ${size.height} pixels: at most ${MAX_LOGO_PIXELS} on each side are allowed`,
    );
  }
  if (contentType.toLowerCase() === 'image/png' && size.width * size.height > MAX_PNG_AREA) {
    throw new NotALogo(
      `has ${size.width} x ${size.height} pixels: a PNG may have ${MAX_PNG_AREA / 1000},000 in all, a JPEG more`,
    );
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, contentType: contentType.toLowerCase() as Logo['contentType'], ...size, content };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Walks the chunks (PNG, section 5): each checksum must be right, the first chunk is the header, the last the end. */
function pngSize(file: Buffer): Size | null {
  if (!file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return null;
  let size: Size | null = null;
  for (let at = PNG_SIGNATURE.length; at + 12 <= file.length; ) {
    const end = at + 12 + file.readUInt32BE(at);
    if (end > file.length || crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) return null;
    const type = file.toString('latin1', at + 4, at + 8);
    if (size === null) {
      if (type !== 'IHDR' || end - at !== 25) return null;
      size = { width: file.readUInt32BE(at + 8), height: file.readUInt32BE(at + 12) };
    }
    if (type === 'IEND') return end === file.length ? size : null;
    at = end;
  }
  return null;
}

const START_OF_SCAN = 0xda;
/** Start-of-frame markers: C0 to CF except C4, C8 and CC, which have other meanings. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Walks the segments (ITU-T T.81, annex B) up to the first scan; the file must end with the end-of-image marker. */
function jpegSize(file: Buffer): Size | null {
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8 || file.readUInt16BE(file.length - 2) !== 0xffd9) return null;
  let size: Size | null = null;
  for (let at = 2; at + 9 <= file.length; ) {
    if (file[at] !== 0xff) return null;
    const marker = file[at + 1]!;
    if (marker === START_OF_SCAN) return size;
    if (isFrame(marker)) size = { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) };
    at += 2 + file.readUInt16BE(at + 2);
  }
  return null;
}
