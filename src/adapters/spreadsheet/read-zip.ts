import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { UnreadableFile } from '../../domain/imports/reading.ts';

/** The parts of a ZIP file, whose total size is within the limits. */
export interface Parts {
  /** Paths as the file states them. */
  readonly paths: ReadonlySet<string>;
  /**
   * Reads a part from its beginning. At its end, compares its length and its checksum with those that the file states.
   * @throws {UnreadableFile}
   */
  read(path: string): AsyncIterable<Uint8Array>;
  close(): void;
}

/**
 * Opens a ZIP file. Only the entries of its directory are read; a part that unpacks to more than its stated size ends
 * with an error.
 * @throws {UnreadableFile}
 */
export async function openParts(file: string): Promise<Parts> {
  const zip = await intact(openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true }));
  try {
    const entries = await entriesOf(zip);
    return {
      paths: new Set(entries.keys()),
      read: (path) => readEntry(zip, entries.get(path)),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function entriesOf(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const { parts, unpackedBytes } = IMPORT_LIMITS;
  if (zip.entryCount > parts) throw new UnreadableFile('too_many_parts', { most: parts });
  const entries = new Map<string, Entry>();
  let bytes = 0;
  for await (const entry of intactItems<Entry>(zip.eachEntry())) {
    bytes += entry.uncompressedSize;
    if (bytes > unpackedBytes) throw new UnreadableFile('too_much_unpacked', { most: unpackedBytes / 1024 / 1024 });
    if (entry.isEncrypted()) throw new UnreadableFile('encrypted');
    // Programs differ in which of two parts with the same path they read.
    if (entries.has(entry.fileName)) throw new UnreadableFile('damaged');
    entries.set(entry.fileName, entry);
  }
  return entries;
}

async function* readEntry(zip: ZipFile, entry: Entry | undefined): AsyncGenerator<Uint8Array, void, void> {
  if (!entry) throw new UnreadableFile('damaged');
  const stream = await intact(zip.openReadStreamPromise(entry));
  let sum = 0;
  try {
    for await (const chunk of intactItems<Uint8Array>(stream)) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
  if (sum !== entry.crc32) throw new UnreadableFile('damaged');
}

/** Converts errors about the file to `damaged`. */
async function intact<Value>(value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (cause) {
    throw damaged(cause);
  }
}

async function* intactItems<Item>(items: AsyncIterable<unknown>): AsyncGenerator<Item, void, void> {
  const each = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await intact(Promise.resolve(each.next()));
      if (done) return;
      yield value as Item;
    }
  } finally {
    await each.return?.();
  }
}

function damaged(cause: unknown): unknown {
  // A system error, such as a missing file, is no fault of the file. Codes of zlib errors begin with Z.
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  if (cause instanceof UnreadableFile || /^E[A-Z]+$/.test(code)) return cause;
  return Object.assign(new UnreadableFile('damaged'), { cause });
}
