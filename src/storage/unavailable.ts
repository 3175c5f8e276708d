import { MongoError, MongoErrorLabel, MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { type ServiceError, serviceError } from '../domain/errors.ts';

/**
 * Names of the driver's errors when no server is available. Compared by name, because the driver does not export all
 * the classes.
 */
const NAMES = /^Mongo(PoolClear|PoolClosed|TopologyClosed|NotConnected|WaitQueueTimeout|OperationTimeout)/;

/** MongoDB's code `OutOfDiskSpace`. */
const OUT_OF_DISK_SPACE = 14031;

/** Why the store cannot be used: `away` when it does not respond, `full` when it has no space left. */
export type Outage = 'away' | 'full';

/**
 * Returns the error for clients when an outage of the store caused a failure: a 503, which they may retry. Null for any
 * other failure. A failed write may have taken effect; an Idempotency-Key makes the retry safe.
 */
export function unavailability(error: unknown): ServiceError | null {
  if (outageOf(error) === null) return null;
  return serviceError('internal_error', 'The service is not available at the moment. Try again.', null, 503);
}

/** Returns the kind of store outage that caused a failure; null if none did. */
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
  // The driver does not wrap Node's error when it writes to a connection that the server has closed.
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
