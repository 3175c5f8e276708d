import { type Collection, collectionOf } from './catalog.ts';
import type { PastRows } from './database.ts';
import type { Documents } from './documents.ts';
import type { Snapshot, Versions } from './versions.ts';

/** Restores the rows that a snapshot sees, from the earlier versions that are kept. */
export class PastView implements PastRows {
  readonly #documents: Documents;
  readonly #versions: Versions;
  readonly #snapshot: Snapshot;
  /** The collections that the command uses, by id. */
  readonly #collections = new Map<number, Collection>();
  /** Rows already restored. */
  readonly #done = new Set<number>();
  /** Key ranges of indexes whose rows are all restored. */
  readonly #ranges = new Set<string>();
  /** Ids of collections whose rows are all restored. */
  readonly #complete = new Set<number>();

  constructor(documents: Documents, versions: Versions, snapshot: Snapshot) {
    this.#documents = documents;
    this.#versions = versions;
    this.#snapshot = snapshot;
  }

  /** @param own ids of the rows that the transaction itself has written, which are not restored */
  include(collection: Collection, own: Iterable<number>): void {
    this.#collections.set(collection.id, collection);
    for (const rid of own) this.#done.add(rid);
  }

  range(index: number, low: Uint8Array, high: Uint8Array): void {
    const name = `${index} ${Buffer.from(low).toString('latin1')} ${Buffer.from(high).toString('latin1')}`;
    if (this.#ranges.has(name)) return;
    this.#ranges.add(name);
    this.rows(this.#versions.formerKeys.within(index, low, high));
  }

  rows(rids: Iterable<number>): boolean {
    let some = false;
    for (const rid of rids) {
      const collection = this.#collections.get(collectionOf(rid));
      if (!collection || this.#done.has(rid)) continue;
      this.#done.add(rid);
      const before = this.#versions.before(collection.id, rid, this.#snapshot.pin);
      if (before === undefined) continue;
      this.#documents.put(collection, rid, this.#documents.read(rid) ?? null, before);
      some = true;
    }
    return some;
  }

  all({ id }: { readonly id: number }): void {
    if (this.#complete.has(id)) return;
    this.#complete.add(id);
    this.rows(this.#versions.changedRows(id));
  }
}
