/** A point in time that stays readable while somebody holds it. */
export interface Pin {
  readonly at: number;
  /** Called when the history grew beyond its bound and this point can't be read any more. */
  onLost: () => void;
}

/** The data as it was at one moment. */
export class Snapshot {
  readonly pin: Pin;
  /** Collections that it has used, by namespace. */
  readonly touched = new Set<string>();
  /** It can't be read any more. */
  lost = false;

  constructor(pin: Pin) {
    this.pin = pin;
  }
}

interface Change {
  at: number;
  collection: number;
  rid: number;
  /** The document before, null where there was none. */
  before: Uint8Array | null;
}

/** Bytes that a change costs beside its document. */
const OVERHEAD = 150;

/**
 * What documents were before they were changed, kept in memory as long as a snapshot older than the change is held. Where nobody holds one
 * nothing is kept.
 */
export class Versions {
  readonly #limit: number;
  readonly #pins = new Set<Pin>();
  /** All changes in order of time, and those of each row, by collection. */
  #changes: Change[] = [];
  #rows = new Map<number, Map<number, Change[]>>();
  /** When a collection (by namespace) was made, dropped, renamed or given another index. */
  readonly #catalog = new Map<string, number>();
  #clock = 0;
  #bytes = 0;
  #mark = 0;

  /** @param limit bytes to keep at most; beyond them the oldest snapshots are given up */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether changes must be told. */
  get kept(): boolean {
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

  /** Tells of a change, with the document as it was before. */
  note(collection: number, rid: number, before: Uint8Array | null): void {
    if (this.#pins.size === 0) return;
    const change: Change = { at: ++this.#clock, collection, rid, before };
    this.#changes.push(change);
    this.#add(change);
    this.#bytes += cost(change);
    while (this.#bytes > this.#limit) this.#giveUpOldest();
  }

  noteCatalog(ns: string): void {
    if (this.#pins.size > 0) this.#catalog.set(ns, ++this.#clock);
  }

  /** What undoes all changes of a collection since the snapshot: each row with its document as it was. */
  *since(collection: number, pin: Pin): Generator<[rid: number, before: Uint8Array | null]> {
    for (const [rid, changes] of this.#rows.get(collection) ?? []) {
      const first = changes.find(({ at }) => at > pin.at);
      if (first) yield [rid, first.before];
    }
  }

  changedSince(collection: number, rid: number, pin: Pin): boolean {
    return (this.#rows.get(collection)?.get(rid)?.at(-1)?.at ?? 0) > pin.at;
  }

  catalogChangedSince(ns: string, pin: Pin): boolean {
    return (this.#catalog.get(ns) ?? 0) > pin.at;
  }

  /** Remembers this moment for `undo`. */
  mark(): void {
    this.#mark = this.#clock;
  }

  /** Forgets what was told since the mark: it was undone. */
  undo(): void {
    if ((this.#changes.at(-1)?.at ?? 0) <= this.#mark) return;
    this.#keep(this.#changes.filter(({ at }) => at <= this.#mark));
  }

  /** Gives up every snapshot. */
  reset(): void {
    while (this.#pins.size > 0) this.#giveUpOldest();
  }

  #giveUpOldest(): void {
    const [oldest] = [...this.#pins].sort((a, b) => a.at - b.at);
    if (!oldest) return;
    this.#pins.delete(oldest);
    this.#prune();
    oldest.onLost();
  }

  /** Drops what no snapshot needs. */
  #prune(): void {
    if (this.#pins.size === 0) this.#catalog.clear();
    const oldest = Math.min(...Array.from(this.#pins, ({ at }) => at));
    if ((this.#changes[0]?.at ?? Number.POSITIVE_INFINITY) <= oldest)
      this.#keep(this.#changes.filter(({ at }) => at > oldest));
  }

  #keep(changes: Change[]): void {
    this.#changes = changes;
    this.#rows = new Map();
    this.#bytes = 0;
    for (const change of changes) {
      this.#add(change);
      this.#bytes += cost(change);
    }
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
  }
}

function cost({ before }: Change): number {
  return OVERHEAD + (before?.length ?? 0);
}
