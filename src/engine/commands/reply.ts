import { Binary, Double, Long, type Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { isOutOfSpace } from '../store/disk.ts';
import { timestampOf } from '../store/oplog.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './command.ts';
import { labelsOf } from './error-labels.ts';

const NO_SIGNATURE = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };

/** Adds `ok: 1` to a reply. */
export function withOk<T extends Doc | Promise<Doc>>(reply: T): T {
  if (reply instanceof Promise) return reply.then((value) => withOk(value as Doc)) as T;
  return { ...reply, ok: new Double(1) } as unknown as T;
}

/**
 * Builds the answer to a failed command; `context` is undefined when the command could not be parsed. A full disk is
 * error 14031. An unexpected exception is error 1 and emits a warning.
 */
export function errorReply(error: unknown, context: Context | undefined): Doc {
  if (!(error instanceof CommandError)) {
    if (isOutOfSpace(error))
      return errorReply(new CommandError('OutOfDiskSpace', `the disk is full: ${(error as Error).message}`), context);
    process.emitWarning(`engine: ${error instanceof Error ? error.stack : String(error)}`);
    return errorReply(
      new CommandError('InternalError', error instanceof Error ? error.message : String(error)),
      context,
    );
  }
  const labels = error.labels ?? (context ? labelsOf(error, context) : []);
  return {
    ok: new Double(0),
    errmsg: error.message,
    code: error.code,
    codeName: error.codeName,
    ...error.details,
    ...(labels.length > 0 ? { errorLabels: labels } : {}),
  };
}

/** Adds the cluster time, which every answer must have. */
export function withClusterTime(store: Store, reply: Doc): Doc {
  const time: Timestamp = timestampOf(store.oplog.last);
  return {
    ...reply,
    $clusterTime: { clusterTime: time, signature: NO_SIGNATURE },
    operationTime: reply.operationTime ?? time,
  };
}
