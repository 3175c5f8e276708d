import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ChangeStreamDocument, Db } from 'mongodb';
import { MOVES_COLLECTION } from './data-moves.ts';

/** Longer than the pause between two heartbeats of a worker, milliseconds. */
const HEARTBEATS_MS = 2500;
/** How long the change stream may take to deliver the last write, milliseconds. */
const LAST_MS = 30_000;
/** How long one read from the change stream waits for a change, milliseconds. */
const WAIT_MS = 250;

/** Whether a worker of any process is sending heartbeats. Takes some seconds. Works with wrong clocks. */
export async function hasLiveWorker(db: Db): Promise<boolean> {
  const beats = () => db.collection<{ _id: string }>('claim_members').findOne({ _id: 'invoices' });
  const before = await beats();
  if (before === null) return false;
  await sleep(HEARTBEATS_MS);
  return !isDeepStrictEqual(before, await beats());
}

/** Detects whether anything else writes to a database during a move. */
export interface WriteWatch {
  /** Aborted by the first write, or when the change stream fails. The reason is an error that says which. */
  readonly signal: AbortSignal;
  /** Waits until every write before this call would have been detected. @throws the reason of the signal */
  confirm(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Watches a database for writes, except those to `data_moves`. Ignores deletions, because TTL indexes delete too; a
 * running service also inserts and updates. @throws when the database has no change streams
 */
export async function watchWrites(db: Db): Promise<WriteWatch> {
  const aborted = new AbortController();
  const confirmed = new Set<number>();
  const stream = db.watch([{ $match: { operationType: { $ne: 'delete' } } }], { maxAwaitTimeMS: WAIT_MS });
  let closed = false;
  // Opens the stream: it delivers every write from here on.
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
        if (Date.now() > end) throw new Error('the change stream of the source does not report the last write');
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
