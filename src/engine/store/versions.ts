import { type FormerKey, FormerKeys } from './former-keys.ts';

/** A point in time that stays readable until it is released. */
export interface Pin {
  readonly at: number;
  /** Called when the stored versions exceed their limit and this point can no longer be read. */
  onLost: () => void;
}

/** The data at one point in time. */
export class Snapshot {
  readonly pin: Pin;
  /** The namespaces of the collections that the snapshot's reader has used. */
  readonly touched = new Set<string>();
  /** Whether the snapshot can no longer be read. */
  lost = false;

  constructor(pin: Pin) {
    this.pin = pin;
  }
}

interface Change {
  at: number;
  collection: number;
  rid: number;
  /** The document before the change; null if there was none. */
  before: Uint8Array | null;
  /** The document's index keys before the change. */
  keys: readonly FormerKey[];
}

/**
 * Bytes of memory counted for a change, and for each of its keys, in addition to the bytes of the document and of the
 * key.
 */
const OVERHEAD = 150;

/**
 * Earlier versions of changed documents, kept in memory while a snapshot older than the change is open. Without open
 * snapshots, nothing is kept.
 */
export class Versions {
  readonly #limit: number;
  readonly #pins = new Set<Pin>();
  /** All changes in order of time. */
  #changes: Change[] = [];
  /** The same changes by collection and row. */
  readonly #rows = new Map<number, Map<number, Change[]>>();
  /** The index keys in the changes, to find rows by a key range. */
  readonly formerKeys = new FormerKeys();
  /** For each namespace, when its collection was last created, dropped, renamed or given another index. */
  readonly #catalog = new Map<string, number>();
  #clock = 0;
  #bytes = 0;
  #mark = 0;

  /** @param limit maximum number of bytes to keep; beyond it, the oldest snapshots are dropped */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a snapshot is open, so that changes must be recorded. */
  get hasPins(): boolean {
    return this.#pins.size > 0;
  }

  pin(onLost: () => void): Pin {
    const pin = { at: this.#clock, onLost };
    this.#pins.add(pin);
    return pin;
  }

  release(pin: Pin): void {
    if (this.#pins.delete(pin)) this.#prune();
  }

  /** Records a change, with the document before it and the keys that it had. */
  note(collection: number, rid: number, before: Uint8Array | null, keys: () => readonly FormerKey[]): void {
    if (this.#pins.size === 0) return;
    const change: Change = { at: ++this.#clock, collection, rid, before, keys: keys() };
    this.#changes.push(change);
    this.#add(change);
    while (this.#bytes > this.#limit) this.#dropOldestPin();
  }

  noteCatalog(ns: string): void {
    if (this.#pins.size > 0) this.#catalog.set(ns, ++this.#clock);
  }

  /**
   * The document of a row at the time of the snapshot; null if there was none; undefined if it has not changed since.
   */
  before(collection: number, rid: number, pin: Pin): Uint8Array | null | undefined {
    const changes = this.#rows.get(collection)?.get(rid) ?? [];
    return changes[firstAfter(changes, pin.at)]?.before;
  }

  /** The rows of the collection whose earlier versions are kept. */
  changedRows(collection: number): Iterable<number> {
    return this.#rows.get(collection)?.keys() ?? [];
  }

  changedSince(collection: number, rid: number, pin: Pin): boolean {
    return (this.#rows.get(collection)?.get(rid)?.at(-1)?.at ?? 0) > pin.at;
  }

  catalogChangedSince(ns: string, pin: Pin): boolean {
    return (this.#catalog.get(ns) ?? 0) > pin.at;
  }

  /** Marks the current time as the point that `undo` returns to. */
  mark(): void {
    this.#mark = this.#clock;
  }

  /** Discards the changes after the mark, whose writes were rolled back. */
  undo(): void {
    while ((this.#changes.at(-1)?.at ?? 0) > this.#mark) {
      const change = this.#changes.pop() as Change;
      this.#forget(change);
      const ofRow = this.#ofRow(change);
      ofRow.pop();
      if (ofRow.length === 0) this.#dropRow(change);
    }
  }

  /** Drops every snapshot. */
  reset(): void {
    while (this.#pins.size > 0) this.#dropOldestPin();
  }

  #dropOldestPin(): void {
    const [oldest] = [...this.#pins].sort((a, b) => a.at - b.at);
    if (!oldest) return;
    this.#pins.delete(oldest);
    this.#prune();
    oldest.onLost();
  }

  /** Discards the changes that no snapshot needs. */
  #prune(): void {
    if (this.#pins.size === 0) {
      this.#changes = [];
      this.#rows.clear();
      this.#catalog.clear();
      this.formerKeys.clear();
      this.#bytes = 0;
      return;
    }
    const oldest = Math.min(...Array.from(this.#pins, ({ at }) => at));
    for (const change of this.#changes.splice(0, firstAfter(this.#changes, oldest))) {
      this.#forget(change);
      const ofRow = this.#ofRow(change);
      // Removes all old changes of the row together, because a row may have very many.
      if (ofRow[0] === change) ofRow.splice(0, firstAfter(ofRow, oldest));
      if (ofRow.length === 0) this.#dropRow(change);
    }
    for (const [ns, at] of this.#catalog) if (at <= oldest) this.#catalog.delete(ns);
  }

  #add(change: Change): void {
    let rows = this.#rows.get(change.collection);
    if (!rows) {
      rows = new Map();
      this.#rows.set(change.collection, rows);
    }
    const changes = rows.get(change.rid);
    if (changes) changes.push(change);
    else rows.set(change.rid, [change]);
    this.formerKeys.add(change.keys, change.rid, change.at);
    this.#bytes += bytesOf(change);
  }

  #ofRow({ collection, rid }: Change): Change[] {
    return this.#rows.get(collection)?.get(rid) ?? [];
  }

  #dropRow({ collection, rid }: Change): void {
    const rows = this.#rows.get(collection);
    rows?.delete(rid);
    if (rows?.size === 0) this.#rows.delete(collection);
  }

  #forget(change: Change): void {
    this.formerKeys.remove(change.keys, change.rid, change.at);
    this.#bytes -= bytesOf(change);
  }
}

/** Finds the index of the first change after a time by binary search; the number of changes if there is none. */
function firstAfter(changes: readonly Change[], time: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle] as Change).at > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

function bytesOf({ before, keys }: Change): number {
  return keys.reduce((sum, { key }) => sum + OVERHEAD + key.length, OVERHEAD + (before?.length ?? 0));
}
