import type { Steps } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import type { Cursor } from '../store/cursors.ts';
import type { RunningWrite } from '../store/running-writes.ts';
import { RowLocked } from '../store/transactions.ts';
import type { Context } from './command.ts';
import { checkRunning, markOfSearch, waitFor, whileRunning } from './paused-write.ts';
import { slice, turnOfOthers } from './slices.ts';

/** A search that has not begun, and the same once more. */
interface Searches<T> {
  readonly first: Steps<T>;
  readonly again: () => Steps<T>;
}

/**
 * Runs a search, and at the end of its last slice what is to be done with its result: nothing changes in between. If the
 * search pauses, the answer is a promise.
 */
export function afterSearch<T>(
  context: Context,
  isRetryable: boolean,
  searches: Searches<T>,
  write: (found: T) => Doc | Promise<Doc>,
): Doc | Promise<Doc> {
  const { done, value } = slice(searches.first);
  if (done) return write(value);
  return whileRunning(context, isRetryable, (running) => restOfSearch(context, searches, write, running));
}

/**
 * Goes on with a search that has paused, whether or not its client waits for the answer. The search begins again when an
 * index or the collection that it reads is dropped, when a commit fails, and after a wait for a transaction.
 */
async function restOfSearch<T>(
  context: Context,
  { first, again }: Searches<T>,
  write: (found: T) => Doc | Promise<Doc>,
  running: RunningWrite,
): Promise<Doc> {
  const { store } = context;
  let search = first;
  let cursor: Cursor | undefined = markOfSearch(context);
  let { lost } = store.commit;
  const end = (): void => {
    search.return(undefined as never);
    if (cursor) store.cursors.kill(cursor.id);
  };
  const beginAgain = (): void => {
    end();
    search = again();
    cursor = undefined;
    ({ lost } = store.commit);
  };
  try {
    for (;;) {
      await turnOfOthers(store);
      checkRunning(running, context);
      // It may have seen writes that are lost.
      if (cursor?.killed || store.commit.lost !== lost) beginAgain();
      try {
        const { done, value } = slice(search);
        if (done) return write(value);
        cursor ??= markOfSearch(context);
      } catch (error) {
        if (!(error instanceof RowLocked)) throw error;
        await waitFor(error.ended, context, running);
        beginAgain();
      }
    }
  } finally {
    end();
  }
}
