import { DatabaseSync } from 'node:sqlite';
import { CommandError } from '../errors.ts';
import { mapped, PAUSE, Pace, type Pause, type Pausing, type Steps } from '../query/pause.ts';
import { mergeSorted, Sorter } from '../query/sorter.ts';
import { limitedBy } from './limited-by.ts';
import { SpillFile } from './spill-file.ts';

/** Bytes of entries that a sort keeps in memory before it writes to temporary files. Documents may use half of them. */
export const MEMORY_BYTES = 32 * 1024 * 1024;
/** Bytes of entries that a sort may keep in memory when it must not use the disk, as in MongoDB. */
const MEMORY_ONLY_BYTES = 100 * 1024 * 1024;
/** Bytes of memory that a sort key, and a document, need in addition to their own length. */
const OVERHEAD = 150;
/** About this many bytes of keys are read together from a run in the file. */
const READ_BYTES = 64 * 1024;

/** A row id with its sort key. */
export interface Entry {
  readonly rid: number;
  readonly key: Uint8Array;
  /** The document as it was read, if documents are sorted along. */
  readonly bytes?: Uint8Array;
}

/** An entry whose document may be in the file of documents. */
interface FiledEntry extends Entry {
  readonly place?: number | null;
  readonly length?: number | null;
}

/**
 * Sorts row ids by their sort keys, and those with equal keys by row id. Entries that exceed the memory are written to
 * temporary files: documents one by one, and keys in sorted runs. The files are removed when the iteration of `entries`
 * ends.
 */
export class RidSorter {
  readonly #keep: number;
  readonly #mayUseDisk: boolean;
  readonly #memoryBytes: number;
  #sorter: Sorter<FiledEntry>;
  /** Bytes of entries in memory, with their documents. */
  #bytes = 0;
  /** Bytes of documents in memory. */
  #documentBytes = 0;
  #sinceDrop = 0;
  #runs: RunFile | undefined;
  #documents: SpillFile | undefined;

  /**
   * @param keep number of wanted row ids, the first in order; Infinity for all
   * @param memoryBytes bytes of entries kept in memory if the disk may be used
   */
  constructor(keep: number, mayUseDisk: boolean, memoryBytes = MEMORY_BYTES) {
    this.#memoryBytes = memoryBytes;
    this.#keep = keep;
    this.#mayUseDisk = mayUseDisk;
    this.#sorter = this.#newSorter();
  }

  /** @throws CommandError 292 when the entries need too much memory and the disk must not be used. */
  add(entry: Entry): void {
    const isFull = () => this.#mayUseDisk && this.#documentBytes > this.#memoryBytes / 2;
    // If few documents are wanted, most of those in memory can be dropped. This is tried rarely, because it does not
    // help if the wanted ones themselves are too large.
    if (++this.#sinceDrop >= this.#keep / 4 && isFull()) {
      this.#sorter.dropUnwanted();
      this.#sinceDrop = 0;
    }
    this.#sorter.add(this.#counted(isFull() ? this.#filed(entry) : entry, 1));
    if (this.#mayUseDisk || this.#bytes <= MEMORY_ONLY_BYTES) return;
    this.#sorter.dropUnwanted();
    if (this.#bytes <= MEMORY_ONLY_BYTES) return;
    throw new CommandError(
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      `Executor error during find command :: caused by :: Sort exceeded memory limit of ${MEMORY_ONLY_BYTES} bytes`,
    );
  }

  /** Whether `spill` must be called before the next `add`. */
  get isFull(): boolean {
    return this.#mayUseDisk && this.#bytes > this.#memoryBytes;
  }

  /** Writes the entries in memory to the files. */
  *spill(): Steps<void> {
    this.#runs ??= new RunFile();
    yield* this.#runs.write(mapped(this.#sorter.sorted(), (entry) => this.#filed(entry)));
    this.#sorter = this.#newSorter();
    this.#bytes = 0;
    this.#documentBytes = 0;
  }

  /** Yields the wanted entries in order. Call it once, after the last `add`. */
  *entries(): Generator<Entry | Pause> {
    let left = this.#keep;
    try {
      const runs: Pausing<FiledEntry>[] = [...(this.#runs?.read() ?? []), this.#sorter.sorted()];
      for (const entry of mergeSorted(runs, byKey)) {
        if (entry === PAUSE) yield PAUSE;
        else {
          yield this.#whole(entry);
          if (--left === 0) return;
        }
      }
    } finally {
      this.close();
    }
  }

  /** Removes the files. */
  close(): void {
    this.#runs?.close();
    this.#documents?.close();
    this.#runs = undefined;
    this.#documents = undefined;
  }

  #filed(entry: FiledEntry): FiledEntry {
    const { rid, key, bytes } = entry;
    if (!bytes) return entry;
    this.#documents ??= new SpillFile();
    return { rid, key, place: this.#documents.append(bytes), length: bytes.length };
  }

  #whole(entry: FiledEntry): Entry {
    const { rid, key, place, length } = entry;
    if (typeof place !== 'number' || typeof length !== 'number' || !this.#documents) return entry;
    return { rid, key, bytes: this.#documents.read(place, length) };
  }

  /** Adds the size of an entry to the bytes in memory, or subtracts it. */
  #counted(entry: FiledEntry, times: 1 | -1): FiledEntry {
    const documentBytes = entry.bytes ? entry.bytes.length + OVERHEAD : 0;
    this.#documentBytes += times * documentBytes;
    this.#bytes += times * (entry.key.length + OVERHEAD + documentBytes);
    return entry;
  }

  #newSorter(): Sorter<FiledEntry> {
    return new Sorter(byKey, this.#keep, (entry) => void this.#counted(entry, -1));
  }
}

function byKey(a: Entry, b: Entry): number {
  return Buffer.compare(a.key, b.key) || a.rid - b.rid;
}

/** Sorted runs in a temporary database, which is removed even if the process is killed. */
class RunFile {
  readonly #sqlite = new DatabaseSync('');
  /** For each run, the number of entries to read together. */
  readonly #runs: number[] = [];

  constructor() {
    this.#sqlite.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192');
    this.#sqlite.exec(`CREATE TABLE run(n INTEGER, entry INTEGER, key BLOB, rid INTEGER, place INTEGER, length INTEGER,
      PRIMARY KEY(n, entry)) WITHOUT ROWID; BEGIN`);
  }

  *write(entries: Pausing<FiledEntry>): Steps<void> {
    const insert = this.#sqlite.prepare('INSERT INTO run(n, entry, key, rid, place, length) VALUES(?, ?, ?, ?, ?, ?)');
    const n = this.#runs.length;
    const pace = new Pace();
    let [count, keyBytes] = [0, 0];
    for (const entry of entries) {
      if (entry !== PAUSE) {
        const { key, rid, place, length } = entry;
        insert.run(n, count++, key, rid, place ?? null, length ?? null);
        keyBytes += key.length;
      }
      if (entry === PAUSE || pace.isDue()) yield PAUSE;
    }
    this.#runs.push(Math.ceil((READ_BYTES * count) / Math.max(keyBytes, READ_BYTES)));
  }

  read(): Iterable<FiledEntry>[] {
    return this.#runs.map((atOnce, n) => this.#read(n, atOnce));
  }

  *#read(n: number, atOnce: number): Generator<FiledEntry> {
    const next = this.#sqlite.prepare(
      `SELECT key, rid, place, length FROM run WHERE n = ? AND entry >= ? ORDER BY entry ${limitedBy()}`,
    );
    for (let from = 0; ; from += atOnce) {
      const entries = next.all(n, from, atOnce) as unknown as FiledEntry[];
      yield* entries;
      if (entries.length < atOnce) return;
    }
  }

  close(): void {
    this.#sqlite.close();
  }
}
