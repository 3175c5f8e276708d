import { Int32 } from 'bson';
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
  for (const [index, statement] of statements.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      if (!(error instanceof CommandError) || FATAL.includes(error.codeName)) throw error;
      writeErrors.push({
        index: new Int32(index),
        code: new Int32(error.code),
        errmsg: error.message,
        ...error.details,
      });
      if (ordered) break;
    }
  }
  return writeErrors.length > 0 ? { writeErrors } : {};
}
