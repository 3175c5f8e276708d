import { randomInt } from 'node:crypto';
import { CommandError } from '../errors.ts';
import { PAUSE, Pace, type Pause, type Pausing, type Steps } from '../query/pause.ts';
import { MAX_DOCUMENT } from '../wire/bson.ts';
import type { Snapshot } from './versions.ts';

/** The documents of one answer, encoded as BSON. */
export interface Batch {
  documents: Uint8Array[];
  /** Whether no documents follow. */
  end: boolean;
}

/** The source that a cursor reads. */
export interface Source {
  /** Set for a change stream: it reads the oplog, so it stays open when its collection is dropped or changed. */
  readonly readsOplog?: boolean;
  /** Releases the resources of the source. */
  close?(): void;
}

export interface CursorOptions {
  ns: string;
  /** The logical session that opened the cursor. */
  session: string | undefined;
  /** Whether the cursor stays open when idle. */
  noTimeout: boolean;
  /**
   * The ids of the other collections that the cursor's pipeline reads. The set grows when the pipeline reaches a new
   * one.
   */
  alsoReads?: ReadonlySet<number> | undefined;
  /** The snapshot that the cursor reads; undefined for the current data. */
  snapshot?: Snapshot | undefined;
}

export class Cursor<S extends Source = Source> {
  readonly id: number;
  readonly source: S;
  readonly options: CursorOptions;
  lastUse = Date.now();
  killed = false;
  /** Whether a read of the cursor is in progress. */
  busy = false;
  /** Called when the cursor is killed, to end a wait for changes. */
  onKill: () => void = () => {};

  constructor(id: number, source: S, options: CursorOptions) {
    this.id = id;
    this.source = source;
    this.options = options;
  }
}

/** Idle cursors are closed after this many milliseconds. */
const IDLE_MS = 10 * 60 * 1000;

/** Maximum number of open cursors. Each keeps a few kilobytes. */
const MAX_OPEN = 10_000;

/** The open cursors. Beyond the maximum number, the least recently used one is closed. */
export class Cursors {
  /** The open cursors by id, the least recently used first. */
  readonly #open = new Map<number, Cursor>();
  readonly #most: number;

  constructor(most = MAX_OPEN) {
    this.#most = most;
  }

  get size(): number {
    return this.#open.size;
  }

  add<S extends Source>(source: S, options: CursorOptions): Cursor<S> {
    let id = randomInt(1, 2 ** 47);
    while (this.#open.has(id)) id = randomInt(1, 2 ** 47);
    const cursor = new Cursor(id, source, options);
    if (this.#open.size >= this.#most) this.#closeOne();
    this.#open.set(id, cursor);
    return cursor;
  }

  /** The open cursor with this id; error 43 if there is none. */
  get(id: number, ns: string): Cursor {
    const cursor = this.#open.get(id);
    if (!cursor) throw new CommandError('CursorNotFound', `cursor id ${id} not found`);
    if (cursor.options.ns !== ns) {
      throw new CommandError(
        'Unauthorized',
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.options.ns}`,
      );
    }
    cursor.lastUse = Date.now();
    this.#open.delete(id);
    this.#open.set(id, cursor);
    return cursor;
  }

  /** Closes the least recently used cursor that is not being read. */
  #closeOne(): void {
    for (const { id, busy } of this.#open.values()) {
      if (busy) continue;
      this.kill(id);
      return;
    }
    throw new CommandError('ExceededMemoryLimit', `${this.#most} cursors are in use`);
  }

  /** Closes the cursor. Returns false if there was none with this id. */
  kill(id: number): boolean {
    const cursor = this.#open.get(id);
    if (!cursor) return false;
    this.#open.delete(id);
    cursor.killed = true;
    cursor.source.close?.();
    cursor.onKill();
    return true;
  }

  killSession(session: string): void {
    this.#killWhere((cursor) => cursor.options.session === session);
  }

  killSessions(): void {
    this.#killWhere((cursor) => cursor.options.session !== undefined);
  }

  /**
   * Closes all cursors that read a collection, including cursors opened on other collections. Otherwise they would end
   * early as if they were complete, or read the next collection that gets the same id. Change streams stay open: a drop
   * ends them with an invalidate event.
   */
  killReadersOf({ ns, id }: { readonly ns: string; readonly id: number }): void {
    this.#killWhere(
      ({ options, source }) => (options.ns === ns || options.alsoReads?.has(id) === true) && !source.readsOplog,
    );
  }

  killSnapshot(snapshot: Snapshot): void {
    this.#killWhere((cursor) => cursor.options.snapshot === snapshot);
  }

  killIdle(now: number): void {
    this.#killWhere((cursor) => !cursor.busy && !cursor.options.noTimeout && now - cursor.lastUse > IDLE_MS);
  }

  killAll(): void {
    this.#killWhere(() => true);
  }

  #killWhere(test: (cursor: Cursor) => boolean): void {
    for (const cursor of [...this.#open.values()]) if (test(cursor)) this.kill(cursor.id);
  }
}

/** A source over encoded documents. Error 10334 for a document above MongoDB's size limit. */
export class IteratorSource implements Source {
  readonly #iterator: Iterator<Uint8Array | Pause>;
  #ahead: IteratorResult<Uint8Array | Pause> | undefined;

  constructor(documents: Pausing<Uint8Array>) {
    this.#iterator = documents[Symbol.iterator]();
  }

  close(): void {
    this.#iterator.return?.();
  }

  /**
   * Returns up to `limit` documents (at least one if any is left) with at most 16 MiB in total.
   * @param isLast called with the bytes of each document; the batch ends with the first for which it returns true
   */
  *batch(limit: number, isLast: (bytes: number) => boolean): Steps<Batch> {
    const documents: Uint8Array[] = [];
    const pace = new Pace();
    let bytes = 0;
    // With a limit of 0 nothing is read, so it is unknown whether documents follow.
    while (limit > 0) {
      this.#ahead ??= this.#iterator.next();
      const { done, value } = this.#ahead;
      if (done) return { documents, end: true };
      if (value === PAUSE) {
        this.#ahead = undefined;
        yield PAUSE;
        continue;
      }
      if (documents.length === limit) break;
      bytes += value.length;
      if (value.length > MAX_DOCUMENT) throw tooLarge(value.length);
      if (documents.length > 0 && bytes > MAX_DOCUMENT) break;
      documents.push(value);
      this.#ahead = undefined;
      if (isLast(value.length)) break;
      if (pace.isDue()) yield PAUSE;
    }
    return { documents, end: false };
  }
}

function tooLarge(bytes: number): CommandError {
  return new CommandError('BSONObjectTooLarge', `BSONObj size ${bytes} is invalid: the most is ${MAX_DOCUMENT} bytes`);
}
