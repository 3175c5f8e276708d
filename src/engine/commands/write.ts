import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { RowLocked } from '../store/transactions.ts';
import { decodeDocument, encodeReply } from '../wire/bson.ts';
import type { Context } from './command.ts';
import { withOk } from './reply.ts';

/**
 * Runs a writing command atomically, as part of the next commit. A repeated `txnNumber` is answered from the retry
 * record. If an open transaction holds a row of the write, the command waits for that transaction, at most until
 * `maxTimeMS` (error 50).
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

function attempt(context: Context): Doc {
  const { store, args, command } = context;
  const number = command.retryable ? args.count('txnNumber') : undefined;
  if (number === undefined) return store.commit.write(() => withOk(command.run(context) as Doc));
  if (!context.session) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID');
  const session = Buffer.from(context.session, 'hex');
  const recorded = store.retry.find(session);
  if (recorded?.txn === number) return repeatedReply(decodeDocument(recorded.reply), number);
  const open = store.transactions.find(context.session)?.number;
  const newest = Math.max(recorded?.txn ?? 0, open ?? 0);
  if (newest > number) {
    throw new CommandError(
      'TransactionTooOld',
      `Retryable write with txnNumber ${number} is prohibited on session ${context.session} because a newer retryable write or transaction with txnNumber ${newest} has already started on this session.`,
    );
  }
  if (open === number)
    throw new CommandError(
      'InvalidOptions',
      'Must specify autocommit=false on all operations of a multi-statement transaction.',
    );
  store.transactions.abortSession(context.session);
  return store.commit.write(() => {
    const reply = withOk(command.run(context) as Doc);
    store.retry.record(session, number, encodeReply(reply));
    applyFailPoint(context);
    return reply;
  });
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
