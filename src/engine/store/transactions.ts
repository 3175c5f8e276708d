import { Binary, Long } from 'bson';
import { CommandError } from '../errors.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import type { Catalog, Collection, Index } from './catalog.ts';
import type { GroupCommit } from './commit.ts';
import type { Cursors } from './cursors.ts';
import type { Database } from './database.ts';
import { type Documents, entriesOf, type RowObserver } from './documents.ts';
import type { FormerKey } from './former-keys.ts';
import type { Event, Oplog } from './oplog.ts';
import { PastView } from './past-view.ts';
import { type Pin, Snapshot, type Versions } from './versions.ts';

/** Maximum bytes of documents that one transaction may write. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of documents that all open transactions together may write. */
const MAX_ALL_BYTES = 256 * 1024 * 1024;

/**
 * Thrown when a write outside transactions hits a row or key that an open transaction holds. The write is retried when
 * that transaction has ended.
 */
export class RowLocked extends Error {
  readonly ended: Promise<void>;

  constructor(ended: Promise<void>) {
    super('an open transaction holds a row or key of this write');
    this.ended = ended;
  }
}

/** The parts of the store that transactions use. */
export interface TransactionStore {
  readonly database: Database;
  readonly commit: GroupCommit;
  readonly oplog: Oplog;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly cursors: Cursors;
  readonly versions: Versions;
}

interface RowWrite {
  ns: string;
  before: Uint8Array | null;
  after: Uint8Array | null;
}

/**
 * An open multi-document transaction: its snapshot and its writes, which are not visible to others before the commit.
 */
export class Transaction extends Snapshot {
  readonly session: string;
  readonly number: number;
  readonly ended = Promise.withResolvers<void>();
  readonly writes = new Map<number, RowWrite>();
  readonly events: Event[] = [];
  /** Collections that the transaction created. */
  readonly created = new Map<string, Collection>();
  /** Keys that the transaction added to unique indexes. */
  readonly keys = new Map<string, { index: number; key: Uint8Array }>();
  bytes = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(pin: Pin, session: string, number: number) {
    super(pin);
    this.session = session;
    this.number = number;
  }
}

/**
 * Multi-document transactions with snapshot isolation. The engine runs one command at a time, so a transaction needs no
 * second connection. Each of its commands runs in a savepoint that is rolled back afterwards. In it, the rows that
 * others have changed since the snapshot are restored, and the transaction's own writes are applied. The writes stay in
 * memory until the transaction commits; then they are written like those of any other command, with their events. If
 * two writers write a row, the first wins: another transaction gets WriteConflict (112), a plain write waits until the
 * first's transaction ends (`RowLocked`).
 */
export class Transactions implements RowObserver {
  readonly #store: TransactionStore;
  readonly #versions: Versions;
  readonly #lifetime: number;
  readonly #open = new Map<string, Transaction>();
  readonly #lockedRows = new Map<number, Transaction>();
  readonly #lockedKeys = new Map<string, Transaction>();
  #held = 0;
  /** The transaction whose command is running. */
  #running: Transaction | undefined;

  /** @param lifetime milliseconds after which an open transaction is aborted */
  constructor(store: TransactionStore, lifetime: number) {
    this.#store = store;
    this.#versions = store.versions;
    this.#lifetime = lifetime;
  }

  /** The open transaction of the session. */
  find(session: string): Transaction | undefined {
    return this.#open.get(session);
  }

  /** The sessions with an open transaction. */
  sessions(): Iterable<string> {
    return this.#open.keys();
  }

  /** Starts a transaction. Aborts the session's open one, if any. */
  begin(session: string, number: number): Transaction {
    this.abortSession(session);
    const pin = this.#versions.pin(() => this.#end(transaction));
    const transaction = new Transaction(pin, session, number);
    transaction.timer = setTimeout(() => this.abort(transaction), this.#lifetime);
    transaction.timer.unref();
    this.#open.set(session, transaction);
    return transaction;
  }

  /** Runs a command of the transaction. The writes of `work` become part of the transaction. */
  run<T>(transaction: Transaction, work: () => T): T {
    const before = new Set(transaction.keys.keys());
    const result = this.#view(transaction, transaction, work);
    for (const [name, { index, key }] of transaction.keys)
      if (!before.has(name)) this.#checkKey(transaction, index, key);
    return result;
  }

  /** Runs a read on a snapshot. */
  read<T>(snapshot: Snapshot, work: () => T): T {
    return this.#view(snapshot, snapshot instanceof Transaction ? snapshot : undefined, work);
  }

  /** Writes all changes of the transaction, inside `GroupCommit.write`. The transaction ends even if that fails. */
  commit(transaction: Transaction): void {
    const { catalog, documents, oplog } = this.#store;
    this.#end(transaction);
    for (const [ns, collection] of transaction.created) {
      if (catalog.find(collection.db, collection.name)) throw conflict();
      catalog.attach(collection);
      this.#versions.noteCatalog(ns);
    }
    for (const [rid, { ns, before, after }] of transaction.writes) {
      const collection = catalog.get(ns);
      if (!collection) throw conflict();
      if (after) documents.checkUnfinished(collection, rid, after);
      documents.put(collection, rid, before, after);
      this.#versions.note(collection.id, rid, before, () => keysOf(collection, before));
      if (collection.count !== undefined) collection.count += (after ? 1 : 0) - (before ? 1 : 0);
    }
    const by = {
      lsid: { id: new Binary(Buffer.from(transaction.session, 'hex'), 4) },
      txnNumber: Long.fromNumber(transaction.number),
    };
    for (const event of transaction.events) {
      const extra = { ...(event.extra ? decodeDocument(event.extra) : {}), ...by };
      oplog.append({ ...event, extra: encodeDocument(extra) });
    }
  }

  /** Ends the transaction and discards its writes. */
  abort(transaction: Transaction): void {
    if (this.#open.get(transaction.session) === transaction) this.#end(transaction);
  }

  abortSession(session: string): void {
    const transaction = this.#open.get(session);
    if (transaction) this.#end(transaction);
  }

  abortAll(): void {
    for (const transaction of [...this.#open.values()]) this.#end(transaction);
  }

  /**
   * Called before a collection itself changes. Throws `RowLocked` for a change, other than a creation, of a collection
   * that an open transaction uses.
   */
  collectionChanges(ns: string, isNew: boolean): void {
    if (this.#running) return;
    for (const transaction of isNew ? [] : this.#open.values()) {
      if (transaction.touched.has(ns)) throw new RowLocked(transaction.ended.promise);
    }
    this.#versions.noteCatalog(ns);
  }

  get active(): boolean {
    return this.#running !== undefined || this.#versions.hasPins;
  }

  claimRow(collection: Collection, rid: number): void {
    const holder = this.#lockedRows.get(rid);
    const own = this.#running;
    if (holder && holder !== own) throw own ? conflict() : new RowLocked(holder.ended.promise);
    if (own && !holder && this.#versions.changedSince(collection.id, rid, own.pin)) throw conflict();
  }

  claimKey(index: Index, key: Uint8Array): void {
    const name = keyName(index.id, key);
    const holder = this.#lockedKeys.get(name);
    const own = this.#running;
    if (holder && holder !== own) throw own ? conflict() : new RowLocked(holder.ended.promise);
    if (!own || [...own.created.values()].some(({ indexes }) => indexes.includes(index))) return;
    own.keys.set(name, { index: index.id, key });
    this.#lockedKeys.set(name, own);
  }

  recordWrite(collection: Collection, rid: number, before: Uint8Array | null, after: Uint8Array | null): void {
    const own = this.#running;
    if (!own) {
      this.#versions.note(collection.id, rid, before, () => keysOf(collection, before));
      return;
    }
    const earlier = own.writes.get(rid);
    own.writes.set(rid, { ns: collection.ns, before: earlier ? earlier.before : before, after });
    const bytes = (before?.length ?? 0) + (after?.length ?? 0);
    own.bytes += bytes;
    this.#held += bytes;
    this.#lockedRows.set(rid, own);
    if (own.bytes > MAX_BYTES || this.#held > MAX_ALL_BYTES) {
      throw new CommandError(
        'TransactionTooLarge',
        `a transaction may write at most ${MAX_BYTES} bytes, and all open transactions together ${MAX_ALL_BYTES}`,
      );
    }
  }

  /** Throws WriteConflict if others added the key after the snapshot, so that the transaction cannot see it. */
  #checkKey(transaction: Transaction, index: number, key: Uint8Array): void {
    const rows = this.#store.database.prepare('SELECT rid FROM idx WHERE i = ? AND key = ?').all(index, key);
    if (rows.some(({ rid }) => !transaction.writes.has(rid as number))) throw conflict();
  }

  #view<T>(snapshot: Snapshot, own: Transaction | undefined, work: () => T): T {
    const { catalog, oplog, commit } = this.#store;
    if (snapshot.lost) throw new CommandError('SnapshotTooOld', 'the snapshot of this read is no longer available');
    const undo: (() => void)[] = [];
    const prepared = new Set<string>();
    const attached = new Set<Collection>();
    const past = new PastView(this.#store.documents, this.#versions, snapshot);
    const prepare = (collection: Collection): void => {
      if (prepared.has(collection.ns)) return;
      prepared.add(collection.ns);
      this.#prepare(past, own, collection, undo);
    };
    return commit.view(() => {
      this.#running = own;
      this.#store.database.past = past;
      oplog.capture = own?.events;
      try {
        for (const [ns, collection] of own?.created ?? []) {
          // Another client has created the collection since.
          if (catalog.get(ns)) throw conflict();
          catalog.attach(collection);
          attached.add(collection);
        }
        catalog.viewer = {
          found: (ns, collection) => {
            if (!own?.created.has(ns) && this.#versions.catalogChangedSince(ns, snapshot.pin)) throw unavailable(ns);
            snapshot.touched.add(ns);
            if (collection) prepare(collection);
          },
          created: (collection) => {
            attached.add(collection);
            own?.created.set(collection.ns, collection);
            // A later statement of this command finds it with its rows.
            prepared.add(collection.ns);
            undo.push(() => {
              collection.count = undefined;
            });
          },
        };
        for (const ns of snapshot.touched) {
          const collection = catalog.get(ns);
          if (collection) prepare(collection);
        }
        return work();
      } finally {
        catalog.viewer = undefined;
        oplog.capture = undefined;
        this.#running = undefined;
        this.#store.database.past = undefined;
        for (const restore of undo) restore();
        for (const collection of attached) catalog.detach(collection);
      }
    });
  }

  /**
   * Prepares the rows of a collection as the snapshot sees them. Rows written by the transaction are applied
   * immediately; rows changed by others are restored when the command reads them.
   */
  #prepare(past: PastView, own: Transaction | undefined, collection: Collection, undo: (() => void)[]): void {
    const { documents } = this.#store;
    const { count } = collection;
    const known = own?.created.has(collection.ns)
      ? []
      : collection.indexes.map((index) => ({ index, multikey: index.multikey, arrays: index.arrays }));
    collection.count = undefined;
    undo.push(() => {
      collection.count = count;
      for (const { index, ...before } of known) Object.assign(index, before);
    });
    const written = [...(own?.writes ?? [])].filter(([, { ns }]) => ns === collection.ns);
    past.include(
      collection,
      written.map(([rid]) => rid),
    );
    for (const [rid, { before, after }] of written) documents.put(collection, rid, before, after);
  }

  #end(transaction: Transaction): void {
    clearTimeout(transaction.timer);
    this.#held -= transaction.bytes;
    this.#open.delete(transaction.session);
    this.#versions.release(transaction.pin);
    for (const rid of transaction.writes.keys()) this.#lockedRows.delete(rid);
    for (const name of transaction.keys.keys()) this.#lockedKeys.delete(name);
    for (const collection of transaction.created.values()) this.#store.catalog.releaseId(collection.id);
    this.#store.cursors.killSnapshot(transaction);
    transaction.ended.resolve();
  }
}

/** The index keys of a document. */
function keysOf({ indexes }: Collection, bytes: Uint8Array | null): FormerKey[] {
  const doc = bytes && decodeDocument(bytes);
  return doc ? indexes.flatMap((index) => entriesOf(index, doc).keys.map((key) => ({ index: index.id, key }))) : [];
}

function keyName(index: number, key: Uint8Array): string {
  return `${index}:${Buffer.from(key).toString('latin1')}`;
}

function conflict(): CommandError {
  return new CommandError(
    'WriteConflict',
    'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
  );
}

function unavailable(ns: string): CommandError {
  return new CommandError(
    'SnapshotUnavailable',
    `Unable to read from a snapshot due to pending collection catalog changes to collection '${ns}'; please retry the operation.`,
  );
}
