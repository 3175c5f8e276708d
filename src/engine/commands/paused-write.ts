import { CommandError } from '../errors.ts';
import type { Cursor } from '../store/cursors.ts';
import type { RunningWrite } from '../store/running-writes.ts';
import type { Context } from './command.ts';

const LONGEST_TIMER = 2 ** 31 - 1;

const expired = (): CommandError => new CommandError('MaxTimeMSExpired', 'operation exceeded time limit');

/**
 * Waits for `ended`, at most until the command's `maxTimeMS` (error 50).
 * @param running the waiting write, if a part of it has run: its interruption ends the wait. Without it, the wait ends
 *   when the connection closes.
 */
export async function waitFor(ended: Promise<void>, context: Context, running?: RunningWrite): Promise<void> {
  const { deadline, connection } = context;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onDisconnect = (): void => reject(new CommandError('ClientDisconnect', 'the client has disconnected'));
  const timer = setTimeout(
    () => (Date.now() >= deadline ? reject(expired()) : resolve()),
    Math.min(deadline - Date.now(), LONGEST_TIMER),
  );
  if (running) running.onInterrupt = resolve;
  else connection.onClose(onDisconnect);
  void ended.then(resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    connection.offClose(onDisconnect);
    if (running) running.onInterrupt = () => {};
  }
}

/** Runs the rest of a paused write, so that a stop of the engine or `killSessions` can end it. */
export async function whileRunning<T>(
  { store, session }: Context,
  isRetryable: boolean,
  work: (running: RunningWrite) => Promise<T>,
): Promise<T> {
  const running = store.runningWrites.begin(session, isRetryable);
  try {
    return await work(running);
  } finally {
    store.runningWrites.end(running);
  }
}

/**
 * Opens a cursor to observe what the search of a paused write reads: `killed` is set when the collection or an index is
 * dropped. It has no session, because ending a session's cursors must not end a write. The caller kills the cursor when
 * done.
 */
export function markOfSearch({ store, db, name, args, alsoReads }: Context): Cursor {
  const ns = `${db}.${String(args.body[name])}`;
  const cursor = store.cursors.add({}, { ns, session: undefined, noTimeout: true, alsoReads });
  cursor.busy = true;
  return cursor;
}

/** Call it after each pause. @throws CommandError when the write must end */
export function checkRunning({ interruption }: RunningWrite, { deadline }: Context): void {
  if (interruption) throw interruption;
  if (Date.now() >= deadline) throw expired();
}
