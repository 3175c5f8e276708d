import { Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';
import { timestampOf } from '../store/oplog.ts';
import type { Transaction } from '../store/transactions.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import type { Command, Context } from './command.ts';
import { withOk } from './reply.ts';

/** The content of a session's retry record after its transaction was committed. */
const COMMITTED = encodeDocument({ committed: true });

/**
 * Runs a command in its session's transaction, which it starts if the command has `startTransaction`. Any error aborts
 * the transaction.
 */
export function runInTransaction(context: Context): Doc {
  const { store, command, name, args } = context;
  const { session, number } = identityOf(context);
  if (!command.transactional) {
    throw new CommandError(
      'OperationNotSupportedInTransaction',
      name === 'count'
        ? "Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative."
        : `Cannot run '${name}' in a multi-document transaction.`,
    );
  }
  const transaction = args.flag('startTransaction')
    ? begin(context, session, number)
    : openTransactionOf(context, session, number);
  try {
    const reply = withOk(store.transactions.run(transaction, () => command.run({ ...context, snapshot: transaction })));
    if (reply instanceof Promise) throw new CommandError('IllegalOperation', `${name} cannot wait in a transaction`);
    if (reply.writeErrors !== undefined) store.transactions.abort(transaction);
    return reply;
  } catch (error) {
    store.transactions.abort(transaction);
    throw error;
  }
}

/** Runs a read on the snapshot of `readConcern.atClusterTime`, or on a new snapshot of the current data. */
export function runOnSnapshot(context: Context): Doc {
  const { store, command, name, args } = context;
  if (!command.readsSnapshots) {
    throw new CommandError('InvalidOptions', `readConcern level snapshot is not supported by the command ${name}`);
  }
  const { atClusterTime } = asDoc(args.body.readConcern) ?? {};
  if (atClusterTime !== undefined && !(atClusterTime instanceof Timestamp))
    throw new CommandError('TypeMismatch', "BSON field 'readConcern.atClusterTime' must be a timestamp");
  const { snapshot, seq } = store.snapshots.at(atClusterTime);
  const reply = store.transactions.read(snapshot, () => withOk(command.run({ ...context, snapshot }) as Doc));
  const time = { atClusterTime: timestampOf(seq) };
  const cursor = asDoc(reply.cursor);
  return cursor ? { ...reply, cursor: { ...cursor, ...time } } : { ...reply, ...time };
}

/** Commits the session's transaction. A repeated commit gets the same answer as the first. */
export const commitTransaction: Command = {
  options: ['recoveryToken'],
  writes: () => false,
  runsOnce: true,
  run: (context) => {
    const { store } = context;
    const { session, number } = identityOfEndCommand(context);
    const transaction = store.transactions.find(session);
    if (transaction?.number !== number) {
      if (wasCommitted(context, session, number)) return {};
      throw noSuchTransaction(number);
    }
    store.commit.write(() => {
      store.transactions.commit(transaction);
      store.retry.record(Buffer.from(session, 'hex'), number, COMMITTED);
    });
    return {};
  },
};

export const abortTransaction: Command = {
  options: ['recoveryToken'],
  writes: () => false,
  runsOnce: true,
  run: (context) => {
    const { session, number } = identityOfEndCommand(context);
    context.store.transactions.abort(openTransactionOf(context, session, number));
    return {};
  },
};

function begin(context: Context, session: string, number: number): Transaction {
  const { store } = context;
  const open = store.transactions.find(session);
  const newest = Math.max(open?.number ?? 0, store.retry.find(Buffer.from(session, 'hex'))?.txn ?? 0);
  if (newest > number) {
    throw new CommandError(
      'TransactionTooOld',
      `Cannot start transaction with { txnNumber: ${number} } on session ${session} because a newer transaction with txnNumber ${newest} has already started on this session.`,
    );
  }
  if (open?.number === number || wasCommitted(context, session, number)) {
    throw new CommandError(
      'ConflictingOperationInProgress',
      `Cannot start a transaction with given transaction number ${number}: it has already started`,
    );
  }
  return store.transactions.begin(session, number);
}

function openTransactionOf(context: Context, session: string, number: number): Transaction {
  const level = context.args.document('readConcern')?.level;
  if (level !== undefined)
    throw new CommandError('InvalidOptions', 'Only the first command in a transaction may specify a readConcern');
  const transaction = context.store.transactions.find(session);
  if (transaction?.number === number) return transaction;
  if (wasCommitted(context, session, number)) {
    throw new CommandError('TransactionCommitted', `Transaction with { txnNumber: ${number} } has been committed.`);
  }
  throw noSuchTransaction(number);
}

function wasCommitted({ store }: Context, session: string, number: number): boolean {
  const recorded = store.retry.find(Buffer.from(session, 'hex'));
  return recorded?.txn === number && decodeDocument(recorded.reply).committed === true;
}

function identityOfEndCommand(context: Context): { session: string; number: number } {
  if (context.db !== 'admin')
    throw new CommandError('Unauthorized', `${context.name} may only be run against the admin database.`);
  return identityOf(context);
}

/**
 * Returns the session and number of the transaction that a command names; error 72 when these fields are missing or
 * inconsistent.
 */
function identityOf({ args, session, name }: Context): { session: string; number: number } {
  const number = wholeNumber(args.body.txnNumber);
  if (!session) throw new CommandError('InvalidOptions', `${name} in a transaction requires a session`);
  if (number === undefined) throw new CommandError('InvalidOptions', "'autocommit' requires 'txnNumber'");
  if (args.body.autocommit !== false)
    throw new CommandError('InvalidOptions', "Specifying autocommit=true is not allowed, nor 'startTransaction' alone");
  return { session, number: Number(number) };
}

function noSuchTransaction(number: number): CommandError {
  return new CommandError(
    'NoSuchTransaction',
    `Given transaction number ${number} does not match any in-progress transactions.`,
  );
}
