import type { IndexDescription } from 'mongodb';

/**
 * How a cluster stores a collection: spread over its shards by a key, or whole on one shard.
 *
 * - `key`: as `sh.shardCollection` takes it. A statement that contains the key goes to one shard; any other statement
 * goes to every shard.
 * - `whole`: why one shard can hold the collection, however many invoices there are.
 */
export type Placement =
  | { readonly key: Readonly<Record<string, 1 | 'hashed'>> }
  | {
      readonly whole: string;
    };

/**
 * What `migrate` does with a collection: it moves every document unchanged, or leaves the collection behind for a
 * reason.
 */
type Move = 'moved' | { readonly left: string };

/**
 * What the erasure of a tenant does with the tenant's documents in a collection: it removes them, or keeps them for
 * this reason.
 */
export type Erasure = 'erased' | { readonly stays: string };

/** The rules of a collection. */
export interface CollectionRules {
  /**
   * How a sharded cluster places the collection. It follows MongoDB's rules (docs/decisions/0052): ids that must be
   * unique are the shard key, and a statement that changes one document contains the key.
   * `test/storage/sharding.test.ts` runs every method of the repositories against this. Null if no repository uses the
   * collection.
   */
  readonly placement: Placement | null;
  /**
   * For `migrate` (docs/decisions/0066). Leases stored in moved documents expire by themselves, like those of a process
   * that died.
   */
  readonly move: Move;
  /** For `tenants erase` (docs/decisions/0072). `test/api/tenant-erasure.test.ts` checks it. */
  readonly erasure: Erasure;
  /**
   * Set for a collection of records of tenants, which have `tenantId`: the erasure removes them by it, and needs an
   * index that begins with it. `exported`: `tenants export` writes them, too, as they are stored, by `environment`.
   */
  readonly records?: 'erased' | 'exported';
  /**
   * The indexes; the TTL indexes of the webhooks are in `webhook-retention.ts`. Every query uses an index;
   * `test/storage` asserts this with `explain`.
   */
  readonly indexes?: readonly IndexDescription[];
}
