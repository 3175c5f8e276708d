import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ChangeStreamDocument, Db } from 'mongodb';
import { MOVES_COLLECTION } from './data-moves.ts';

/** Longer than the pause between two heartbeats of a worker, milliseconds. */
const HEARTBEATS_MS = 2500;
/** How long the stream may take to tell of the last write, milliseconds. */
const LAST_MS = 30_000;
/** How long one question to the stream waits for a change, milliseconds. */
const WAIT_MS = 250;

/** Whether a worker of any process sends heartbeats. Takes some seconds; clocks do not matter. */
export async function hasLiveWorker(db: Db): Promise<boolean> {
  const beats = () => db.collection<{ _id: string }>('claim_members').findOne({ _id: 'invoices' });
  const before = await beats();
  if (before === null) return false;
  await sleep(HEARTBEATS_MS);
  return !isDeepStrictEqual(before, await beats());
}

/** Tells whether anything else writes to a database meanwhile. */
export interface WriteWatch {
  /** Aborted by the first write, or when the database cannot tell of writes; the reason is an error that says so. */
  readonly signal: AbortSignal;
  /** Waits until every write before this call would have been told. @throws the reason of the signal */
  confirm(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Watches a database for writes, except those of `data_moves`. Deletions do not count, because TTL indexes delete too;
 * a service that runs does not only delete. @throws when the database has no change streams
 */
export async function watchWrites(db: Db): Promise<WriteWatch> {
  const aborted = new AbortController();
  const confirmed = new Set<number>();
  const stream = db.watch([{ $match: { operationType: { $ne: 'delete' } } }], { maxAwaitTimeMS: WAIT_MS });
  let closed = false;
  // Open from here on: what is written later is told.
  await stream.tryNext();

  function look(change: ChangeStreamDocument | null): void {
    if (change === null) return;
    if (!('ns' in change && 'coll' in change.ns && change.ns.coll === MOVES_COLLECTION)) throw new Error(told(change));
    const confirmation: unknown = 'updateDescription' in change && change.updateDescription.updatedFields?.confirmation;
    if (typeof confirmation === 'number') confirmed.add(confirmation);
  }

  const watching = (async () => {
    while (!closed) look(await stream.tryNext());
  })().catch((error: unknown) => {
    if (!closed) aborted.abort(error);
  });

  return {
    signal: aborted.signal,
    async confirm() {
      const confirmation = Date.now() + Math.random();
      await db.collection(MOVES_COLLECTION).updateOne({ _id: 'source' as never }, { $set: { confirmation } });
      const end = Date.now() + LAST_MS;
      while (!confirmed.has(confirmation)) {
        aborted.signal.throwIfAborted();
        if (Date.now() > end) throw new Error('the source does not tell of the last write to it');
        await sleep(WAIT_MS);
      }
      aborted.signal.throwIfAborted();
    },
    async close() {
      closed = true;
      await stream.close();
      await watching;
    },
  };
}

function told(change: ChangeStreamDocument): string {
  const where = 'ns' in change && 'coll' in change.ns ? change.ns.coll : 'the database';
  return `something else wrote to the source meanwhile (${change.operationType}, ${where}). Stop every process that uses it, drop the target, and begin again with migrate --abandon`;
}
