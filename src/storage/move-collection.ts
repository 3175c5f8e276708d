import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { isDuplicateKey } from './duplicate-key.ts';
import { documentsAfter, inBatches, insertBytes, lastDocument } from './raw-documents.ts';
import { outageOf } from './unavailable.ts';

/**
 * Number of times that a batch is sent again when a server is unavailable, and the pause before each retry,
 * milliseconds.
 */
const TRIES = 30;
const PAUSE_MS = 1000;

/** Called for each batch that the target has stored. */
export type ReportBatch = (batch: { readonly documents: number; readonly bytes: number }) => void;

/**
 * Moves the documents of a collection in the order of `_id`, starting after the greatest `_id` in the target. So after
 * any interruption the target has the first documents of the source without a gap, and the next call resumes. Two
 * processes that do this at the same time do no harm. Memory is bounded by two batches and the replies of the source.
 * @throws when the source cannot be read, or when the target refuses a document or is unavailable for half a minute
 */
export async function moveCollection(
  source: Db,
  target: Db,
  name: string,
  report: ReportBatch,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const stored: ReportBatch = (batch) => {
    failures = 0;
    report(batch);
  };
  for (;;) {
    try {
      return await moveOn(source, target, name, stored, signal);
    } catch (error) {
      signal.throwIfAborted();
      // A document exists already when the last batch of a killed process was stored only now.
      const passes = isDuplicateKey(error) || outageOf(error) === 'away';
      if (!passes || ++failures === TRIES) throw error;
      await sleep(PAUSE_MS, undefined, { signal });
    }
  }
}

async function moveOn(source: Db, target: Db, name: string, report: ReportBatch, signal: AbortSignal): Promise<void> {
  const after = await lastDocument(target.collection(name));
  let inserting: Promise<void> = Promise.resolve();
  try {
    for await (const batch of inBatches(documentsAfter(source.collection(name), after))) {
      // One batch after the other, so that none is stored without those before it. The next batch is read meanwhile.
      await inserting;
      signal.throwIfAborted();
      inserting = insertBytes(target, name, batch).then(() =>
        report({ documents: batch.length, bytes: batch.reduce((sum, { length }) => sum + length, 0) }),
      );
      inserting.catch(() => undefined);
    }
  } finally {
    await inserting;
  }
}
