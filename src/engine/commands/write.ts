import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { isOutOfSpace } from '../store/disk.ts';
import { RowLocked } from '../store/transactions.ts';
import { decodeDocument, encodeReply } from '../wire/bson.ts';
import type { Context, Statements } from './command.ts';
import { withOk } from './reply.ts';
import { slice, toEnd, turnOfOthers } from './slices.ts';
import {
  answerOf,
  beginningOf,
  encodeProgress,
  LockedAfter,
  type Progress,
  progressIn,
  runSome,
} from './statements.ts';

/**
 * Time after which a write of several statements lets other commands run, milliseconds: longer than a group of 64
 * invoices takes, so that such a group is one commit.
 */
const WRITE_SLICE_MS = 20;
/** A slice lasts at least this many times as long as the last recording of what had run. */
const RECORDINGS_A_SLICE = 4;

/**
 * Runs a writing command as part of the next commit. A command of several statements that takes longer than a slice
 * pauses between two of them, so that others run and commit in between; its answer is then a promise, and each statement
 * is atomic by itself. Any other command is atomic as a whole. A repeated `txnNumber` is answered from the retry record,
 * and goes on from there if the command was not over. If an open transaction holds a row of the write, the command waits
 * for that transaction, at most until `maxTimeMS` (error 50).
 */
export function runWrite(context: Context): Doc | Promise<Doc> {
  try {
    return attempt(context);
  } catch (error) {
    if (!(error instanceof RowLocked)) throw error;
    return waitFor(error.ended, context).then(() => runWrite(context));
  }
}

const LONGEST_TIMER = 2 ** 31 - 1;

async function waitFor(ended: Promise<void>, { deadline, connection }: Context): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onDisconnect = (): void => reject(new CommandError('ClientDisconnect', 'the client has disconnected'));
  const onTimeout = (): void => reject(new CommandError('MaxTimeMSExpired', 'operation exceeded time limit'));
  const timer = setTimeout(
    () => (Date.now() >= deadline ? onTimeout() : resolve()),
    Math.min(deadline - Date.now(), LONGEST_TIMER),
  );
  connection.onClose(onDisconnect);
  void ended.then(resolve);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    connection.offClose(onDisconnect);
  }
}

function attempt(context: Context): Doc | Promise<Doc> {
  const { store, args, command, session } = context;
  const number = command.retryable ? args.count('txnNumber') : undefined;
  if (number === undefined) return run(context);
  if (!session) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID');
  const running = store.runningWrites.ended(session);
  if (running) return waitFor(running, context).then(() => runWrite(context));
  const recorded = store.retry.find(Buffer.from(session, 'hex'));
  const record = recorded?.txn === number ? decodeDocument(recorded.reply) : undefined;
  const before = record && progressIn(record);
  if (record && !before) return repeatedReply(record, number);
  const open = store.transactions.find(session)?.number;
  const newest = Math.max(recorded?.txn ?? 0, open ?? 0);
  if (newest > number) {
    throw new CommandError(
      'TransactionTooOld',
      `Retryable write with txnNumber ${number} is prohibited on session ${session} because a newer retryable write or transaction with txnNumber ${newest} has already started on this session.`,
    );
  }
  if (open === number)
    throw new CommandError(
      'InvalidOptions',
      'Must specify autocommit=false on all operations of a multi-statement transaction.',
    );
  store.transactions.abortSession(session);
  return run(context, { session, number }, before);
}

/** The session and the number of a retryable write. */
interface Retryable {
  readonly session: string;
  readonly number: number;
}

function run(context: Context, retryable?: Retryable, before?: Progress): Doc | Promise<Doc> {
  const { store, command } = context;
  if (!command.statements)
    return store.commit.write(() => recorded(context, withOk(command.run(context) as Doc), retryable));
  const statements = command.statements(context);
  if (!('next' in statements)) return runStatements(context, statements, retryable, before);
  const found = slice(statements);
  if (found.done) return runStatements(context, found.value, retryable, before);
  return whileRunning(context, async (check) => {
    const all = await toEnd(store, statements, check);
    return rest(context, all, beginningOf(all), retryable, check);
  });
}

function runStatements(
  context: Context,
  statements: Statements,
  retryable?: Retryable,
  before: Progress = beginningOf(statements),
): Doc | Promise<Doc> {
  const progress = runSlice(context, statements, before, WRITE_SLICE_MS, retryable);
  if (progress.done === statements.count) return withOk(answerOf(progress));
  return whileRunning(context, (check) => rest(context, statements, progress, retryable, check));
}
/** Records the answer of a retryable write, in its commit. */
function recorded(context: Context, reply: Doc, retryable: Retryable | undefined): Doc {
  if (!retryable) return reply;
  context.store.retry.record(Buffer.from(retryable.session, 'hex'), retryable.number, encodeReply(reply));
  applyFailPoint(context);
  return reply;
}

/** Runs statements for a time, as part of the next commit, and records the answer with the last one. */
function runSlice(
  context: Context,
  statements: Statements,
  from: Progress,
  ms: number,
  retryable: Retryable | undefined,
): Progress {
  let limit = statements.count;
  for (;;) {
    const until = performance.now() + ms;
    try {
      // Its answer, or that of another command, will hurry the commit.
      return context.store.commit.writeUnhurried(() => {
        const progress = runSome(statements, from, limit, () => performance.now() >= until);
        if (progress.done === statements.count) recorded(context, withOk(answerOf(progress)), retryable);
        return progress;
      });
    } catch (error) {
      if (!(error instanceof LockedAfter)) throw error;
      // Everything was rolled back. The statements before the one that must wait run again, and stay.
      limit = error.done;
    }
  }
}

/**
 * Runs a write that has paused. What ends the cursors of its collection, of its session, or of the engine ends it, too.
 * @param work gets a function to be called after each pause; it throws when the write must end
 */
async function whileRunning<T>(context: Context, work: (check: () => void) => Promise<T>): Promise<T> {
  const { store, session, args, db, deadline } = context;
  const ns = `${db}.${args.collection()}`;
  const running = store.cursors.add({}, { ns, session, noTimeout: true });
  running.busy = true;
  try {
    return await work(() => {
      if (running.killed)
        throw new CommandError('QueryPlanKilled', `the write to ${ns} was ended: what it needs is gone`);
      if (Date.now() >= deadline) throw new CommandError('MaxTimeMSExpired', 'operation exceeded time limit');
    });
  } finally {
    running.busy = false;
    store.cursors.kill(running.id);
  }
}

/** Runs the other statements of a command that has paused, whether or not its client waits for the answer. */
async function rest(
  context: Context,
  statements: Statements,
  before: Progress,
  retryable: Retryable | undefined,
  check: () => void,
): Promise<Doc> {
  const { store } = context;
  const { commit, runningWrites } = store;
  if (retryable) runningWrites.begin(retryable.session, retryable.number);
  let progress = before;
  let { lost } = commit;
  try {
    for (;;) {
      const encode = (done: Progress) => () => encodeProgress(done);
      const recordMs = retryable ? runningWrites.advance(retryable.session, encode(progress)) : 0;
      await turnOfOthers(store);
      check();
      // Some of what has run may be lost.
      if (commit.lost !== lost) throw commitFailure(commit.failure ?? new Error('unknown'));
      const ms = Math.max(WRITE_SLICE_MS, RECORDINGS_A_SLICE * recordMs);
      try {
        progress = runSlice(context, statements, progress, ms, retryable);
        ({ lost } = commit);
        if (progress.done === statements.count) return withOk(answerOf(progress));
      } catch (error) {
        if (!(error instanceof RowLocked)) throw error;
        await waitFor(error.ended, context);
      }
    }
  } finally {
    if (retryable) runningWrites.end(retryable.session);
  }
}

/** The error of a command whose commit failed. */
export function commitFailure(error: Error): Error {
  return isOutOfSpace(error) ? error : new CommandError('InternalError', `the commit failed: ${error.message}`);
}

function repeatedReply(reply: Doc, number: number): Doc {
  if (!reply.committed) return reply;
  throw new CommandError('TransactionCommitted', `Transaction with txnNumber ${number} has been committed`);
}

/** The fail point that rolls back a retryable write before its commit, or disconnects the client before the answer. */
function applyFailPoint({ failPoints, connection }: Context): void {
  const failure = failPoints?.hit('onPrimaryTransactionalWrite');
  if (!failure) return;
  if (failure.closeConnection !== false) connection.drop();
  const code = failure.failBeforeCommitExceptionCode;
  if (code !== undefined)
    throw new CommandError(Number(code), 'failing due to the fail point onPrimaryTransactionalWrite');
}
