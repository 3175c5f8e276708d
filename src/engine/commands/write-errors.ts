import { calculateObjectSize, Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';

/** Errors that abort the whole command instead of one statement. */
const FATAL = [
  'MaxTimeMSExpired',
  'DataCorruptionDetected',
  'WriteConflict',
  'SnapshotUnavailable',
  'TransactionTooLarge',
];

/** Bytes of messages and details in an answer. Further errors have their code alone, so that it fits into a message. */
const MOST_TOLD = 1024 * 1024;

/**
 * Runs the statements of a write command. An error in a statement becomes an entry of `writeErrors`, and stops the
 * command if it is ordered. Other exceptions, and the errors in `FATAL`, roll back the whole command.
 */
export function runStatements<T>(
  statements: T[],
  ordered: boolean,
  run: (statement: T, index: number) => void,
): { writeErrors?: Doc[] } {
  const writeErrors: Doc[] = [];
  let left = MOST_TOLD;
  for (const [index, statement] of statements.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      if (!(error instanceof CommandError) || FATAL.includes(error.codeName)) throw error;
      const told = { errmsg: error.message, ...error.details };
      if (left > 0) left -= calculateObjectSize(told);
      writeErrors.push({
        ...{ index: new Int32(index), code: new Int32(error.code) },
        ...(left > 0 ? told : { errmsg: '' }),
      });
      if (ordered) break;
    }
  }
  return writeErrors.length > 0 ? { writeErrors } : {};
}
