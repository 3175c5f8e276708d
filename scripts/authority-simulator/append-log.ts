import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { crc32 } from 'node:zlib';

/** The place of bytes in the file of documents: offset and length. */
export type Place = readonly [offset: number, length: number];

/** An append-only log of JSON records with a file of documents beside it. */
export interface AppendLog {
  /**
   * Appends documents and then records, which may name the documents' places. Resolves when everything is on the disk:
   * after a power failure a record exists completely, with its documents, or not at all. Calls resolve in their order;
   * waiting calls share a sync.
   */
  append(records: readonly object[], documents?: readonly Uint8Array[]): Promise<void>;
  /** Returns the place of the first document of the next call of `append`. */
  place(length: number): Place;
  read(place: Place): Promise<Buffer>;
  /** Writes the waiting records and closes the files. */
  close(): Promise<void>;
}

interface Waiting {
  readonly text: string;
  readonly documents: readonly Uint8Array[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Opens the log of a folder and replays its records in order. The tail of a write that a power failure cut short is
 * removed. The folder must be used by one process only.
 */
export async function openAppendLog(folder: string, replay: (record: unknown) => void): Promise<AppendLog> {
  const records = await open(join(folder, 'ledger.jsonl'), 'a+', 0o600);
  const documents = await open(join(folder, 'documents.bin'), 'a+', 0o600);
  await records.truncate(await replayAll(records, replay));
  let end = (await documents.stat()).size;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  /** After a failed write nothing more is written: it would follow a line that may be cut short. */
  let broken: unknown = null;

  async function write(): Promise<void> {
    // Records that arrive during this turn of the event loop join the batch.
    await null;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        if (broken !== null) throw broken;
        const bytes = batch.flatMap((each) => each.documents);
        if (bytes.length > 0) {
          await writeAll(documents, Buffer.concat(bytes));
          await documents.datasync();
        }
        await writeAll(records, Buffer.from(batch.map(({ text }) => text).join('')));
        await records.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        broken = error;
        for (const { failed } of batch) failed(error);
      }
    }
    writing = null;
  }

  return {
    append(entries, added = []) {
      const text = entries.map(lineOf).join('');
      for (const { length } of added) end += length;
      const written = new Promise<void>((done, failed) => {
        waiting.push({ text, documents: added, done, failed });
      });
      writing ??= write();
      return written;
    },
    place: (length) => [end, length],
    async read([offset, length]) {
      const { buffer, bytesRead } = await documents.read(Buffer.alloc(length), 0, length, offset);
      if (bytesRead < length) throw new Error('The file of documents is shorter than the ledger says.');
      return buffer;
    },
    async close() {
      while (writing !== null) await writing;
      await Promise.all([records.close(), documents.close()]);
    },
  };
}

function lineOf(record: object): string {
  // readline takes these two for line ends.
  const json = JSON.stringify(record).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** @returns the length of the part that is complete, in bytes */
async function replayAll(file: FileHandle, replay: (record: unknown) => void): Promise<number> {
  const { size } = await file.stat();
  let complete = 0;
  const lines = createInterface({ input: file.createReadStream({ start: 0, autoClose: false }), crlfDelay: 0 });
  for await (const line of lines) {
    const json = line.slice(9);
    const length = Buffer.byteLength(line) + 1;
    if (complete + length > size || line.slice(0, 8) !== crc32(json).toString(16).padStart(8, '0')) break;
    replay(JSON.parse(json));
    complete += length;
  }
  lines.close();
  return complete;
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written)).bytesWritten;
  }
}
