import { DatabaseSync } from 'node:sqlite';
import { CommandError } from '../errors.ts';
import { PAUSE, PAUSE_ITEMS, type Pause, type Pausing, type Steps } from '../query/pause.ts';
import { mergeSorted, Sorter } from '../query/sorter.ts';

/** Bytes of sort keys that a sort keeps in memory before it writes them to a temporary file. */
export const MEMORY_BYTES = 32 * 1024 * 1024;
/** Bytes of sort keys that a sort without leave to use the disk keeps in memory, as in MongoDB. */
const MEMORY_ONLY_BYTES = 100 * 1024 * 1024;
/** Bytes of memory that a sort key needs in addition to its own length. */
const KEY_OVERHEAD = 150;
/** About as many bytes are read at once from a run in the file. */
const READ_BYTES = 64 * 1024;

/** A row id with its sort key. */
export interface Entry {
  readonly rid: number;
  readonly key: Uint8Array;
}

/**
 * Sorts row ids by their sort keys, and those with equal keys by themselves. Beyond `MEMORY_BYTES` of keys, sorted runs
 * go to a temporary file, which ends with the iteration of `sorted` or `entries`.
 */
export class RidSorter {
  readonly #keep: number;
  readonly #mayUseDisk: boolean;
  readonly #memoryBytes: number;
  #sorter: Sorter<Entry>;
  #bytes = 0;
  #file: RunFile | undefined;

  /**
   * @param keep number of row ids that are wanted; Infinity for all
   * @param memoryBytes of keys that are kept in memory if the disk may be used
   */
  constructor(keep: number, mayUseDisk: boolean, memoryBytes = MEMORY_BYTES) {
    this.#memoryBytes = memoryBytes;
    this.#keep = keep;
    this.#mayUseDisk = mayUseDisk;
    this.#sorter = this.#newSorter();
  }

  /** @throws CommandError 292 when the keys need too much memory and the disk must not be used. */
  add(rid: number, key: Uint8Array): void {
    this.#bytes += key.length + KEY_OVERHEAD;
    this.#sorter.add({ rid, key });
    if (this.#mayUseDisk || this.#bytes <= MEMORY_ONLY_BYTES) return;
    throw new CommandError(
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      `Executor error during find command :: caused by :: Sort exceeded memory limit of ${MEMORY_ONLY_BYTES} bytes`,
    );
  }

  /** Whether `spill` must be called before the next `add`. */
  get isFull(): boolean {
    return this.#mayUseDisk && this.#bytes > this.#memoryBytes;
  }

  /** Writes what is in memory to the file. */
  *spill(): Steps<void> {
    this.#file ??= new RunFile();
    yield* this.#file.write(this.#sorter.sorted());
    this.#sorter = this.#newSorter();
    this.#bytes = 0;
  }

  /** The wanted row ids in order. Call it once, after the last `add`. */
  *sorted(): Generator<number | Pause> {
    for (const entry of this.entries()) yield entry === PAUSE ? PAUSE : entry.rid;
  }

  /** Like `sorted`, with the keys. */
  *entries(): Generator<Entry | Pause> {
    let left = this.#keep;
    try {
      for (const entry of mergeSorted([...(this.#file?.runs() ?? []), this.#sorter.sorted()], byKey)) {
        yield entry;
        if (entry !== PAUSE && --left === 0) return;
      }
    } finally {
      this.close();
    }
  }

  /** Removes the file. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #newSorter(): Sorter<Entry> {
    return new Sorter(byKey, this.#keep, ({ key }) => {
      this.#bytes -= key.length + KEY_OVERHEAD;
    });
  }
}

function byKey(a: Entry, b: Entry): number {
  return Buffer.compare(a.key, b.key) || a.rid - b.rid;
}

/** Sorted runs in a temporary file, which SQLite removes even if the process is killed. */
class RunFile {
  readonly #sqlite = new DatabaseSync('');
  /** For each run the number of entries that are read at once. */
  readonly #runs: number[] = [];

  constructor() {
    this.#sqlite.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192');
    this.#sqlite.exec(
      'CREATE TABLE run(n INTEGER, place INTEGER, key BLOB, rid INTEGER, PRIMARY KEY(n, place)) WITHOUT ROWID; BEGIN',
    );
  }

  *write(entries: Pausing<Entry>): Steps<void> {
    const insert = this.#sqlite.prepare('INSERT INTO run(n, place, key, rid) VALUES(?, ?, ?, ?)');
    const n = this.#runs.length;
    let place = 0;
    let bytes = 0;
    for (const entry of entries) {
      if (entry !== PAUSE) {
        insert.run(n, place++, entry.key, entry.rid);
        bytes += entry.key.length;
      }
      if (entry === PAUSE || place % PAUSE_ITEMS === 0) yield PAUSE;
    }
    this.#runs.push(Math.ceil((READ_BYTES * place) / Math.max(bytes, READ_BYTES)));
  }

  runs(): Iterable<Entry>[] {
    return this.#runs.map((atOnce, n) => this.#read(n, atOnce));
  }

  *#read(n: number, atOnce: number): Generator<Entry> {
    const next = this.#sqlite.prepare('SELECT key, rid FROM run WHERE n = ? AND place >= ? ORDER BY place LIMIT ?');
    for (let place = 0; ; place += atOnce) {
      const entries = next.all(n, place, atOnce) as unknown as Entry[];
      yield* entries;
      if (entries.length < atOnce) return;
    }
  }

  close(): void {
    this.#sqlite.close();
  }
}
