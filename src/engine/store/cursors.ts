import { randomInt } from 'node:crypto';
import { CommandError } from '../errors.ts';
import { MAX_DOCUMENT } from '../wire/bson.ts';
import type { Snapshot } from './versions.ts';

/** Documents of one answer, encoded. */
export interface Batch {
  documents: Uint8Array[];
  /** There is nothing after them. */
  end: boolean;
}

/** What a cursor reads from. */
export interface Source {
  /** Up to `limit` documents (at least one if there is one) of at most 16 MiB together. */
  next(limit: number): Batch;
}

export interface CursorOptions {
  ns: string;
  /** The logical session that opened it. */
  session: string | undefined;
  /** Lives on without being read. */
  noTimeout: boolean;
  /** The data that it reads, when that is not the present. */
  snapshot?: Snapshot | undefined;
}

export class Cursor<S extends Source = Source> {
  readonly id: number;
  readonly source: S;
  readonly options: CursorOptions;
  lastUse = Date.now();
  killed = false;
  /** An answer from it is under way. */
  busy = false;
  /** Called when the cursor is killed, to end a wait. */
  onKill: () => void = () => {};

  constructor(id: number, source: S, options: CursorOptions) {
    this.id = id;
    this.source = source;
    this.options = options;
  }
}

/** Milliseconds after which a cursor that nobody reads is ended. */
const IDLE = 10 * 60 * 1000;

/** The open cursors, by id. */
export class Cursors {
  readonly #open = new Map<number, Cursor>();

  get size(): number {
    return this.#open.size;
  }

  add<S extends Source>(source: S, options: CursorOptions): Cursor<S> {
    let id = randomInt(1, 2 ** 47);
    while (this.#open.has(id)) id = randomInt(1, 2 ** 47);
    const cursor = new Cursor(id, source, options);
    this.#open.set(id, cursor);
    return cursor;
  }

  /** The cursor to go on with; error 43 when it is gone. */
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
    return cursor;
  }

  /** True when there was one. */
  kill(id: number): boolean {
    const cursor = this.#open.get(id);
    if (!cursor) return false;
    this.#open.delete(id);
    cursor.killed = true;
    cursor.onKill();
    return true;
  }

  killSession(session: string): void {
    this.#killWhere((cursor) => cursor.options.session === session);
  }

  killSessions(): void {
    this.#killWhere((cursor) => cursor.options.session !== undefined);
  }

  /** Ends the cursors that read a dropped collection; change streams end by their own invalidate event. */
  killNamespace(ns: string): void {
    this.#killWhere((cursor) => cursor.options.ns === ns && !('invalidates' in cursor.source));
  }

  killSnapshot(snapshot: Snapshot): void {
    this.#killWhere((cursor) => cursor.options.snapshot === snapshot);
  }

  killIdle(now: number): void {
    this.#killWhere((cursor) => !cursor.busy && !cursor.options.noTimeout && now - cursor.lastUse > IDLE);
  }

  killAll(): void {
    this.#killWhere(() => true);
  }

  #killWhere(test: (cursor: Cursor) => boolean): void {
    for (const cursor of [...this.#open.values()]) if (test(cursor)) this.kill(cursor.id);
  }
}

/** A source over an iterator of encoded documents; error 10334 for one that no client could take. */
export class IteratorSource implements Source {
  readonly #iterator: Iterator<Uint8Array>;
  #ahead: IteratorResult<Uint8Array> | undefined;

  constructor(documents: Iterable<Uint8Array>) {
    this.#iterator = documents[Symbol.iterator]();
  }

  next(limit: number): Batch {
    const documents: Uint8Array[] = [];
    let bytes = 0;
    while (documents.length < limit) {
      const { done, value } = this.#peek();
      if (done) return { documents, end: true };
      bytes += value.length;
      if (value.length > MAX_DOCUMENT) throw tooLarge(value.length);
      if (documents.length > 0 && bytes > MAX_DOCUMENT) return { documents, end: false };
      documents.push(value);
      this.#ahead = undefined;
    }
    return { documents, end: limit > 0 && this.#peek().done === true };
  }

  #peek(): IteratorResult<Uint8Array> {
    this.#ahead ??= this.#iterator.next();
    return this.#ahead;
  }
}

function tooLarge(bytes: number): CommandError {
  return new CommandError('BSONObjectTooLarge', `BSONObj size ${bytes} is invalid: the most is ${MAX_DOCUMENT} bytes`);
}
