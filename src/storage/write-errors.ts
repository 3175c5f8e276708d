import { MongoBulkWriteError, MongoServerError } from 'mongodb';

/**
 * Returns the failures of single documents in an unordered write, by their index. All other documents were written.
 * @param error what the driver's `insertMany` or `bulkWrite` threw
 * @throws the error of the whole command, as a write of one document would throw it: the driver wraps it in an error
 * for several documents, which hides an outage of the store
 */
export function writeErrorsOf(error: unknown): ReadonlyMap<number, MongoServerError> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = [error.writeErrors].flat();
  // After a write concern error, documents that were written may still be lost.
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
