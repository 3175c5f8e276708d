import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { isOutOfSpace } from '../store/disk.ts';
import type { RunningWrite } from '../store/running-writes.ts';
import { RowLocked } from '../store/transactions.ts';
import { decodeDocument, encodeReply } from '../wire/bson.ts';
import type { Context, Statements } from './command.ts';
import { checkRunning, markOfSearch, waitFor, whileRunning } from './paused-write.ts';
import { withOk } from './reply.ts';
import { SLICE_MS, turnOfOthers } from './slices.ts';
import { answerOf, beginningOf, encodeProgress, type Progress, progressIn, runSome } from './statements.ts';

/**
 * Milliseconds after which a write of several statements lets other commands run. A group of 64 invoices takes less, so
 * that it is written in one commit.
 */
const WRITE_SLICE_MS = 20;
/** A slice lasts at least this many times as long as it last took to record the progress. */
const RECORDINGS_A_SLICE = 4;

/**
 * Runs a writing command as part of the next commit. A command of several statements that takes longer than a slice
 * pauses between statements, within the search of a statement, and between its documents. Others run and commit in
 * between. The answer is then a promise, and only the write of each document is atomic. Any other command is atomic as
 * a whole. A repeated `txnNumber` is answered from the retry record, or continues from there if the command was not
 * complete. If an open transaction holds a row that the command writes, the command waits for the transaction to end.
 */
export function runWrite(context: Context): Doc | Promise<Doc> {
  try {
    return attempt(context);
  } catch (error) {
    if (!(error instanceof RowLocked)) throw error;
    return waitFor(error.ended, context).then(() => runWrite(context));
  }
}

function attempt(context: Context): Doc | Promise<Doc> {
  const { store, args, command, session } = context;
  const number = command.retryable ? args.count('txnNumber') : undefined;
  if (number === undefined) return run(context);
  if (!session) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID');
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

interface Retryable {
  readonly session: string;
  readonly number: number;
}

function run(context: Context, retryable?: Retryable, before?: Progress): Doc | Promise<Doc> {
  const { store, command } = context;
  if (command.statements) return runStatements(context, command.statements(context), retryable, before);
  return store.commit.write(() => recorded(context, withOk(command.run(context) as Doc), retryable));
}

function runStatements(
  context: Context,
  statements: Statements,
  retryable?: Retryable,
  before: Progress = beginningOf(statements),
): Doc | Promise<Doc> {
  const { progress } = runSlice(context, statements, before, 0, retryable);
  if (progress.done >= statements.count) return withOk(answerOf(progress));
  return whileRunning(context, retryable !== undefined, (running) =>
    rest(context, statements, progress, { before, retryable, running }),
  );
}

/** Records the answer of a retryable write, in the commit of the write. */
function recorded(context: Context, reply: Doc, retryable: Retryable | undefined): Doc {
  if (!retryable) return reply;
  context.store.retry.record(Buffer.from(retryable.session, 'hex'), retryable.number, encodeReply(reply));
  applyFailPoint(context);
  return reply;
}

/**
 * Runs statements for one slice, as part of the next commit. For a retryable write, records the progress or the final
 * answer in the same commit, so that a repeated command runs no statement twice.
 * @param lastRecordMs milliseconds that the last recording took
 * @returns `recordMs`: milliseconds that the last recording took, after this slice
 */
function runSlice(
  context: Context,
  statements: Statements,
  from: Progress,
  lastRecordMs: number,
  retryable: Retryable | undefined,
): { progress: Progress; recordMs: number } {
  const start = performance.now();
  const isOver = (ms: number): boolean => performance.now() >= start + ms;
  const recordings = RECORDINGS_A_SLICE * lastRecordMs;
  const pauses = {
    search: (isToBeRecorded: boolean) => isOver(isToBeRecorded ? Math.max(SLICE_MS, recordings) : SLICE_MS),
    write: () => isOver(Math.max(WRITE_SLICE_MS, recordings)),
  };
  // Unhurried: sending the answer of this or another command will start the commit.
  return context.store.commit.writeUnhurried(() => {
    const progress = runSome(statements, from, pauses);
    const isOfAll = progress.done >= statements.count;
    if (!isOfAll && (!retryable || progress.done === from.done)) return { progress, recordMs: lastRecordMs };
    const recording = performance.now();
    if (isOfAll) recorded(context, withOk(answerOf(progress)), retryable);
    else if (retryable) {
      const { session, number } = retryable;
      context.store.retry.record(Buffer.from(session, 'hex'), number, encodeProgress(progress));
    }
    return { progress, recordMs: performance.now() - recording };
  });
}

/**
 * Runs the remaining statements of a paused command, even if its client no longer waits for the answer. A search starts
 * over when the collection or an index that it reads is dropped, and when a commit fails before anything was written.
 */
async function rest(
  context: Context,
  statements: Statements,
  paused: Progress,
  { before, retryable, running }: { before: Progress; retryable: Retryable | undefined; running: RunningWrite },
): Promise<Doc> {
  const { commit, runningWrites, cursors } = context.store;
  let [progress, recordMs] = [paused, 0];
  let { lost } = commit;
  try {
    for (;;) {
      const { current } = progress;
      const mark = current?.isSearching ? markOfSearch(context) : undefined;
      await runningWrites.turn(() => turnOfOthers(context.store));
      if (mark?.killed) current?.searchAgain();
      else if (mark) cursors.kill(mark.id);
      checkRunning(running, context);
      if (commit.lost !== lost) {
        // Writes of this command may have been lost with the commit.
        if (progress.done > before.done || current?.hasWritten)
          throw commitFailure(commit.failure ?? new Error('unknown'));
        current?.searchAgain();
      }
      try {
        ({ progress, recordMs } = runSlice(context, statements, progress, recordMs, retryable));
        ({ lost } = commit);
        if (progress.done >= statements.count) return withOk(answerOf(progress));
      } catch (error) {
        if (!(error instanceof RowLocked)) throw error;
        await waitFor(error.ended, context, running);
      }
    }
  } finally {
    progress.current?.end();
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

/**
 * Applies the fail point that rolls back a retryable write before its commit, or disconnects the client before the
 * answer.
 */
function applyFailPoint({ failPoints, connection }: Context): void {
  const failure = failPoints?.hit('onPrimaryTransactionalWrite');
  if (!failure) return;
  if (failure.closeConnection !== false) connection.drop();
  const code = failure.failBeforeCommitExceptionCode;
  if (code !== undefined)
    throw new CommandError(Number(code), 'failing due to the fail point onPrimaryTransactionalWrite');
}
