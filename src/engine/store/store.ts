import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { encodeDocument } from '../wire/bson.ts';
import { Backups } from './backups.ts';
import { Catalog, type Collection } from './catalog.ts';
import { Changes } from './changes.ts';
import { GroupCommit } from './commit.ts';
import { Cursors } from './cursors.ts';
import { damagedFileError } from './data-file-errors.ts';
import { type Database, type OpenOptions, openDatabase } from './database.ts';
import { Documents } from './documents.ts';
import { History } from './history.ts';
import { IndexBuilds } from './index-builds.ts';
import { type Op, Oplog } from './oplog.ts';
import { RetryRecords } from './retry.ts';
import { RunningWrites } from './running-writes.ts';
import { Snapshots } from './snapshots.ts';
import { Transactions } from './transactions.ts';
import { Versions } from './versions.ts';

export interface StoreOptions extends OpenOptions {
  /** Size limit of the oplog, in bytes. */
  oplogBytes: number;
  /** Milliseconds after which an open transaction is aborted (default 60,000). */
  transactionMs?: number;
}

const TRANSACTION_MS = 60_000;
/** Number of removal steps that a command which drops collections runs itself: some milliseconds. */
const STEPS_OF_A_DROP = 4;
/** Limit on the memory, in bytes, for earlier versions of documents while snapshots are open. */
const SNAPSHOT_BYTES = 128 * 1024 * 1024;

/** An open data folder with all of its parts. */
export class Store {
  readonly database: Database;
  readonly commit: GroupCommit;
  readonly oplog: Oplog;
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly builds: IndexBuilds;
  readonly retry: RetryRecords;
  readonly runningWrites = new RunningWrites();
  readonly cursors = new Cursors();
  readonly changes: Changes;
  readonly versions = new Versions(SNAPSHOT_BYTES);
  readonly transactions: Transactions;
  readonly snapshots: Snapshots;
  readonly history: History;
  readonly backups: Backups;

  /** Opens the folder. Throws like `openDatabase`. */
  constructor(folder: string, options: StoreOptions) {
    this.database = openDatabase(folder, options);
    this.commit = new GroupCommit(this.database);
    try {
      this.oplog = new Oplog(this.database, options.oplogBytes);
      this.catalog = new Catalog(this.database);
    } catch (error) {
      this.database.close();
      throw damagedFileError(this.database.path, (error as Error).message);
    }
    this.documents = new Documents(this.database, this.catalog, this.oplog);
    this.builds = new IndexBuilds(this.database, this.catalog, this.documents);
    this.documents.builds = this.builds;
    this.retry = new RetryRecords(this.database);
    this.changes = new Changes(this.oplog);
    this.transactions = new Transactions(this, options.transactionMs ?? TRANSACTION_MS);
    this.snapshots = new Snapshots(this.versions, this.oplog);
    this.history = new History(this.database, this.oplog);
    this.backups = new Backups(this.database);
    this.documents.observer = this.transactions;
    this.catalog.onChange = (ns, isNew) => this.transactions.collectionChanges(ns, isNew);
    this.commit.onStart = () => {
      this.versions.mark();
      this.builds.mark();
    };
    this.commit.beforeCommit = () => this.oplog.trim();
    this.commit.onCommit = () => this.changes.wake(this.oplog.takeTouched());
    this.commit.onUndo = () => {
      this.versions.undo();
      this.builds.undo();
      this.catalog.load();
    };
    this.commit.onLost = () => {
      this.versions.reset();
      // The commits of their last steps are lost, so their positions are too far ahead.
      this.builds.abandonAll();
      this.catalog.load();
      this.backups.endForSpace();
    };
  }

  /** Returns the collection, and creates it if it does not exist. Call it inside a write. */
  collectionForWrite(db: string, name: string): Collection {
    return this.catalog.find(db, name) ?? this.createCollection(db, name);
  }

  createCollection(db: string, name: string, options: Doc = {}): Collection {
    const collection = this.catalog.create(db, name, options);
    this.appendEvent('c', collection, { operationDescription: { ...options, idIndex: collection.indexes[0]?.spec } });
    return collection;
  }

  /** Appends an event about a collection itself to the oplog. */
  appendEvent(op: Op, { db, name, uuid }: Collection, body: Doc | null): void {
    this.oplog.append({
      op,
      db,
      coll: name,
      uuid: uuid.buffer,
      id: null,
      body: body && encodeDocument(body),
      extra: null,
    });
  }

  dropCollection(collection: Collection): void {
    this.catalog.drop(collection);
    this.builds.abandonAll(({ collectionId }) => collectionId === collection.id);
    this.appendEvent('x', collection, null);
    this.cursors.killReadersOf(collection);
  }

  /**
   * Removes the rows of small collections that were just dropped. The rows of larger ones are removed between commands.
   */
  removeDropped(): void {
    for (let step = 0; step < STEPS_OF_A_DROP && this.builds.removeLeaving(); step++);
  }

  /** @param dropped the collection that had the target name and was dropped for the rename */
  renameCollection(collection: Collection, db: string, name: string, dropped: Collection | undefined): void {
    const from = { ...collection };
    const to = { db, coll: name };
    this.cursors.killReadersOf(collection);
    this.catalog.rename(collection, db, name);
    const operationDescription = { to, ...(dropped ? { dropTarget: dropped.uuid } : {}) };
    this.appendEvent('n', from, { to, operationDescription });
  }

  /** Closes cursors, ends waits, aborts transactions and commits the pending writes. */
  stop(): void {
    this.builds.abandonAll();
    this.runningWrites.interrupt(() => true, new CommandError('InterruptedAtShutdown', 'the engine is stopping'));
    this.transactions.abortAll();
    this.cursors.killAll();
    this.changes.wakeAll();
    this.commit.flush();
    this.backups.endAll('the engine is stopping');
  }

  /** Stops, closes the file and releases its lock. */
  close(): void {
    this.stop();
    this.database.close();
  }
}
