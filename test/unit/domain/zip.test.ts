import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';
import {
  directoryRow,
  endOfZip,
  headerInZip,
  lengthInZip,
  rowLength,
  type ZippedFile,
} from '../../../src/domain/kit/zip.ts';
import { unzipped } from '../../support/zip.ts';

const MODIFIED = new Date('2026-11-30T13:45:58Z');
const file = (path: string, size: number): ZippedFile => ({ path, size, modified: MODIFIED });

/** The directory and the end of an archive of these files, of which no bytes are made. */
function layOut(files: readonly ZippedFile[]) {
  let [offset, foretold] = [0, 0];
  const rows = files.map((each) => {
    const row = directoryRow(each, 0, offset);
    foretold += rowLength(each.path, offset);
    offset += lengthInZip(each);
    return row;
  });
  const directory = Buffer.concat(rows);
  expect(directory).toHaveLength(foretold);
  const end = endOfZip({ count: files.length, start: offset, length: directory.length });
  return { start: offset, tail: Buffer.concat([directory, end]) };
}

/** Lists the directory of an archive whose files are not there. */
async function listed(files: readonly ZippedFile[]): Promise<Entry[]> {
  const { start, tail } = layOut(files);
  /** What precedes the directory reads as zeros. */
  class Tail extends RandomAccessReader {
    override read(buffer: Buffer, at: number, length: number, from: number, done: (error: Error | null) => void) {
      buffer.fill(0, at, at + length);
      tail.copy(buffer, at + Math.max(0, start - from), Math.max(0, from - start), Math.max(0, from + length - start));
      setImmediate(done, null);
    }
  }
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    const size = start + tail.length;
    fromRandomAccessReader(new Tail(), size, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error ? reject(error) : resolve(opened),
    );
  });
  const entries: Entry[] = [];
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}

it('files are found again, with their times and bytes', async () => {
  const contents = [Buffer.from('first'), Buffer.alloc(0), Buffer.from('é'.repeat(100_000))];
  const files = contents.map((bytes, i) => file(`2026-11/${i}.txt`, bytes.length));
  const parts = files.map((each, i) => {
    const bytes = contents[i] as Buffer;
    const header = headerInZip(each, crc32(bytes));
    expect(header.length + bytes.length).toBe(lengthInZip(each));
    return Buffer.concat([header, bytes]);
  });
  let offset = 0;
  const rows = files.map((each, i) => {
    const row = directoryRow(each, crc32(contents[i] as Buffer), offset);
    offset += lengthInZip(each);
    return row;
  });
  const length = rows.reduce((sum, row) => sum + row.length, 0);
  const zip = Buffer.concat([...parts, ...rows, endOfZip({ count: files.length, start: offset, length })]);
  expect(await unzipped(zip)).toEqual(new Map(files.map(({ path }, i) => [path, contents[i]])));
  const [first] = await listed(files);
  expect(first?.getLastModDate({ timezone: 'UTC' })).toEqual(MODIFIED);
});

it('an archive has more than 65,535 files', async () => {
  for (const count of [65_534, 65_535, 65_536]) {
    const entries = await listed(Array.from({ length: count }, (_, i) => file(`${i}`, 0)));
    expect(entries.map(({ fileName }) => fileName)).toEqual(Array.from({ length: count }, (_, i) => `${i}`));
  }
});

it('an archive has more than 4 GiB, with files on both sides of it', async () => {
  const sizes = [2 ** 32 - 2, 0, 5, 2 ** 31, 2 ** 31, 2 ** 31, 7];
  const files = sizes.map((size, i) => file(`${i}.pdf`, size));
  const entries = await listed(files);
  let offset = 0;
  for (const [i, entry] of entries.entries()) {
    expect(entry).toMatchObject({
      fileName: `${i}.pdf`,
      uncompressedSize: sizes[i],
      relativeOffsetOfLocalHeader: offset,
    });
    offset += lengthInZip(files[i] as ZippedFile);
  }
  // The first offset that 32 bits have no room for is that of the end itself.
  const atLimit = [file('a', 2 ** 32 - 1 - 31), file('b', 3)];
  expect((await listed(atLimit)).map(({ relativeOffsetOfLocalHeader: at }) => at)).toEqual([0, 2 ** 32 - 1]);
});

it.each([
  ['1969-12-31T23:59:59Z', '1980-01-01T00:00:00Z'],
  ['2107-11-30T13:45:58Z', '2107-11-30T13:45:58Z'],
  ['2108-01-01T00:00:00Z', '2107-12-31T23:59:58Z'],
  ['3000-01-01T00:00:00Z', '2107-12-31T23:59:58Z'],
])('a file of %s has the nearest time that the format knows', async (modified, expected) => {
  const [entry] = await listed([{ path: 'a', size: 0, modified: new Date(modified) }]);
  expect(entry?.getLastModDate({ timezone: 'UTC' })).toEqual(new Date(expected));
});
