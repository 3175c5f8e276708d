import type { Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { encodeDocument } from '../wire/bson.ts';
import { changeEvent, type EventOptions, encodedEvent, endsStream, isExpanded, typeOf } from './change-events.ts';
import type { Batch, Source } from './cursors.ts';
import { type OplogEntry, type Scope, seqOf } from './oplog.ts';
import { decodeToken, encodeToken, type Token } from './resume-token.ts';
import type { Store } from './store.ts';

/** Number of oplog entries read at a time. */
const CHUNK = 100;
/** Number of out-of-scope oplog entries skipped at a time. */
const PASSED_OVER = 2000;
/** A batch is full at this size in bytes. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Milliseconds after which a batch ends, even if it is empty. */
const SLICE_MS = 3;

export interface StreamOptions extends EventOptions {
  /** The `operationType`s that the stream reports; undefined: all. */
  types: ReadonlySet<string> | undefined;
  resumeAfter: Doc | undefined;
  startAfter: Doc | undefined;
  startAtOperationTime: Timestamp | undefined;
}

/** The stages after `$changeStream`, applied to a list of events. */
export type EventPipeline = (events: Doc[]) => Iterable<Doc>;

/** Reads the committed changes of a scope as MongoDB change events, from a given position on. */
export class ChangeStream implements Source {
  readonly scope: Scope;
  readonly readsOplog = true;
  readonly #store: Store;
  readonly #options: StreamOptions;
  readonly #pipeline: EventPipeline | undefined;
  /** The stream has examined all oplog entries up to this position. */
  #position: number;
  #token: Token;
  #isBehind = false;
  /** The entry that ends the stream, while its invalidate event has not been sent. */
  #ending: OplogEntry | undefined;

  constructor(store: Store, scope: Scope, options: StreamOptions, pipeline: EventPipeline | undefined) {
    this.#store = store;
    this.scope = scope;
    this.#options = options;
    this.#pipeline = pipeline;
    this.#token = this.#start(options);
    this.#position = this.#token.seq;
    if (this.#token.kind === 'event') this.#ending = this.#endingAt(this.#position);
  }

  /** The token to resume from: at the last examined entry or, if the batch was cut off, at the last sent event. */
  resumeToken(): Doc {
    return encodeToken(this.#token);
  }

  /** Whether the last batch ran out of time and left entries unexamined. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Returns the next events. After some milliseconds it returns those found so far, even if there are none. */
  next(limit: number): Batch {
    const until = performance.now() + SLICE_MS;
    this.#isBehind = false;
    const documents: Uint8Array[] = [];
    let bytes = 0;
    while (documents.length < limit && bytes < BATCH_BYTES) {
      if (this.#ending) {
        documents.push(...this.#events([this.#ending], true));
        return { documents, end: true };
      }
      this.#checkHistory();
      const { oplog } = this.#store;
      const wanted = Math.min(CHUNK, limit - documents.length);
      const newest = oplog.newest();
      const end = oplog.positionAfter(this.#position, PASSED_OVER) ?? newest;
      const entries = oplog.read(this.#position, wanted, this.scope, end);
      for (const entry of entries) {
        for (const event of this.#advance(entry) ? this.#events([entry], false) : []) {
          documents.push(event);
          bytes += event.length;
        }
        if (this.#ending || bytes >= BATCH_BYTES || performance.now() >= until) break;
      }
      if (this.#ending) continue;
      // The rest of the entries up to `end` are out of scope.
      if (entries.length < wanted && this.#position >= (entries.at(-1)?.seq ?? 0) && end > this.#position) {
        this.#position = end;
        this.#token = { seq: end, kind: 'mark' };
      }
      if (this.#position >= newest) break;
      if (performance.now() >= until) {
        this.#isBehind = true;
        break;
      }
    }
    return { documents, end: false };
  }

  /** Advances to an entry. @returns whether the stream reports the entry */
  #advance(entry: OplogEntry): boolean {
    this.#position = entry.seq;
    this.#token = { seq: entry.seq, kind: 'mark' };
    if (!this.#inScope(entry) || (isExpanded(entry) && !this.#options.expanded)) return false;
    this.#token = { seq: entry.seq, kind: 'event' };
    if (endsStream(entry, this.scope)) this.#ending = entry;
    return true;
  }

  #events(entries: OplogEntry[], invalidate: boolean): Uint8Array[] {
    const { types } = this.#options;
    const wanted = entries.filter((entry) => !types || types.has(invalidate ? 'invalidate' : typeOf(entry)));
    const tokenOf = ({ seq }: OplogEntry) => encodeToken({ seq, kind: invalidate ? 'invalidate' : 'event' });
    if (invalidate && entries[0]) this.#token = { seq: entries[0].seq, kind: 'invalidate' };
    if (!this.#pipeline && !invalidate)
      return wanted.map((entry) => encodedEvent(this.#store, entry, tokenOf(entry), this.#options));
    const events = wanted.map((entry) => changeEvent(this.#store, entry, tokenOf(entry), this.#options, invalidate));
    if (!this.#pipeline) return events.map(encodeDocument);
    return Array.from(this.#pipeline(events), (event) => {
      if (event._id === undefined) {
        throw new CommandError(
          'ChangeStreamFatalError',
          'Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point.',
          {},
          ['NonResumableChangeStreamError'],
        );
      }
      return encodeDocument(event);
    });
  }

  #inScope({ db, coll }: OplogEntry): boolean {
    if (this.scope.db === undefined) return true;
    if (db !== this.scope.db) return false;
    return this.scope.coll === undefined || coll === this.scope.coll || coll === '';
  }

  #endingAt(seq: number): OplogEntry | undefined {
    const [entry] = this.#store.oplog.read(seq - 1, 1);
    return entry?.seq === seq && this.#inScope(entry) && endsStream(entry, this.scope) ? entry : undefined;
  }

  #start({ resumeAfter, startAfter, startAtOperationTime }: StreamOptions): Token {
    const given = [resumeAfter, startAfter, startAtOperationTime].filter((option) => option !== undefined);
    if (given.length > 1) {
      throw new CommandError(
        40674,
        "Only one type of resume option is allowed, but multiple were found: 'resumeAfter', 'startAfter', 'startAtOperationTime'",
      );
    }
    if (startAtOperationTime) return this.#checked({ seq: seqOf(startAtOperationTime) - 1, kind: 'mark' });
    const token = resumeAfter ?? startAfter;
    if (!token) return { seq: this.#store.oplog.last, kind: 'mark' };
    const decoded = decodeToken(token);
    if (resumeAfter && decoded.kind === 'invalidate') {
      throw new CommandError(
        'InvalidResumeToken',
        "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.",
      );
    }
    return this.#checked(decoded);
  }

  #checked(token: Token): Token {
    if (token.seq < this.#store.oplog.floor) throw historyLost();
    return token;
  }

  #checkHistory(): void {
    if (this.#position < this.#store.oplog.floor) throw historyLost();
  }
}

function historyLost(): CommandError {
  return new CommandError(
    'ChangeStreamHistoryLost',
    'Resume of change stream was not possible, as the resume point may no longer be in the oplog.',
    {},
    ['NonResumableChangeStreamError'],
  );
}
