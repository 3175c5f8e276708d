// The parts of a ZIP file whose files are stored as they are (PKWARE's APPNOTE 6.3.10). All lengths are known before
// anything is written, so that any part of it can be made alone. Beyond 4 GiB or 65,534 files it is ZIP64.

/** A file in a ZIP file. */
export interface ZippedFile {
  /** Of ASCII characters, with slashes between folders. */
  readonly path: string;
  /**
   * Time of its last change, written in UTC, to two seconds. MS-DOS knows the years 1980 to 2107; other times become
   * the nearest one.
   */
  readonly modified: Date;
  /** Below 4 GiB. */
  readonly size: number;
}

/** The places of the parts. */
export interface ZipLayout {
  /** Number of files. */
  readonly count: number;
  /** Where the directory begins, behind all files, and its length. */
  readonly start: number;
  readonly length: number;
}

const [LOCAL_BYTES, CENTRAL_BYTES, END_BYTES, ZIP64_END_BYTES, LOCATOR_BYTES] = [30, 46, 22, 56, 20];
/** The extra field of an offset beyond 32 bits. */
const EXTRA_BYTES = 12;
/** The values that replace a number which is in the ZIP64 parts. */
const [BEYOND_16, BEYOND_32] = [0xffff, 0xffffffff];
/** The versions of the format that a reader needs: 1.0, and 4.5 for ZIP64. */
const [PLAIN, ZIP64] = [10, 45];
/** Marks the file as made on Unix, so that the attributes are a mode: readable by all. */
const [MADE_BY, MODE] = [0x031e, 0o100644 * 0x10000];

/** Returns the length of a file with its header. */
export function lengthInZip({ path, size }: ZippedFile): number {
  return LOCAL_BYTES + path.length + size;
}

/** Returns the header that precedes the bytes of a file. @param crc their CRC-32 */
export function headerInZip({ path, modified, size }: ZippedFile, crc: number): Uint8Array {
  const header = Buffer.alloc(LOCAL_BYTES + path.length);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(PLAIN, 4);
  header.writeUInt32LE(dosTime(modified), 10);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(size, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(path.length, 26);
  header.write(path, LOCAL_BYTES, 'latin1');
  return header;
}

/** Returns the length of a file's row in the directory. @param offset where the file's header begins */
export function rowLength(path: string, offset: number): number {
  return CENTRAL_BYTES + path.length + (offset < BEYOND_32 ? 0 : EXTRA_BYTES);
}

/** Returns a file's row in the directory. */
export function directoryRow({ path, modified, size }: ZippedFile, crc: number, offset: number): Uint8Array {
  const isFar = offset >= BEYOND_32;
  const row = Buffer.alloc(rowLength(path, offset));
  row.writeUInt32LE(0x02014b50, 0);
  row.writeUInt16LE(MADE_BY, 4);
  row.writeUInt16LE(isFar ? ZIP64 : PLAIN, 6);
  row.writeUInt32LE(dosTime(modified), 12);
  row.writeUInt32LE(crc, 16);
  row.writeUInt32LE(size, 20);
  row.writeUInt32LE(size, 24);
  row.writeUInt16LE(path.length, 28);
  row.writeUInt16LE(isFar ? EXTRA_BYTES : 0, 30);
  row.writeUInt32LE(MODE, 38);
  row.writeUInt32LE(isFar ? BEYOND_32 : offset, 42);
  row.write(path, CENTRAL_BYTES, 'latin1');
  if (isFar) {
    const extra = CENTRAL_BYTES + path.length;
    row.writeUInt16LE(1, extra);
    row.writeUInt16LE(EXTRA_BYTES - 4, extra + 2);
    row.writeBigUInt64LE(BigInt(offset), extra + 4);
  }
  return row;
}

/** Returns the end of the file, which follows the directory. */
export function endOfZip({ count, start, length }: ZipLayout): Uint8Array {
  const isLarge = count >= BEYOND_16 || start >= BEYOND_32 || length >= BEYOND_32;
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(isLarge ? BEYOND_16 : count, 8);
  end.writeUInt16LE(isLarge ? BEYOND_16 : count, 10);
  end.writeUInt32LE(isLarge ? BEYOND_32 : length, 12);
  end.writeUInt32LE(isLarge ? BEYOND_32 : start, 16);
  if (!isLarge) return end;
  const far = Buffer.alloc(ZIP64_END_BYTES + LOCATOR_BYTES);
  far.writeUInt32LE(0x06064b50, 0);
  far.writeBigUInt64LE(BigInt(ZIP64_END_BYTES - 12), 4);
  far.writeUInt16LE(MADE_BY, 12);
  far.writeUInt16LE(ZIP64, 14);
  far.writeBigUInt64LE(BigInt(count), 24);
  far.writeBigUInt64LE(BigInt(count), 32);
  far.writeBigUInt64LE(BigInt(length), 40);
  far.writeBigUInt64LE(BigInt(start), 48);
  far.writeUInt32LE(0x07064b50, ZIP64_END_BYTES);
  far.writeBigUInt64LE(BigInt(start + length), ZIP64_END_BYTES + 8);
  far.writeUInt32LE(1, ZIP64_END_BYTES + 16);
  return Buffer.concat([far, end]);
}

/** The first and the last time that MS-DOS can write. */
const [FIRST_TIME, LAST_TIME] = [Date.UTC(1980, 0, 1), Date.UTC(2107, 11, 31, 23, 59, 58)];

/** Returns the time in the low 16 bits and the date in the high ones, as MS-DOS writes them. */
function dosTime(exact: Date): number {
  const at = new Date(Math.min(Math.max(exact.getTime(), FIRST_TIME), LAST_TIME));
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return date * 0x10000 + time;
}
