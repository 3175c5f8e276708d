import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from '../errors.ts';
import type { Pause, Steps } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import type { Cursor } from '../store/cursors.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './command.ts';

/** Milliseconds after which a read lets other commands run. */
export const SLICE_MS = 3;

/** Thrown when a read has seen writes whose commit then failed. */
export class ReadWasLost extends CommandError {
  constructor(ns: string) {
    super('Interrupted', `a commit failed during the read of ${ns}`);
  }
}

/**
 * Runs a read. A read that takes longer than a slice pauses after each slice, so that other commands run in between;
 * its answer is then a promise. The read ends with error 175 when its cursor, its session or its data is gone, without
 * an answer when its client is gone, and with {@link ReadWasLost} when a commit failed whose writes it saw. A read in a
 * transaction or on a snapshot does not pause, because the old versions are in the tables only while it runs.
 * @param ns the namespace that the read is on
 * @param cursor the cursor that the read continues, if there is one
 */
export function inSlices(context: Context, ns: string, work: Steps<Doc>, cursor?: Cursor): Doc | Promise<Doc> {
  const { done, value } = slice(work, context.snapshot ? Number.POSITIVE_INFINITY : SLICE_MS);
  return done ? value : rest(context, ns, work, cursor);
}

/** Runs work to its end in slices, even if its client no longer waits. */
export async function toEnd<T>(store: Store, work: Steps<T>): Promise<T> {
  for (;;) {
    await turnOfOthers(store);
    const { done, value } = slice(work);
    if (done) return value;
  }
}

/**
 * Waits for the next turn of the event loop. If answers wait for a commit, waits one more turn, so that they are sent
 * first.
 */
export async function turnOfOthers(store: Store): Promise<void> {
  await nextTurn();
  if (store.commit.isPending) await nextTurn();
}

/** Runs one slice: up to the first pause after `ms`, or to the result. */
function slice<T>(work: Steps<T>, ms = SLICE_MS): IteratorResult<Pause, T> {
  const until = performance.now() + ms;
  for (;;) {
    const step = work.next();
    if (step.done || performance.now() >= until) return step;
  }
}

async function rest(context: Context, ns: string, work: Steps<Doc>, cursor: Cursor | undefined): Promise<Doc> {
  const { store, connection, session } = context;
  const { commit } = store;
  let { lost, hasWrites } = commit;
  const running = cursor ?? store.cursors.add({}, { ns, session, noTimeout: true, alsoReads: context.alsoReads });
  running.busy = true;
  const onClose = (): void => void store.cursors.kill(running.id);
  connection.onClose(onClose);
  try {
    for (;;) {
      await turnOfOthers(store);
      if (running.killed)
        throw new CommandError('QueryPlanKilled', `the read of ${ns} was ended: what it needs is gone`);
      if (hasWrites && commit.lost !== lost) throw new ReadWasLost(ns);
      const { done, value } = slice(work);
      ({ lost, hasWrites } = commit);
      if (done) return value;
    }
  } finally {
    work.return({});
    running.busy = false;
    if (!cursor) store.cursors.kill(running.id);
    connection.offClose(onClose);
  }
}
