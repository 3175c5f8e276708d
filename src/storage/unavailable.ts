import { MongoError, MongoErrorLabel, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { type ServiceError, serviceError } from '../domain/errors.ts';

/** Errors of the driver when no server is available. By name, because it does not export all of the classes. */
const NAMES = /^Mongo(PoolClear|PoolClosed|TopologyClosed|NotConnected|WaitQueueTimeout|OperationTimeout)/;

/** MongoDB's code `OutOfDiskSpace`. */
const OUT_OF_DISK_SPACE = 14031;

/** Why the store cannot be used: it does not answer, or it has no space left. */
export type Outage = 'away' | 'full';

/**
 * The answer to clients during an outage of the store: 503, which they may retry. Null for any other failure. A failed
 * write may have been done; an Idempotency-Key makes the retry safe.
 */
export function unavailability(error: unknown): ServiceError | null {
  if (outageOf(error) === null) return null;
  return serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
}

/** The outage of the store that caused a failure; null if none did. */
export function outageOf(error: unknown): Outage | null {
  if (error instanceof MongoError && error.code === OUT_OF_DISK_SPACE) return 'full';
  return isAway(error) ? 'away' : null;
}

function isAway(error: unknown): boolean {
  if (error instanceof MongoError) {
    return (
      error instanceof MongoNetworkError ||
      error instanceof MongoServerSelectionError ||
      NAMES.test(error.name) ||
      error.hasErrorLabel(MongoErrorLabel.RetryableWriteError)
    );
  }
  // The driver does not wrap Node's error of a write to a connection that the server has closed.
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
