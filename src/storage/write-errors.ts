import { MongoBulkWriteError, MongoServerError } from 'mongodb';

/**
 * The failures of single documents of an unordered write of several, by their index. All other documents were written.
 * @param error what the driver's `insertMany` or `bulkWrite` threw
 * @throws the error of the whole command, as a write of one document would throw it: the driver wraps it for several,
 * which hides an outage of the store
 */
export function writeErrorsOf(error: unknown): ReadonlyMap<number, MongoServerError> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  // With an error of the write concern, the other documents may be lost later.
  if (failures.length === 0 || error.result.getWriteConcernError()) throw commandError(error);
  return new Map(
    failures.map(({ index, code, errmsg }) => [
      index,
      new MongoServerError({ message: errmsg ?? 'the write failed', code }),
    ]),
  );
}

function commandError(error: MongoBulkWriteError): unknown {
  const original: unknown = error.errorResponse;
  return original instanceof Error ? original : error;
}
