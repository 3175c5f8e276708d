import { randomUUID } from 'node:crypto';
import type { AnyBulkWriteOperation, Collection, Document, Filter, FindOptions, UpdateFilter } from 'mongodb';
import { later } from '../domain/later.ts';

/** Maximum number of leases in one statement. A server compares each matched document with all of them. */
const STATEMENT = 250;

/** A lease on a document. No other lease of the collection has the token. */
export interface Lease {
  readonly id: string;
  readonly token: string;
}

/** How the documents of a collection store their lease. */
export interface LeaseFields {
  /** The name of the field with the token; the field is null when there is no lease. */
  readonly token: string;
  /** Returns the fields that state when a lease ends, as values. */
  readonly until: (end: Date, now: Date) => Document;
}

/** An update of documents under their leases. */
export interface LeasedChange<Stored> {
  readonly leases: readonly Lease[];
  readonly update: UpdateFilter<Stored> | Document[];
}

/**
 * The leases of a collection: the right to work on a document until a time. A token proves it, so a write under a lease
 * that was lost changes nothing. The caller decides by which clock leases end (docs/decisions/0006).
 */
export function createLeases<Stored extends { _id: string }>(
  collection: Collection<Stored>,
  { token, until }: LeaseFields,
) {
  const hint = { _id: 1 } as const;

  function heldBy(leases: readonly Lease[]): Filter<Stored> {
    return { _id: { $in: leases.map(({ id }) => id) }, [token]: { $in: leases.map((each) => each.token) } } as never;
  }

  /**
   * Writes changes with one command. Documents whose lease was lost stay unchanged.
   * @returns the number of changed documents
   */
  async function release(changes: readonly LeasedChange<Stored>[]): Promise<number> {
    const operations = changes.flatMap(({ leases, update }) =>
      Array.from({ length: Math.ceil(leases.length / STATEMENT) }, (_, i) => ({
        updateMany: { filter: heldBy(leases.slice(i * STATEMENT, (i + 1) * STATEMENT)), update, hint },
      })),
    );
    if (operations.length === 0) return 0;
    return (await collection.bulkWrite(operations as AnyBulkWriteOperation<Stored>[], { ordered: false })).matchedCount;
  }

  return {
    /**
     * Takes the leases of the due documents among `ids`. Takes two round trips, or one if none is due.
     * @param due the condition under which a document may be leased. An earlier lease must have ended by it
     * @param further fields to set as well, as expressions
     * @returns the documents with their tokens, in no particular order
     */
    async claimMany(
      ids: readonly string[],
      due: Filter<Stored>,
      { leaseMs, now, further, find }: { leaseMs: number; now: Date; further?: Document; find?: FindOptions },
    ): Promise<Stored[]> {
      const prefix = `${randomUUID()}_`;
      const these = { _id: { $in: [...ids] } };
      const $set = { [token]: { $concat: [prefix, '$_id'] }, ...until(later(now, leaseMs), now), ...further };
      // Without the hint a server may choose an index that finds all due documents.
      const { modifiedCount } = await collection.updateMany({ ...these, ...due }, [{ $set }], { hint });
      if (modifiedCount === 0) return [];
      // Another process may have leased some of them first. Every character of an id sorts before `~`.
      const mine = { ...these, [token]: { $gt: prefix, $lt: `${prefix}~` } } as Filter<Stored>;
      return (await collection.find(mine, { hint, ...find }).toArray()) as Stored[];
    },

    /**
     * Prolongs leases, counted from `now`, with one command. Lost leases stay lost.
     * @param further fields to set as well, as values
     * @returns the number of prolonged leases
     */
    renew(leases: readonly (Lease & { readonly leaseMs: number })[], now: Date, further?: Document): Promise<number> {
      const groups = Map.groupBy(leases, ({ leaseMs }) => leaseMs);
      return release(
        [...groups].map(([leaseMs, each]) => ({
          leases: each,
          update: { $set: { ...until(later(now, leaseMs), now), ...further } } as UpdateFilter<Stored>,
        })),
      );
    },

    release,
  };
}

/**
 * Takes due documents, the earliest first, and postpones them, so that they are taken again if this process does not
 * process them. Two processes may take the same document at the same time. Takes two round trips, or one if nothing is
 * due.
 * @param field the name of the field with the due time
 * @param update sets the field to a later time, or removes it
 */
export async function sweep<Stored extends { _id: string }>(
  collection: Collection<Stored>,
  field: string,
  {
    limit,
    now,
    update,
    find,
  }: { limit: number; now: Date; update: UpdateFilter<Stored> | Document[]; find?: FindOptions },
): Promise<Stored[]> {
  const due = { [field]: { $lte: now } } as Filter<Stored>;
  const found = (await collection
    .find(due, find)
    .sort({ [field]: 1 })
    .limit(limit)
    .toArray()) as Stored[];
  if (found.length > 0) {
    const these = { _id: { $in: found.map(({ _id }) => _id) } } as Filter<Stored>;
    await collection.updateMany({ ...these, ...due }, update);
  }
  return found;
}
