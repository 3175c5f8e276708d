import { Binary } from 'bson';
import { CommandError } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';
import { checkDepth, decodeDocument, encodeReply } from '../wire/bson.ts';
import type { Request } from '../wire/message.ts';
import { Arguments } from './arguments.ts';
import type { Caller, Command, Context } from './command.ts';
import { withFailure } from './configure-fail-point.ts';
import { waitFor } from './paused-write.ts';
import { errorReply, withClusterTime, withOk } from './reply.ts';
import { ReadWasLost } from './slices.ts';
import { COMMANDS } from './table.ts';
import { runInTransaction, runOnSnapshot } from './transactions.ts';
import { commitFailure, runWrite } from './write.ts';

/** Options that every command accepts. */
const COMMON_OPTIONS = [
  '$db',
  '$readPreference',
  '$clusterTime',
  'lsid',
  'txnNumber',
  'autocommit',
  'startTransaction',
  'readConcern',
  'writeConcern',
  'maxTimeMS',
  'comment',
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
];

const KNOWN_OPTIONS = new Map(
  [...COMMANDS].map(([name, command]) => [name, new Set([...COMMON_OPTIONS, ...command.options])]),
);
/** Maximum nesting depth of a command. */
const MAX_LEVELS = 200;
const MAX_TIME = 2 ** 31 - 1;
const READ_CONCERNS = ['local', 'available', 'majority', 'linearizable', 'snapshot'];

/**
 * Runs one request. Returns the encoded answer, or a promise of it if the command must wait. An error becomes the
 * answer `{ok: 0, errmsg, code, codeName}`.
 */
export function dispatch(caller: Caller, request: Request): Uint8Array | Promise<Uint8Array> {
  let context: Context | undefined;
  const finish = (reply: Doc): Uint8Array => encodeReply(withClusterTime(caller.store, reply));
  const fail = (error: unknown): Uint8Array => {
    const reply = errorReply(error, context);
    try {
      return finish(reply);
    } catch {
      // The error with its details exceeds the size of a message, so they are left out.
      const { ok, errmsg, code, codeName } = reply;
      return finish({ ok, errmsg, code, codeName });
    }
  };
  try {
    const known = contextOf(caller, request);
    context = known;
    const result = caller.failPoints ? withFailure(caller.failPoints, known, () => execute(known)) : execute(known);
    if (!(result instanceof Promise)) return finish(result);
    return result
      .then(finish)
      .catch((error) =>
        error instanceof ReadWasLost && isRepeatable(known) ? dispatch(caller, request) : fail(error),
      );
  } catch (error) {
    return fail(error);
  }
}

/**
 * Returns the answer to a request whose commit failed. A command that writes nothing may have shared the commit with
 * the writes of others. It runs again on the durable data, and the cursor of its first answer is closed. Any other
 * command fails.
 */
export function answerAfterLoss(
  caller: Caller,
  request: Request,
  lost: Uint8Array,
  error: Error,
): Uint8Array | Promise<Uint8Array> {
  let context: Context;
  try {
    context = contextOf(caller, request);
  } catch {
    // The first answer is an error about the request itself, and stays.
    return lost;
  }
  if (isRepeatable(context)) {
    const cursor = wholeNumber(asDoc(decodeDocument(lost).cursor)?.id);
    if (cursor) caller.store.cursors.kill(Number(cursor));
    return dispatch(caller, request);
  }
  return encodeReply(withClusterTime(caller.store, errorReply(commitFailure(error), undefined)));
}

/**
 * Whether the command can run again: it writes nothing, and is not in a transaction or on a snapshot, where a second
 * read could see another state than the first.
 */
function isRepeatable(context: Context): boolean {
  const { command, args } = context;
  if (command.runsOnce || args.has('autocommit') || writes(command, context)) return false;
  return readConcernLevel(args) !== 'snapshot';
}

function contextOf(caller: Caller, request: Request): Context {
  checkDepth(request.body, MAX_LEVELS, `BSONObj exceeds maximum nested object depth: ${MAX_LEVELS}`);
  const name = Object.keys(request.body)[0] ?? '';
  const command = COMMANDS.get(name);
  const known = KNOWN_OPTIONS.get(name);
  if (!command || !known) throw new CommandError('CommandNotFound', `no such command: '${name}'`);
  const args = new Arguments(name, request.body, request.sequences, request.bytes);
  if (!command.handshake) args.checkNames(known);
  const maxTime = args.count('maxTimeMS');
  if (maxTime !== undefined && maxTime > MAX_TIME)
    throw new CommandError('BadValue', `${maxTime} value for maxTimeMS is out of range`);
  args.document('writeConcern');
  return {
    ...caller,
    command,
    name,
    db: args.string('$db') ?? 'test',
    args,
    session: sessionOf(args),
    // In getMore, `maxTimeMS` is the time to wait for changes instead.
    deadline: maxTime && name !== 'getMore' ? Date.now() + maxTime : Number.POSITIVE_INFINITY,
  };
}

function execute(context: Context): Doc | Promise<Doc> {
  const { command, args, name, session, store } = context;
  // A session may run only one retryable write or transaction at a time.
  const running = session !== undefined && args.has('txnNumber') ? store.runningWrites.ended(session) : undefined;
  if (running) return waitFor(running, context).then(() => execute(context));
  const level = readConcernLevel(args);
  if (args.has('autocommit') || args.has('startTransaction')) {
    if (name !== 'commitTransaction' && name !== 'abortTransaction') return runInTransaction(context);
  } else if (level === 'snapshot' && !command.ofCursor) return runOnSnapshot(context);
  if (!writes(command, context)) return withWriteConcern(context, withOk(command.run(context)));
  const reply = runWrite(context);
  return reply instanceof Promise
    ? reply.then((value) => withWriteConcern(context, value))
    : withWriteConcern(context, reply);
}

function writes(command: Command, context: Context): boolean {
  return typeof command.writes === 'function' ? command.writes(context) : command.writes === true;
}

function sessionOf(args: Arguments): string | undefined {
  const id = args.document('lsid')?.id;
  if (id === undefined) return undefined;
  if (id instanceof Binary && id.buffer.length === 16) return Buffer.from(id.buffer).toString('hex');
  throw new CommandError('TypeMismatch', "BSON field 'lsid.id' must be a UUID");
}

function readConcernLevel(args: Arguments): unknown {
  const level = args.document('readConcern')?.level;
  if (level === undefined || READ_CONCERNS.includes(level as string)) return level;
  throw new CommandError(
    'InvalidOptions',
    `readConcern level ${JSON.stringify(level)} is not supported by this server`,
  );
}

/**
 * Adds a `writeConcernError` after the write, as in MongoDB, if a write concern requires more members than the one that
 * the replica set has.
 */
function withWriteConcern<T extends Doc | Promise<Doc>>({ args, command }: Context, reply: T): T | Doc {
  const w = asDoc(args.body.writeConcern)?.w;
  if (w === undefined || w === 'majority' || reply instanceof Promise || !command.writes) return reply;
  const members = wholeNumber(w);
  if (members !== undefined && members <= 1n) return reply;
  const [code, codeName, errmsg] =
    members === undefined
      ? [79, 'UnknownReplWriteConcern', `No write concern mode named '${String(w)}' found in replica set configuration`]
      : [100, 'UnsatisfiableWriteConcern', 'Not enough data-bearing nodes'];
  return { ...reply, writeConcernError: { code, codeName, errmsg } };
}
