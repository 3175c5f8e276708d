import { Binary, Double, Long, type Timestamp } from 'bson';
import type { Connection } from '../connection.ts';
import { CommandError } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';
import { timestampOf } from '../store/oplog.ts';
import type { Store } from '../store/store.ts';
import { checkDepth, decodeDocument, encodeReply } from '../wire/bson.ts';
import type { Request } from '../wire/message.ts';
import { Arguments } from './arguments.ts';
import type { Command, Context, ServerInfo } from './command.ts';
import { COMMANDS } from './table.ts';

/** Options that every command takes. */
const COMMON = [
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

const KNOWN = new Map([...COMMANDS].map(([name, command]) => [name, new Set([...COMMON, ...command.options])]));
/** Levels of nesting that a command may have. */
const MAX_LEVELS = 200;
const READ_CONCERNS = ['local', 'available', 'majority', 'linearizable'];

export interface Caller {
  store: Store;
  server: ServerInfo;
  connection: Connection;
}

/**
 * Runs one request; the encoded answer is ready at once, or later for a command that waits.
 * Every failure becomes `{ok: 0, errmsg, code, codeName}`.
 */
export function dispatch(caller: Caller, request: Request): Uint8Array | Promise<Uint8Array> {
  const finish = (reply: Doc): Uint8Array => encodeReply(withTimes(caller.store, reply));
  const fail = (error: unknown): Uint8Array => finish(failure(error));
  try {
    const result = execute(caller, request);
    return result instanceof Promise ? result.then(finish, fail) : finish(result);
  } catch (error) {
    return fail(error);
  }
}

/** The answer of a command whose commit failed. */
export function commitFailure(store: Store, error: Error): Uint8Array {
  return encodeReply(
    withTimes(store, failure(new CommandError('InternalError', `the commit failed: ${error.message}`))),
  );
}

function execute(caller: Caller, request: Request): Doc | Promise<Doc> {
  checkDepth(request.body, MAX_LEVELS, `BSONObj exceeds maximum nested object depth: ${MAX_LEVELS}`);
  const name = Object.keys(request.body)[0] ?? '';
  const command = COMMANDS.get(name);
  const known = KNOWN.get(name);
  if (!command || !known) throw new CommandError('CommandNotFound', `no such command: '${name}'`);
  const args = new Arguments(name, request.body, request.sequences);
  if (!command.handshake) args.checkNames(known);
  refuseTransaction(args);
  checkReadConcern(args);
  const maxTime = name === 'getMore' ? undefined : args.count('maxTimeMS');
  const context: Context = {
    ...caller,
    name,
    db: args.string('$db') ?? 'test',
    args,
    session: sessionOf(args),
    deadline: maxTime ? Date.now() + maxTime : Number.POSITIVE_INFINITY,
  };
  if (command.writes) return withWriteConcern(args, write(command, context));
  return done(command.run(context));
}

function write(command: Command, context: Context): Doc {
  const { store, args } = context;
  const txn = command.retryable && args.has('txnNumber') ? Number(wholeNumber(args.body.txnNumber)) : undefined;
  if (txn === undefined) return store.commit.write(() => done(command.run(context) as Doc));
  if (!context.session) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID');
  const session = Buffer.from(context.session, 'hex');
  const recorded = store.retry.find(session);
  if (recorded?.txn === txn) return decodeDocument(recorded.reply);
  if (recorded && recorded.txn > txn) {
    throw new CommandError(
      'TransactionTooOld',
      `Retryable write with txnNumber ${txn} is prohibited on session ${context.session} because a newer retryable write with txnNumber ${recorded.txn} has already started on this session.`,
    );
  }
  return store.commit.write(() => {
    const reply = done(command.run(context) as Doc);
    store.retry.record(session, txn, encodeReply(reply));
    return reply;
  });
}

function done<T extends Doc | Promise<Doc>>(reply: T): T {
  if (reply instanceof Promise) return reply.then((value) => done(value as Doc)) as T;
  return { ...reply, ok: new Double(1) } as unknown as T;
}

function sessionOf(args: Arguments): string | undefined {
  const id = args.document('lsid')?.id;
  if (id === undefined) return undefined;
  if (id instanceof Binary && id.buffer.length === 16) return Buffer.from(id.buffer).toString('hex');
  throw new CommandError('TypeMismatch', "BSON field 'lsid.id' must be a UUID");
}

function refuseTransaction(args: Arguments): void {
  if (args.has('autocommit') || args.has('startTransaction')) {
    throw new CommandError('IllegalOperation', 'this server does not support multi-document transactions');
  }
}

function checkReadConcern(args: Arguments): void {
  const level = args.document('readConcern')?.level;
  if (level === undefined || READ_CONCERNS.includes(level as string)) return;
  throw new CommandError(
    'InvalidOptions',
    `readConcern level ${JSON.stringify(level)} is not supported by this server`,
  );
}

/** One node is all there is: a write concern that asks for more is answered as MongoDB does, after the write. */
function withWriteConcern(args: Arguments, reply: Doc): Doc {
  const w = asDoc(args.body.writeConcern)?.w;
  if (w === undefined || w === 'majority') return reply;
  const members = wholeNumber(w);
  if (members !== undefined && members <= 1n) return reply;
  const [code, codeName, errmsg] =
    members === undefined
      ? [79, 'UnknownReplWriteConcern', `No write concern mode named '${String(w)}' found in replica set configuration`]
      : [100, 'UnsatisfiableWriteConcern', 'Not enough data-bearing nodes'];
  return { ...reply, writeConcernError: { code, codeName, errmsg } };
}

function failure(error: unknown): Doc {
  if (!(error instanceof CommandError)) {
    process.emitWarning(`engine: ${error instanceof Error ? error.stack : String(error)}`);
    return failure(new CommandError('InternalError', error instanceof Error ? error.message : String(error)));
  }
  return {
    ok: new Double(0),
    errmsg: error.message,
    code: error.code,
    codeName: error.codeName,
    ...error.details,
    ...(error.labels.length > 0 ? { errorLabels: error.labels } : {}),
  };
}

const NO_SIGNATURE = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };

function withTimes(store: Store, reply: Doc): Doc {
  const time: Timestamp = timestampOf(store.oplog.last);
  return {
    ...reply,
    $clusterTime: { clusterTime: time, signature: NO_SIGNATURE },
    operationTime: reply.operationTime ?? time,
  };
}
